/**
 * Cursors: the position after which the next page of a result begins, as a string that callers pass back
 * unchanged.
 *
 * A cursor contains a position, not a reference to stored state. So it is valid after a restart, and entries
 * that appear or vanish between two pages cause no repetition and no gap.
 */
import { FilewrightError } from "../errors.ts";
import { fromBase64, toBase64 } from "./bytes.ts";

/** The kinds of results that have cursors. */
export type CursorKind = "grep" | "find" | "list";

/** The position of the last returned result. */
export interface CursorPosition {
  /** The path of the last returned result. */
  readonly path: string;
  /** With the order `recent`: the time from which changes are recent, in milliseconds since 1970. */
  readonly number: number;
  /** The time from which changes count as recent, in milliseconds since 1970. */
  readonly since?: number | undefined;
}

/** Encodes the position as a string of letters, digits, `-` and `_`. */
export function encodeCursor(kind: CursorKind, { path, number, since }: CursorPosition): string {
  const bytes = new TextEncoder().encode(JSON.stringify([kind, path, number, since]));
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Decodes a cursor. @throws INVALID_ARGUMENT for a cursor of another kind of result, or any other string */
export function decodeCursor(kind: CursorKind, cursor: string): CursorPosition {
  try {
    const bytes = fromBase64(cursor.replaceAll("-", "+").replaceAll("_", "/"));
    const [of, path, number, since] = JSON.parse(new TextDecoder().decode(bytes)) as unknown[];
    const isPlace = of === kind && typeof path === "string" && Number.isSafeInteger(number);
    if (isPlace && (since === undefined || since === null || Number.isSafeInteger(since))) {
      return { path, number: number as number, since: (since as number | null) ?? undefined };
    }
  } catch {
    // Not a cursor of this package: refused below.
  }
  throw new FilewrightError("INVALID_ARGUMENT", "cursor is not one that this call gave", {
    hint: "pass next_cursor of the previous result unchanged, or leave cursor out to begin anew",
    details: { argument: "cursor" },
  });
}
