/**
 * The paths of the contract in the form that the system takes, and names of the system as text. This is the one
 * place where a path of the host is formed.
 *
 * A name that is not UTF-8 has the form that `crates/core/src/text/path.rs` describes: `\xHH` for each odd byte.
 */
import { Buffer, isUtf8 } from "node:buffer";

/** A path as the functions of `node:fs` take it. */
export type HostPath = string | Buffer;

/** An escape of a byte in a name: `\x5C`, and `\xHH` with HH from 80 to FF. */
const NAME_ESCAPE = /\\x(?:5C|[89A-F][0-9A-F])/;
const NAME_ESCAPES = /\\x(5C|[89A-F][0-9A-F])/g;

/** Returns the path of the host for a path of the contract. */
export function hostPath(path: string): HostPath {
  return NAME_ESCAPE.test(path) ? bytesOfPath(path) : path;
}

/** Returns the bytes of a path of the host. */
export function bytesOfPath(path: string): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (const found of path.matchAll(NAME_ESCAPES)) {
    parts.push(
      Buffer.from(path.slice(from, found.index)),
      Buffer.of(Number.parseInt(found[1] as string, 16)),
    );
    from = found.index + found[0].length;
  }
  parts.push(Buffer.from(path.slice(from)));
  return Buffer.concat(parts);
}

/** Returns a name or path of the host as text from which {@link hostPath} restores it. */
export function textOfHostBytes(bytes: Buffer): string {
  const text = bytes.toString();
  if (!text.includes("\ufffd") && !NAME_ESCAPE.test(text)) return text;
  let shown = "";
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at);
    const character = bytes.toString("utf8", at, at + length);
    if (length === 0) {
      shown += `\\x${(bytes[at] as number).toString(16).toUpperCase().padStart(2, "0")}`;
      at += 1;
      continue;
    }
    shown +=
      character === "\\" && NAME_ESCAPE.test(bytes.toString("latin1", at, at + 4)) ? "\\x5C" : character;
    at += length;
  }
  return shown;
}

/** Returns the number of bytes of the character at an offset; 0 when none is valid there. */
function characterLength(bytes: Buffer, at: number): number {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length++)
    if (isUtf8(bytes.subarray(at, at + length))) return length;
  return 0;
}
