/**
 * An approver in the terminal: the diff in colour, one key, the content in `$EDITOR`.
 *
 * Keys typed before the question is shown are discarded, pasted text is no answer, and a closed
 * terminal refuses. Questions are asked one at a time.
 */
import process from "node:process";
import type { ReadStream, WriteStream } from "node:tty";
import type { GrantQuestion, GrantReply } from "../policy/index.ts";
import { optionChecker, instance, integer, type Options, options } from "../schema/option.ts";
import type { ConfirmedPart } from "./changed-files.ts";
import type { Approver, Confirmation, ConfirmReply } from "./confirm.ts";
import { editContents } from "./terminal/editor.node.ts";
import { discardEarlyKeys, readKey, readLine } from "./terminal/keys.node.ts";
import {
  type KeyChoice,
  keyChoicesOf,
  outcomeOfKey,
  renderQuestion,
  renderChoices,
  renderPart,
  type SelectablePart,
  selectableParts,
} from "./terminal-view.ts";

/** The streams and settings of a terminal approver. */
export interface TerminalOptions {
  /** The stream of keys. Default: the standard input of the process. */
  readonly input?: ReadStream | undefined;
  /** The stream of questions. Default: standard error, because standard output belongs to the program. */
  readonly output?: WriteStream | undefined;
  /**
   * The environment, of which `VISUAL`, `EDITOR`, `NO_COLOR`, `FORCE_COLOR` and `TERM` are used. Default: that of
   * the process.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** How long keys are ignored before a question, in milliseconds. Default 100. */
  readonly settleMs?: number | undefined;
}

/** The options of {@link terminalApprover}. */
export const TERMINAL_OPTIONS: Options<TerminalOptions> = options("TerminalOptions", {
  input: instance<ReadStream>("ReadStream", "a stream", {}),
  output: instance<WriteStream>("WriteStream", "a stream", {}),
  env: instance<NonNullable<TerminalOptions["env"]>>("Environment", "an object of variables", {}),
  settleMs: integer(0),
});

const checkOptions = optionChecker("terminalApprover", TERMINAL_OPTIONS);

/** Creates an approver that asks in the terminal. Without a terminal it refuses every question. */
export function terminalApprover(given: TerminalOptions = {}): Approver {
  const {
    input = process.stdin,
    output = process.stderr,
    env = process.env,
    settleMs = 100,
  } = checkOptions(given);
  const colour = wantsColour(output, env);
  const maxLines = (): number => Math.max(10, (output.rows ?? 40) - 12);
  let last: Promise<unknown> = Promise.resolve();
  /** Runs a function after the earlier questions are answered. */
  const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
    const turn = last.then(run, run);
    last = turn.catch(() => undefined);
    return turn;
  };
  const isTerminal = (): boolean => input.isTTY === true && output.isTTY === true;
  const choose = async (
    asked: string,
    choices: readonly KeyChoice[],
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> => {
    await discardEarlyKeys(input, settleMs);
    const show = (): void =>
      void output.write(
        `${renderChoices(choices, colour)}${asked} [${choices.map(({ key }) => key).join("/")}] `,
      );
    show();
    for (;;) {
      const key = await readKey(input, signal);
      if (key === undefined) return undefined;
      const known = choices.find((choice) => choice.key === key.toLowerCase());
      if (known !== undefined) return known.key;
      if (key === "?") {
        output.write("?\n");
        show();
      }
    }
  };

  /** Asks about each part and returns those that are accepted: none, if the reviewer ends the question. */
  const chooseParts = async (
    parts: readonly SelectablePart[],
    signal: AbortSignal | undefined,
  ): Promise<readonly SelectablePart[]> => {
    const taken: SelectablePart[] = [];
    for (const [index, part] of parts.entries()) {
      output.write(`\n${renderPart(part, colour).join("\n")}\n`);
      const key = await choose(`Take this part (${index + 1} of ${parts.length})?`, PART_CHOICES, signal);
      if (key === undefined) return [];
      output.write(`${key}\n`);
      if (key === "y") taken.push(part);
    }
    return taken;
  };

  const confirm = async (details: Confirmation): Promise<ConfirmReply> => {
    if (!isTerminal()) return NO_TERMINAL_REPLY;
    const { text, cut } = renderQuestion(details, { colour, maxLines: maxLines() });
    output.write(text);
    // A truncated question can only be refused until all of it was shown.
    let isCut = cut;
    const offersParts = details.scopes.some(({ outcome }) => outcome === "proceed_parts");
    const parts = offersParts ? selectableParts(details.changes) : [];
    const all = details.scopes.filter(({ outcome }) => outcome !== "proceed_parts" || parts.length > 1);
    for (;;) {
      const scopes = isCut ? all.filter(({ outcome }) => outcome === "cancel") : all;
      const key = await choose(
        details.type === "edit" ? "Write this?" : "Allow this?",
        [
          ...keyChoicesOf(scopes),
          { key: "r", label: "refuse with a reason" },
          ...(isCut ? [{ key: "v", label: "show all of it, which must be seen to allow it" }] : []),
        ],
        details.signal,
      );
      if (key === undefined) return { outcome: "cancel" };
      if (key === "v") {
        output.write(renderQuestion(details, { colour, maxLines: Number.POSITIVE_INFINITY }).text);
        isCut = false;
        continue;
      }
      if (key === "r") {
        output.write("r\nWhy? ");
        const reason = (await readLine(input, output, details.signal))?.trim();
        return reason ? { outcome: "cancel", payload: { reason } } : { outcome: "cancel" };
      }
      const outcome = outcomeOfKey(key, scopes) ?? "cancel";
      output.write(`${key}\n`);
      if (outcome === "proceed_parts")
        return replyWithParts(parts, await chooseParts(parts, details.signal), details);
      if (outcome !== "modify_with_editor") return { outcome };
      const contents = await editContents(details.changes, { input, output, env });
      if (contents.length > 0) return { outcome, payload: { contents } };
      output.write("The content was not changed.\n");
    }
  };

  const ask = async (
    question: string,
    _options: readonly string[],
    { dir, access, signal }: GrantQuestion,
  ): Promise<GrantReply> => {
    if (!isTerminal()) return { answer: "no" };
    output.write(`\n${question}\n`);
    const choices = [
      { key: "y", label: `read and write below ${dir}, until it is taken back` },
      ...(access === "read" ? [{ key: "r", label: `read only below ${dir}, until it is taken back` }] : []),
      { key: "s", label: `read and write below ${dir}, until this workspace is closed` },
      { key: "n", label: "refuse" },
    ];
    const key = (await choose("Grant this?", choices, signal)) ?? "n";
    output.write(`${key}\n`);
    if (key === "n") return { answer: "no" };
    return { answer: "yes", access: key === "r" ? "read" : "write", remember: key !== "s" };
  };

  return Object.freeze({
    confirm: (details: Confirmation) => inTurn(() => confirm(details)),
    ask: (question: string, answers: readonly string[], about: GrantQuestion) =>
      inTurn(() => ask(question, answers, about)),
  });
}

const PART_CHOICES: readonly KeyChoice[] = [
  { key: "y", label: "take it" },
  { key: "n", label: "leave it out" },
];

/** Returns the answer of a reviewer who took some of the parts. */
function replyWithParts(
  all: readonly SelectablePart[],
  taken: readonly SelectablePart[],
  { digest }: Confirmation,
): ConfirmReply {
  if (taken.length === 0) return { outcome: "cancel" };
  if (taken.length === all.length) return { outcome: "proceed_once" };
  const byPath = new Map<string, readonly number[]>();
  for (const { path, hunks } of taken) byPath.set(path, [...(byPath.get(path) ?? []), ...hunks]);
  const parts = [...byPath].map(([path, hunks]): ConfirmedPart => ({ path, hunks }));
  return { outcome: "proceed_parts", payload: { parts, digest } };
}

const NO_TERMINAL_REPLY: ConfirmReply = Object.freeze({
  outcome: "cancel",
  payload: Object.freeze({ reason: "there is no terminal to ask in" }),
});

function wantsColour(output: WriteStream, env: Readonly<Record<string, string | undefined>>): boolean {
  if ((env["NO_COLOR"] ?? "") !== "") return false;
  if ((env["FORCE_COLOR"] ?? "") !== "") return env["FORCE_COLOR"] !== "0";
  return output.isTTY === true && env["TERM"] !== "dumb";
}
