/**
 * Sends and receives messages over standard input and output, one JSON text per line.
 *
 * It splits the input into lines, parses them, and answers a line that is not a JSON object with an error.
 * Other modules check and answer messages. Standard output carries only protocol messages.
 */
import type { Readable, Writable } from "node:stream";
import { type JsonObject, notJsonReply, parseMessage } from "../../rpc/message.ts";
import { isObjectWithKeys } from "../../schema/check.ts";

/** A connection that carries JSON lines in both directions. */
export interface JsonLinesWire {
  /** Called with every line that contains a JSON object. */
  onmessage: (message: JsonObject) => void;
  /** Called once, when either direction of the connection has ended. */
  onclose: () => void;
  /** Called with errors that no message caused. */
  onerror: (error: Error) => void;
  /** Sends a message without waiting until the output has room. */
  write(message: object): void;
  /** Sends a message. Resolves when the output has room for the next one. */
  send(message: object): Promise<void>;
  /** Starts listening. */
  start(): void;
  /** Stops listening. */
  close(): void;
  closed(): boolean;
}

const NEWLINE_BYTE = 10;

/**
 * Creates a wire over two streams.
 * @param most maximum bytes of a message; a longer one ends the connection, because no valid message needs as
 * much
 */
export function makeJsonLinesWire(input: Readable, output: Writable, most: number): JsonLinesWire {
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
    const message = parseJsonOrUndefined(text);
    if (isObjectWithKeys(message)) {
      wire.onmessage(message);
      return;
    }
    wire.onerror(new Error(`Not a message: ${JSON.stringify(text.slice(0, 80))}`));
    const checked = parseMessage(message);
    if (message === undefined) wire.write(notJsonReply());
    else if (checked.kind === "invalid") wire.write(checked.reply);
  };
  const take = (bytes: Buffer): void => {
    let from = 0;
    for (let to = bytes.indexOf(NEWLINE_BYTE); to >= 0 && !closed; to = bytes.indexOf(NEWLINE_BYTE, from)) {
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
  const wire: JsonLinesWire = {
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

/** Returns the parsed text; undefined when it is not JSON. */
function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
