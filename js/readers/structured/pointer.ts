/** JSON pointers (RFC 6901), and the error for a pointer without a target. */
import type { FilewrightError } from "../../engine/errors.ts";
import { badArgument, unsupported } from "../refuse.ts";

/** The location of a value in its source text. Offsets are in units of that text. */
export interface Located {
  readonly start: number;
  /** Just after the value. */
  readonly end: number;
  /** 1-based. */
  readonly startLine: number;
  /** The last line that the value is on. */
  readonly endLine: number;
  /** `object`, `array`, `string`, `number`, `boolean`, `null`, or the format's own type. */
  readonly type: string;
  /** Direct children of an object or array. */
  readonly children?: number | undefined;
  /** True when the pointer passed an alias, so that the value is written elsewhere and may be shared. */
  readonly alias?: boolean | undefined;
  /** Whole sentences: duplicate keys, aliases, errors after the value. */
  readonly warnings: readonly string[];
}

/** The maximum length of a pointer, in UTF-16 units. */
const MAX_POINTER_LENGTH = 4096;

/** Returns the reference tokens of a pointer, unescaped. @throws INVALID_ARGUMENT */
export function parsePointer(pointer: string): readonly string[] {
  const wrong = (why: string): FilewrightError =>
    badArgument("json_pointer", `Invalid json_pointer '${cut(pointer)}': ${why}.`);
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

/** Returns the pointer of some tokens. */
export function pointerOf(tokens: readonly string[]): string {
  return tokens.map((token) => `/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Returns the index that a token names in an array, or -1. */
export function indexOf(token: string): number {
  return /^(?:0|[1-9]\d{0,15})$/.test(token) ? Number(token) : -1;
}

/** The end of a failed search: the value without such a child. */
export interface DeadEnd {
  /** The number of tokens that were found. */
  readonly depth: number;
  readonly type: string;
  /** The first keys of that value, for an object. */
  readonly keys?: readonly string[] | undefined;
  /** The number of its children. */
  readonly children?: number | undefined;
}

/** The maximum number of listed keys. */
export const LISTED_KEYS = 20;

/** Creates the error for a pointer without a target, with suggestions. */
export function nothingAt(tokens: readonly string[], end: DeadEnd): FilewrightError {
  const reached = tokens.slice(0, end.depth);
  const at = reached.length === 0 ? "the root" : `'${cut(pointerOf(reached))}'`;
  return badArgument(
    "json_pointer",
    `Nothing at json_pointer '${cut(pointerOf(tokens))}'.\n${at} is ${whatThereIs(end)}.`,
    {
      reason: "not_found",
      reached: pointerOf(reached),
      type: end.type,
      ...(end.keys === undefined ? {} : { keys: end.keys }),
      ...(end.children === undefined ? {} : { children: end.children }),
    },
  );
}

function whatThereIs({ type, keys, children = 0 }: DeadEnd): string {
  if (type === "array") {
    if (children === 0) return "an empty array";
    return children === 1 ? "an array of 1 item: 0" : `an array of ${children} items: 0 to ${children - 1}`;
  }
  if (keys === undefined) return `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}, which has nothing below it`;
  if (children === 0) return "an empty object";
  const more = children > keys.length ? ` and ${children - keys.length} more` : "";
  return `an object with the keys ${keys.map((key) => JSON.stringify(cut(key, 60))).join(", ")}${more}`;
}

/** Creates the error for a file that is invalid in its format. */
export function broken(mime: string, what: string, line: number, cause?: unknown): FilewrightError {
  return unsupported(mime, `is broken at line ${line}: ${what}`, {
    reason: "syntax",
    hint: "read it as text, without json_pointer",
    details: { line },
    cause,
  });
}

/** Shortens a text for a message. */
export function cut(text: string, most = 100): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}
