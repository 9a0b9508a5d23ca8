/**
 * An approver in the terminal: the diff in colour, one key, the content in `$EDITOR`.
 *
 * Keys typed before the question is shown are discarded, pasted text is no answer, and a closed
 * terminal refuses. Questions are asked one at a time.
 */
import type { ReadStream, WriteStream } from "node:tty";
import type { GrantQuestion, GrantReply } from "../policy/index.ts";
import { optionChecker, instance, integer, type Options, options } from "../schema/option.ts";
import type { ConfirmedPart } from "./changed-files.ts";
import type { Approver, Confirmation, ConfirmReply, Outcome, Scope } from "./confirm.ts";
import { editContents } from "./terminal/editor.node.ts";
import { discardEarlyKeys, readKey, readLine } from "./terminal/keys.node.ts";
import {
  hunksByPath,
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
  const person = new Person({ input, output, env, settleMs });
  let last: Promise<unknown> = Promise.resolve();
  /** Runs a function after the earlier questions are answered. */
  const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
    const turn = last.then(run, run);
    last = turn.catch(() => undefined);
    return turn;
  };
  return Object.freeze({
    confirm: (details: Confirmation) => inTurn(() => person.confirm(details)),
    ask: (question: string, _answers: readonly string[], about: GrantQuestion) =>
      inTurn(() => person.grant(question, about)),
  });
}

/** A question about a change while it is answered: the outcomes that a person may choose, and what is shown. */
interface ShownChange {
  readonly details: Confirmation;
  readonly parts: readonly SelectablePart[];
  readonly scopes: readonly Scope[];
  /** True until all of a truncated question was shown: it can only be refused. */
  isCut: boolean;
}

/** The streams and settings of a terminal, with their defaults. */
type Terminal = { readonly [Key in keyof TerminalOptions]-?: NonNullable<TerminalOptions[Key]> };

/** The person at a terminal. */
class Person {
  readonly #terminal: Terminal;
  readonly #colour: boolean;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#colour = wantsColour(terminal.output, terminal.env);
  }

  /** Asks about a change. */
  async confirm(details: Confirmation): Promise<ConfirmReply> {
    if (!this.#isThere()) return NO_TERMINAL_REPLY;
    const isCut = this.#show(details, Math.max(10, (this.#terminal.output.rows ?? 40) - 12));
    const offersParts = details.scopes.some(({ outcome }) => outcome === "proceed_parts");
    const parts = offersParts ? selectableParts(details.changes) : [];
    const scopes = details.scopes.filter(({ outcome }) => outcome !== "proceed_parts" || parts.length > 1);
    const question: ShownChange = { details, parts, scopes, isCut };
    for (;;) {
      const reply = await this.#answer(question);
      if (reply !== undefined) return reply;
    }
  }

  /** Asks about a directory. */
  async grant(question: string, { dir, access, signal }: GrantQuestion): Promise<GrantReply> {
    if (!this.#isThere()) return { answer: "no" };
    this.#write(`\n${question}\n`);
    const choices = [
      { key: "y", label: `read and write below ${dir}, until it is taken back` },
      ...(access === "read" ? [{ key: "r", label: `read only below ${dir}, until it is taken back` }] : []),
      { key: "s", label: `read and write below ${dir}, until this workspace is closed` },
      { key: "n", label: "refuse" },
    ];
    const key = (await this.#choose("Grant this?", choices, signal)) ?? "n";
    this.#write(`${key}\n`);
    if (key === "n") return { answer: "no" };
    return { answer: "yes", access: key === "r" ? "read" : "write", remember: key !== "s" };
  }

  #isThere(): boolean {
    const { input, output } = this.#terminal;
    return input.isTTY === true && output.isTTY === true;
  }

  #write(text: string): void {
    this.#terminal.output.write(text);
  }

  /** Shows a question. Returns true when it was cut. */
  #show(details: Confirmation, maxLines: number): boolean {
    const { text, cut } = renderQuestion(details, { colour: this.#colour, maxLines });
    this.#write(text);
    return cut;
  }

  /** Asks once. Returns the answer; undefined to ask again. */
  async #answer(question: ShownChange): Promise<ConfirmReply | undefined> {
    const { details, isCut } = question;
    const scopes = isCut ? question.scopes.filter(({ outcome }) => outcome === "cancel") : question.scopes;
    const asked = details.type === "edit" ? "Write this?" : "Allow this?";
    const choices = [...keyChoicesOf(scopes), REFUSE_CHOICE, ...(isCut ? [SHOW_CHOICE] : [])];
    const key = await this.#choose(asked, choices, details.signal);
    if (key === undefined) return { outcome: "cancel" };
    if (key === SHOW_CHOICE.key) {
      this.#show(details, Number.POSITIVE_INFINITY);
      question.isCut = false;
      return undefined;
    }
    if (key === REFUSE_CHOICE.key) return this.#refusal(details.signal);
    this.#write(`${key}\n`);
    return this.#reply(outcomeOfKey(key, scopes) ?? "cancel", question);
  }

  async #refusal(signal: AbortSignal | undefined): Promise<ConfirmReply> {
    this.#write("r\nWhy? ");
    const reason = (await readLine(this.#terminal.input, this.#terminal.output, signal))?.trim();
    return reason ? { outcome: "cancel", payload: { reason } } : { outcome: "cancel" };
  }

  /** Returns the answer with an outcome, with the parts or contents that belong to it; undefined where there are none. */
  async #reply(outcome: Outcome, { details, parts }: ShownChange): Promise<ConfirmReply | undefined> {
    if (outcome === "proceed_parts")
      return replyWithParts(parts, await this.#chooseParts(parts, details.signal), details);
    if (outcome !== "modify_with_editor") return { outcome };
    const contents = await editContents(details.changes, this.#terminal);
    if (contents.length > 0) return { outcome, payload: { contents } };
    this.#write("The content was not changed.\n");
    return undefined;
  }

  /** Asks about each part and returns those that are accepted: none, if the reviewer ends the question. */
  async #chooseParts(
    parts: readonly SelectablePart[],
    signal: AbortSignal | undefined,
  ): Promise<readonly SelectablePart[]> {
    const taken: SelectablePart[] = [];
    for (const [index, part] of parts.entries()) {
      this.#write(`\n${renderPart(part, this.#colour).join("\n")}\n`);
      const asked = `Take this part (${index + 1} of ${parts.length})?`;
      const key = await this.#choose(asked, PART_CHOICES, signal);
      if (key === undefined) return [];
      this.#write(`${key}\n`);
      if (key === "y") taken.push(part);
    }
    return taken;
  }

  /** Returns the key of a choice; undefined when the person ends the question. */
  async #choose(
    asked: string,
    choices: readonly KeyChoice[],
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> {
    const { input, settleMs } = this.#terminal;
    await discardEarlyKeys(input, settleMs);
    const keys = choices.map(({ key }) => key).join("/");
    const text = `${renderChoices(choices, this.#colour)}${asked} [${keys}] `;
    this.#write(text);
    for (;;) {
      const key = await readKey(input, signal);
      if (key === undefined) return undefined;
      const known = choices.find((choice) => choice.key === key.toLowerCase());
      if (known !== undefined) return known.key;
      if (key === "?") this.#write(`?\n${text}`);
    }
  }
}

const REFUSE_CHOICE: KeyChoice = { key: "r", label: "refuse with a reason" };
const SHOW_CHOICE: KeyChoice = { key: "v", label: "show all of it, which must be seen to allow it" };
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
  const parts = [...hunksByPath(taken)].map(([path, hunks]): ConfirmedPart => ({ path, hunks }));
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
