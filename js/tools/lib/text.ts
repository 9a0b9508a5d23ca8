/**
 * Helpers for texts that models read: they escape names, format numbers and limit sizes. They do not depend
 * on tools.
 */

import { FilewrightError } from "../../engine/errors.ts";
import { escapeControls } from "../../engine/escape.ts";
import { utf8Length } from "../../engine/wire/bytes.ts";
import type { Yielder } from "../../engine/yielder.ts";
import type { Limits } from "./limits.ts";

export { utf8Length };

const encoder = new TextEncoder();

/** Returns the UTF-8 bytes of the text. */
export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/**
 * Returns true when the text has at most `limit` UTF-8 bytes. The bytes are counted only if the number of
 * characters does not decide.
 */
export function fitsInBytes(text: string, limit: number): boolean {
  if (text.length * 3 <= limit) return true;
  return text.length <= limit && utf8Length(text) <= limit;
}

/**
 * Returns how many lines at the beginning of the text fit in `limit` UTF-8 bytes, and where they end: a
 * UTF-16 offset, before the line break.
 */
export function linesThatFit(text: string, limit: number): { readonly lines: number; readonly end: number } {
  let bytes = 0;
  let lines = 0;
  let end = 0;
  let from = 0;
  while (from <= text.length) {
    const at = text.indexOf("\n", from);
    const to = at < 0 ? text.length : at;
    if (to - from > limit) break;
    bytes += utf8Length(text.slice(from, to)) + 1;
    if (bytes - 1 > limit) break;
    lines += 1;
    end = to;
    from = to + 1;
  }
  return { lines, end };
}

/** Returns the beginning of the text that fits in `limit` UTF-8 bytes. It is cut between code points. */
export function cutToBytes(text: string, limit: number): string {
  let bytes = 0;
  let at = 0;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    const pair = unit >= 0xd800 && unit < 0xdc00;
    bytes += unit < 0x80 ? 1 : unit < 0x800 ? 2 : pair ? 4 : 3;
    if (bytes > limit) break;
    at += pair ? 2 : 1;
  }
  return text.slice(0, at);
}

/** A text, or its UTF-8 bytes, whose lines are counted. */
type SearchableContent<Break> = { readonly length: number; indexOf(found: Break, from: number): number };

/**
 * Returns the number of lines of a text, or of its UTF-8 bytes. Only LF and CRLF end a line; after one at the
 * end of the text no further line begins.
 */
export function countLines(text: string | Uint8Array): number {
  if (text.length === 0) return 0;
  const lines: SearchableContent<never> = text;
  const lineBreak = (typeof text === "string" ? "\n" : 10) as never;
  let count = text.at(-1) === lineBreak ? 0 : 1;
  for (let at = lines.indexOf(lineBreak, 0); at >= 0; at = lines.indexOf(lineBreak, at + 1)) count += 1;
  return count;
}

/** Does the same as {@link countLines}, but lets other tasks run in between. @throws CANCELLED */
export async function countLinesYielding(text: string | Uint8Array, yielder: Yielder): Promise<number> {
  if (text.length === 0) return 0;
  const lines: SearchableContent<never> = text;
  const lineBreak = (typeof text === "string" ? "\n" : 10) as never;
  let count = text.at(-1) === lineBreak ? 0 : 1;
  for (let at = lines.indexOf(lineBreak, 0); at >= 0; at = lines.indexOf(lineBreak, at + 1)) {
    count += 1;
    if (count % LINES_PER_YIELD_CHECK === 0) await yielder.yieldIfDue();
  }
  return count;
}

/** The number of lines that are counted between two checks whether other tasks should run. */
const LINES_PER_YIELD_CHECK = 4096;

/** Encodes a text as UTF-8, and lets other tasks run in between. @throws CANCELLED */
export async function encodeUtf8Yielding(text: string, yielder: Yielder): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + UNITS_PER_ENCODED_SLICE, text.length);
    // Both halves of a surrogate pair must be encoded together.
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end -= 1;
    parts.push(encodeUtf8(text.slice(at, end)));
    at = end;
    await yielder.yieldIfDue();
  }
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
    await yielder.yieldIfDue();
  }
  return bytes;
}

const UNITS_PER_ENCODED_SLICE = 1 << 20;

/** The last time that was formatted, because consecutive files often have equal times. */
let lastTime = { ms: 0, text: "1970-01-01T00:00:00.000Z" };

/** Returns a time, given in milliseconds since 1970, as ISO 8601 in UTC with milliseconds. */
export function formatIsoTime(ms: number): string {
  const whole = Math.trunc(ms);
  if (lastTime.ms !== whole) {
    const text = new Date(Math.abs(whole) <= 8.64e15 ? whole : 8.64e15).toISOString();
    lastTime = { ms: whole, text };
  }
  return lastTime.text;
}

/** Returns the maximum size of an answer's text in UTF-8 bytes, for a call that names no size. */
export function maxAnswerBytes({
  outputBytes,
  pageBytes,
}: Pick<Limits, "outputBytes" | "pageBytes">): number {
  return Math.min(outputBytes, pageBytes);
}

/** The maximum length in code points of a pattern or command in a text for people. A longer one is truncated. */
const MAX_QUOTED_CHARS = 80;

/** Returns a pattern or command in quotes, for people. */
export function quoteForPeople(text: string): string {
  const letters = [...text];
  const shown = letters.length > MAX_QUOTED_CHARS ? `${letters.slice(0, MAX_QUOTED_CHARS).join("")}…` : text;
  return `'${escapeControls(shown)}'`;
}

/** Returns the clause of a text for people about results that are not all shown. */
export function truncatedClause(truncated: boolean): string {
  return truncated ? " (not all shown)" : "";
}

/** Returns a line for people with a diff below it. */
export function withDiff(line: string, diff: string): string {
  return diff === "" ? line : `${line}\n${diff.replace(/\n$/u, "")}`;
}

/** Returns the first line of a text for people, that is, without the diff. */
export function headlineOf(display: string): string {
  const end = display.indexOf("\n");
  return end < 0 ? display : display.slice(0, end);
}

/** Refuses a text with an unpaired surrogate, which no file has. @throws FilewrightError INVALID_ARGUMENT */
export function assertWellFormed(argument: string, text: string): void {
  if (text.isWellFormed()) return;
  throw new FilewrightError(
    "INVALID_ARGUMENT",
    `Invalid argument '${argument}': it has an unpaired surrogate; send well-formed text.`,
    { complete: true, details: { argument } },
  );
}
