/** A terminal in memory: streams that say they are one, and a person who types when a text is shown. */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { PassThrough, Writable } from "node:stream";
import type { ReadStream, WriteStream } from "node:tty";
import { afterThisTest } from "./cleanups.ts";

/** The keys that are typed once a text is shown that no earlier step has waited for. */
export interface TerminalStep {
  readonly wait: string;
  readonly send?: string;
}

/** Both streams of a fake terminal, and what has happened at it. */
export interface FakeTerminal {
  readonly input: ReadStream;
  readonly output: WriteStream;
  /** Returns everything that was shown. */
  shown(): string;
  /** Returns the steps that have not come yet. */
  left(): readonly TerminalStep[];
}

/**
 * Creates a terminal of 100 columns. Both streams have a file descriptor of the null device, so that an editor can be
 * started with them.
 */
export function fakeTerminal(steps: readonly TerminalStep[], { rows = 40 } = {}): FakeTerminal {
  const fd = openSync(devNull, "r+");
  afterThisTest(() => closeSync(fd));
  const waiting = [...steps];
  let [shown, seen] = ["", 0];
  const input = Object.assign(new PassThrough(), {
    ...{ fd, isTTY: true, isRaw: false },
    setRawMode(mode: boolean) {
      input.isRaw = mode;
      return input;
    },
  });
  /** Types what the next steps say, in the order of the steps, after the program has begun to read. */
  const advance = (): void => {
    for (let step = waiting[0]; step !== undefined; step = waiting[0]) {
      const at = shown.indexOf(step.wait, seen);
      if (at < 0) return;
      seen = at + step.wait.length;
      waiting.shift();
      const { send } = step;
      if (send !== undefined) setImmediate(() => input.write(send));
    }
  };
  const output = Object.assign(
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        shown += chunk.toString();
        advance();
        done();
      },
    }),
    { fd, isTTY: true, rows, columns: 100 },
  );
  return {
    input: input as unknown as ReadStream,
    output: output as unknown as WriteStream,
    shown: () => shown,
    left: () => waiting,
  };
}
