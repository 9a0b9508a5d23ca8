/** Parses JSON pointers (RFC 6901), and creates the error for a pointer that names no value. */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { FilewrightError } from "../../engine/errors.ts";
import { invalidArgumentError, unsupportedFormatError } from "../refuse.ts";

/** The location of a value in its source text. Offsets are in the units of that text, UTF-16 or bytes. */
export interface Located {
  readonly start: number;
  /** The offset after the value. */
  readonly end: number;
  /** The line, from 1, on which the value begins. */
  readonly startLine: number;
  /** The last line that the value is on. */
  readonly endLine: number;
  /** `object`, `array`, `string`, `number`, `boolean`, `null`, or the format's own type. */
  readonly type: string;
  /** The number of direct children of an object or array. */
  readonly children?: number | undefined;
  /**
   * True when the pointer leads through an alias of YAML. The value is then written elsewhere and may be used
   * by other places, too.
   */
  readonly alias?: boolean | undefined;
  /** Complete sentences about duplicate keys, aliases, or errors after the value. */
  readonly warnings: readonly string[];
}

/** Returns the line, from 1, on which an offset of a text is. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

/** Returns the location of the part of a text from `start` to `end`. */
export function locatedPart(
  text: string,
  { start, end }: Pick<Located, "start" | "end">,
  facts: Pick<Located, "type" | "children" | "warnings">,
): Located {
  const startLine = lineAt(text, start);
  const endLine = Math.max(startLine, lineAt(text, Math.max(start, end - 1)));
  return { start, end, startLine, endLine, ...facts };
}

/** Returns the location of the whole text, which the empty pointer names. */
export function locateWholeText(text: string, start = 0, type = "document"): Located {
  return locatedPart(text, { start, end: text.length }, { type, warnings: [] });
}

/** The maximum length of a pointer, in UTF-16 units. */
const MAX_POINTER_LENGTH = 4096;

/** Returns the tokens of a pointer, with `~0` and `~1` decoded. @throws INVALID_ARGUMENT */
export function parsePointer(pointer: string): readonly string[] {
  const wrong = (why: string): FilewrightError =>
    invalidArgumentError("json_pointer", `Invalid json_pointer '${truncateForMessage(pointer)}': ${why}.`);
  if (pointer.length > MAX_POINTER_LENGTH) throw wrong(`longer than ${MAX_POINTER_LENGTH} characters`);
  let plain = pointer;
  if (pointer.startsWith("#")) {
    try {
      plain = decodeURIComponent(pointer.slice(1));
    } catch {
      throw wrong("a malformed % escape");
    }
  }
  if (plain === "") return [];
  if (!plain.startsWith("/")) throw wrong('it begins with "/", as in "/scripts/test" or "/items/0"');
  if (/~(?![01])/.test(plain)) throw wrong('"~" is written "~0" and "/" in a key "~1"');
  return plain
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Returns the pointer that consists of these tokens. */
export function pointerOf(tokens: readonly string[]): string {
  return tokens.map((token) => `/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Returns the array index that a token names; -1 for a token that is no index. */
export function arrayIndexOf(token: string): number {
  return /^(?:0|[1-9]\d{0,15})$/.test(token) ? Number(token) : -1;
}

/** Where a search failed: the last value that exists on the path, which does not have the requested child. */
export interface DeadEnd {
  /** The number of tokens of the pointer that were found. */
  readonly depth: number;
  readonly type: string;
  /** The first keys of that value, if it is an object. */
  readonly keys?: readonly string[] | undefined;
  /** The number of children of that value. */
  readonly children?: number | undefined;
}

/** The maximum number of keys that the error lists. */
export const MAX_LISTED_KEYS = 20;

/** Creates the error for a pointer that names no value. It lists keys that exist. */
export function nothingAtPointerError(tokens: readonly string[], end: DeadEnd): FilewrightError {
  const reached = tokens.slice(0, end.depth);
  const at = reached.length === 0 ? "the root" : `'${truncateForMessage(pointerOf(reached))}'`;
  return invalidArgumentError(
    "json_pointer",
    `Nothing at json_pointer '${truncateForMessage(pointerOf(tokens))}'.\n${at} is ${describeDeadEnd(end)}.`,
    withoutUndefined({
      reason: "not_found",
      reached: pointerOf(reached),
      type: end.type,
      keys: end.keys,
      children: end.children,
    }),
  );
}

function describeDeadEnd({ type, keys, children = 0 }: DeadEnd): string {
  if (type === "array") {
    if (children === 0) return "an empty array";
    return children === 1 ? "an array of 1 item: 0" : `an array of ${children} items: 0 to ${children - 1}`;
  }
  if (keys === undefined) return `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}, which has nothing below it`;
  if (children === 0) return "an empty object";
  const more = children > keys.length ? ` and ${children - keys.length} more` : "";
  return `an object with the keys ${keys.map((key) => JSON.stringify(truncateForMessage(key, 60))).join(", ")}${more}`;
}

/** Creates the error for a file that does not have the syntax of its format. */
export function syntaxError(mime: string, what: string, line: number, cause?: unknown): FilewrightError {
  return unsupportedFormatError(mime, `is broken at line ${line}: ${what}`, {
    reason: "syntax",
    hint: "read it as text, without json_pointer",
    details: { line },
    cause,
  });
}

/** Truncates a text to `most` UTF-16 units for a message. */
export function truncateForMessage(text: string, most = 100): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}
