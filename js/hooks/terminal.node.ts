/**
 * An approver in the terminal: the diff in colour, one key, the content in `$EDITOR`.
 *
 * Keys typed before the question is shown are discarded, pasted text is no answer, and a closed
 * terminal refuses. Questions are asked one at a time.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import process from "node:process";
import type { ReadStream, WriteStream } from "node:tty";
import type { GrantQuestion, GrantReply } from "../policy/index.ts";
import { optionChecker, instance, integer, type Options, options } from "../schema/option.ts";
import type { ConfirmedPart } from "./changed-files.ts";
import type { Approver, Confirmation, ConfirmedContent, ConfirmPayload, ConfirmReply } from "./confirm.ts";
import { escapeForPrinting } from "./question.ts";
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
      output.write(`\n${renderPart(part, colour)}\n`);
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
          { key: "r", label: "as n, and tell the model why" },
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
        const reason = await readRefusalReason(input, output, details.signal);
        return reason === undefined ? { outcome: "cancel" } : { outcome: "cancel", payload: { reason } };
      }
      const outcome = outcomeOfKey(key, scopes) ?? "cancel";
      output.write(`${key}\n`);
      if (outcome === "proceed_parts")
        return replyWithParts(parts, await chooseParts(parts, details.signal), details);
      if (outcome !== "modify_with_editor") return { outcome };
      const edited = await editInEditor(details, { input, output, env });
      if (edited !== undefined) return { outcome, payload: edited };
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

/** Discards the keys that are typed within `ms` milliseconds, because they were not meant for the question. */
async function discardEarlyKeys(input: ReadStream, ms: number): Promise<void> {
  const discard = (): void => {};
  await withRawMode(input, async () => {
    input.on("data", discard);
    await new Promise((resolve) => setTimeout(resolve, ms));
    input.off("data", discard);
  });
}

/** The keys that refuse: Ctrl-C, Ctrl-D and Escape. */
const REFUSAL_KEYS = new Set(["\u0003", "\u0004", "\u001b"]);

/**
 * Returns the next key; undefined for a refusal. Several characters at once are ignored: they are a paste or a
 * function key.
 */
function readKey(input: ReadStream, signal: AbortSignal | undefined): Promise<string | undefined> {
  return readTypedAnswer(input, signal, (typed) => (typed.length === 1 ? typed : undefined));
}

/** The maximum length of the reason of a refusal, in UTF-16 units. Further characters are ignored. */
const MAX_REASON_LENGTH = 500;

/** Reads a line and echoes it; undefined when it is empty, or the reviewer refuses without a reason. */
async function readRefusalReason(
  input: ReadStream,
  output: WriteStream,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  let reason = "";
  const line = await readTypedAnswer(input, signal, (typed) => {
    for (const character of typed) {
      if (character === "\r" || character === "\n") return reason;
      if (character === "\u007f" || character === "\b") {
        const kept = [...reason].slice(0, -1).join("");
        if (kept !== reason) output.write("\b \b");
        reason = kept;
      } else if (
        reason.length < MAX_REASON_LENGTH &&
        escapeForPrinting(character) === character &&
        character !== "\t"
      ) {
        reason += character;
        output.write(character);
      }
    }
    return undefined;
  });
  output.write("\n");
  return line?.trim() || undefined;
}

/**
 * Passes what is typed to `take` until it returns an answer, and returns that. Undefined for a refusal: Ctrl-C,
 * Ctrl-D, Escape, or a closed terminal.
 */
async function readTypedAnswer(
  input: ReadStream,
  signal: AbortSignal | undefined,
  take: (typed: string) => string | undefined,
): Promise<string | undefined> {
  return withRawMode(input, async () => {
    const off: (() => void)[] = [];
    try {
      return await new Promise<string | undefined>((resolve, reject) => {
        const onData = (chunk: Buffer | string): void => {
          const typed = chunk.toString();
          const answer = REFUSAL_KEYS.has(typed) ? undefined : take(typed);
          if (answer !== undefined || REFUSAL_KEYS.has(typed)) resolve(answer);
        };
        const onEnd = (): void => resolve(undefined);
        const onAbort = (): void => reject(new Error("the question was taken back"));
        input.on("data", onData);
        input.once("end", onEnd);
        input.once("close", onEnd);
        signal?.addEventListener("abort", onAbort, { once: true });
        if (signal?.aborted === true) onAbort();
        off.push(
          () => input.off("data", onData),
          () => input.off("end", onEnd),
          () => input.off("close", onEnd),
          () => signal?.removeEventListener("abort", onAbort),
        );
      });
    } finally {
      for (const undo of off) undo();
    }
  });
}

/** Runs a function with the terminal in raw mode, without echo. */
async function withRawMode<T>(input: ReadStream, run: () => Promise<T>): Promise<T> {
  const before = input.isRaw === true;
  input.setRawMode(true);
  input.resume();
  try {
    return await run();
  } finally {
    input.pause();
    input.setRawMode(before);
  }
}

/**
 * Returns the contents after the user has changed them in an editor, which opens all of them; undefined if they are
 * unchanged or the editor failed.
 */
async function editInEditor(
  { changes }: Confirmation,
  {
    input,
    output,
    env,
  }: Required<Pick<TerminalOptions, "input" | "output" | "env">> & {
    readonly input: ReadStream;
    readonly output: WriteStream;
    readonly env: Readonly<Record<string, string | undefined>>;
  },
): Promise<Pick<ConfirmPayload, "contents"> | undefined> {
  const [command = "vi", ...more] = (env["VISUAL"] || env["EDITOR"] || "vi").split(/\s+/u).filter(Boolean);
  const directory = await mkdtemp(join(tmpdir(), "filewright-"));
  try {
    const files: { readonly path: string; readonly planned: string; readonly file: string }[] = [];
    for (const { path, after } of changes) {
      if (after === null) continue;
      const extension = extname(path);
      // Only the extension is used, which tells the editor the language.
      const name = `content${files.length === 0 ? "" : files.length + 1}`;
      const file = join(directory, `${name}${/^\.\w{1,16}$/u.test(extension) ? extension : ""}`);
      await writeFile(file, after, { mode: 0o600 });
      files.push({ path, planned: after, file });
    }
    const code = await new Promise<number | null>((resolve) => {
      const args = [...more, ...files.map(({ file }) => file)];
      const child = spawn(command, args, { stdio: [input, output, output] });
      child.once("error", () => resolve(null));
      child.once("close", resolve);
    });
    if (code !== 0) {
      output.write(`The editor ${command} failed.\n`);
      return undefined;
    }
    const contents: ConfirmedContent[] = [];
    for (const { path, planned, file } of files) {
      const content = await readFile(file, "utf8");
      if (content !== planned) contents.push({ path, content });
    }
    return contents.length === 0 ? undefined : { contents };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
