/** Reads keys and lines of a person at a terminal, in raw mode and without echo. */
import type { ReadStream, WriteStream } from "node:tty";
import { escapeForPrinting } from "../question.ts";

/** The keys that end what is typed: Ctrl-C, Ctrl-D and Escape. */
const END_KEYS: ReadonlySet<string> = new Set(["\u0003", "\u0004", "\u001b"]);

/** Discards the keys that are typed within `ms` milliseconds, because they were not meant for the question. */
export async function discardEarlyKeys(input: ReadStream, ms: number): Promise<void> {
  const discard = (): void => {};
  await withRawMode(input, async () => {
    input.on("data", discard);
    await new Promise((resolve) => setTimeout(resolve, ms));
    input.off("data", discard);
  });
}

/**
 * Returns the next key; undefined for Ctrl-C, Ctrl-D, Escape, or a closed terminal. Several characters at once are
 * ignored: they are a paste or a function key. @throws the reason of `signal` when it fires
 */
export async function readKey(
  input: ReadStream,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const key = await readAnyKey(input, signal);
  return key === undefined || END_KEYS.has(key) ? undefined : key;
}

/** As {@link readKey}, but Ctrl-C, Ctrl-D and Escape are keys; undefined for a closed terminal. */
export function readAnyKey(input: ReadStream, signal: AbortSignal | undefined): Promise<string | undefined> {
  return readTyped(input, signal, (typed) => (typed.length === 1 ? typed : undefined));
}

/** The maximum length of a line, in UTF-16 units. Further characters are ignored. */
const MAX_LINE_LENGTH = 500;

/**
 * Reads a line and echoes it; undefined for Ctrl-C, Ctrl-D, Escape, or a closed terminal. @throws the reason of `signal`
 * when it fires
 */
export async function readLine(
  input: ReadStream,
  output: WriteStream,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const line = new TypedLine(output);
  const typed = await readTyped<{ readonly line: string | undefined }>(input, signal, (text) =>
    END_KEYS.has(text) ? { line: undefined } : line.take(text),
  );
  output.write("\n");
  return typed?.line;
}

/** A line that is being typed, with its echo. */
class TypedLine {
  readonly #output: WriteStream;
  #line = "";

  constructor(output: WriteStream) {
    this.#output = output;
  }

  /** Takes what was typed. Returns the line when it ends. */
  take(text: string): { readonly line: string } | undefined {
    for (const character of text) {
      if (character === "\r" || character === "\n") return { line: this.#line };
      if (character === "\u007f" || character === "\b") this.#deleteLast();
      else this.#add(character);
    }
    return undefined;
  }

  #deleteLast(): void {
    const kept = [...this.#line].slice(0, -1).join("");
    if (kept !== this.#line) this.#output.write("\b \b");
    this.#line = kept;
  }

  #add(character: string): void {
    const isShown = escapeForPrinting(character) === character && character !== "\t";
    if (!isShown || this.#line.length >= MAX_LINE_LENGTH) return;
    this.#line += character;
    this.#output.write(character);
  }
}

/**
 * Passes what is typed to `take` until it returns a value, and returns that; undefined for a closed terminal.
 * @throws the reason of `signal` when it fires
 */
async function readTyped<T>(
  input: ReadStream,
  signal: AbortSignal | undefined,
  take: (typed: string) => T | undefined,
): Promise<T | undefined> {
  return withRawMode(input, async () => {
    const off: (() => void)[] = [];
    try {
      return await new Promise<T | undefined>((resolve, reject) => {
        const onData = (chunk: Buffer | string): void => {
          const taken = take(chunk.toString());
          if (taken !== undefined) resolve(taken);
        };
        const onEnd = (): void => resolve(undefined);
        const onAbort = (): void => reject(signal?.reason);
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

/**
 * Runs a function with the terminal in raw mode, without echo. What is typed while nothing reads is kept for the next
 * read.
 */
export async function withRawMode<T>(input: ReadStream, run: () => Promise<T>): Promise<T> {
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
