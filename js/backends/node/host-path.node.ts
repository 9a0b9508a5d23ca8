/**
 * The paths of the contract in the form that the system takes, and names of the system as text. This is the one
 * place where a path of the host is formed.
 *
 * A name that is not UTF-8 has the form that `crates/core/src/text/path.rs` describes: `\xHH` for each odd byte.
 */
import { Buffer, isUtf8 } from "node:buffer";
import process from "node:process";
import { makeError } from "../../engine/errors.ts";
import { innerWindowsPath, markWindowsPaths, windowsHostPath, windowsLinkTarget } from "../windows-paths.ts";

const IS_WINDOWS = process.platform === "win32";

/** A path as the functions of `node:fs` take it. */
export type HostPath = string | Buffer;

/** An escape of a byte in a name: `\x5C`, and `\xHH` with HH from 80 to FF. */
const NAME_ESCAPE = /\\x(?:5C|[89A-F][0-9A-F])/;
const NAME_ESCAPES = /\\x(5C|[89A-F][0-9A-F])/g;

/** Marks a storage whose paths are those of this machine, if it runs Windows. */
export function markPathsOfHost(storage: object): void {
  if (IS_WINDOWS) markWindowsPaths(storage);
}

/** Returns true for a path that no directory contains: `/`, and a drive of Windows. */
export function isTopPath(path: string): boolean {
  return path === "/" || (IS_WINDOWS && path.lastIndexOf("/") === 0);
}

/** Returns a path or the target of a link, as the system returned its bytes, in the form of the contract. */
export function pathOfHostBytes(bytes: Buffer): string {
  return IS_WINDOWS ? innerWindowsPath(bytes.toString()) : textOfHostBytes(bytes);
}

/** Returns the target of a new link as the system takes it. */
export function hostLinkTarget(target: string): HostPath {
  return IS_WINDOWS ? windowsLinkTarget(target) : hostPath(target);
}

/**
 * Returns the path of the host for a path of the contract.
 * @throws INVALID_ARGUMENT for a spelling that {@link canonicalPath} would change: rules compare text, and would not
 * see which name it is
 */
export function hostPath(path: string): HostPath {
  if (IS_WINDOWS) return windowsHostPath(path);
  if (!NAME_ESCAPE.test(path)) return path;
  if (canonicalPath(path) !== path)
    throw makeError("INVALID_ARGUMENT", "the path escapes bytes that are text", { path });
  return bytesOfPath(path);
}

/**
 * Returns the one spelling of a path, or of the target of a link: without escapes of bytes that are text, so that
 * `cl\\xC3\\xA9` is `clé`. Every path has to pass through it before a rule judges it.
 */
export function canonicalPath(path: string): string {
  return !IS_WINDOWS && NAME_ESCAPE.test(path) ? textOfHostBytes(bytesOfPath(path)) : path;
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
