/**
 * Messages over standard input and output, one JSON text a line.
 *
 * Only lines are known here: what a message may be, and who answers it, is
 * elsewhere. Standard output carries the protocol and nothing else.
 */
import type { Readable, Writable } from "node:stream";

/** A message as it was parsed; nothing of it has been checked. */
export type Message = Readonly<Record<string, unknown>>;

/** Both directions. */
export interface Wire {
  /** Called for every line that is a JSON object. */
  onmessage: (message: Message) => void;
  /** Called once: nothing more comes, or nothing more can be said. */
  onclose: () => void;
  /** What went wrong outside any message. */
  onerror: (error: Error) => void;
  /** Sends a message without waiting. */
  write(message: object): void;
  /** Sends a message; settled once there is room for the next. */
  send(message: object): Promise<void>;
  /** Listens from now on. */
  start(): void;
  /** Stops listening. */
  close(): void;
  closed(): boolean;
}

const NEWLINE = 10;

/** @param most a longer message ends the connection: nothing sane is sent in one. Bytes. */
export function makeWire(input: Readable, output: Writable, most: number): Wire {
  let begun: Buffer[] = [];
  let held = 0;
  let closed = false;

  const line = (bytes: Buffer, from: number, to: number): void => {
    let text: string;
    if (begun.length === 0) text = bytes.toString("utf8", from, to);
    else {
      text = Buffer.concat([...begun, bytes.subarray(from, to)]).toString("utf8");
      begun = [];
      held = 0;
    }
    if (text === "" || text === "\r") return;
    const message = parsed(text);
    if (message === undefined) wire.onerror(new Error(`Not a message: ${JSON.stringify(text.slice(0, 80))}`));
    else wire.onmessage(message);
  };
  const take = (bytes: Buffer): void => {
    let from = 0;
    for (let to = bytes.indexOf(NEWLINE); to >= 0 && !closed; to = bytes.indexOf(NEWLINE, from)) {
      line(bytes, from, to);
      from = to + 1;
    }
    if (from === bytes.length || closed) return;
    begun.push(from === 0 ? bytes : bytes.subarray(from));
    held += bytes.length - from;
    if (held <= most) return;
    wire.onerror(new Error(`A message is longer than ${most} bytes`));
    wire.close();
  };
  const wire: Wire = {
    onmessage: () => {},
    onclose: () => {},
    onerror: () => {},
    write: (message) => void output.write(`${JSON.stringify(message)}\n`),
    send(message) {
      if (closed) return Promise.reject(new Error("The connection is closed"));
      if (output.write(`${JSON.stringify(message)}\n`)) return Promise.resolve();
      return new Promise((resolve) => {
        const go = (): void => {
          output.off("drain", go).off("close", go).off("error", go);
          resolve();
        };
        output.on("drain", go).on("close", go).on("error", go);
      });
    },
    start() {
      output.on("error", (error) => {
        wire.onerror(error);
        wire.close();
      });
      input.on("error", (error) => wire.onerror(error));
      input.once("end", wire.close).once("close", wire.close).on("data", take);
    },
    close() {
      if (closed) return;
      closed = true;
      input.off("data", take).pause();
      wire.onclose();
    },
    closed: () => closed,
  };
  return wire;
}

function parsed(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Message)
      : undefined;
  } catch {
    return undefined;
  }
}
