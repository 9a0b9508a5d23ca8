/**
 * Cursors: the position at which the next page of a result begins, as one opaque string.
 *
 * A cursor contains a position, not a state: it survives restarts, and entries that appear or
 * vanish between pages are neither repeated nor skipped.
 */
import { FilewrightError } from "../errors.ts";

/** The kinds of results that have cursors. */
export type CursorKind = "grep" | "find" | "list";

/** A position in a result. */
export interface CursorPlace {
  /** The last returned path. */
  readonly path: string;
  /** The line in it (grep), or its time in milliseconds, -1 for none (find). */
  readonly number: number;
  /** The time from which changes count as recent, in milliseconds since 1970. */
  readonly since?: number | undefined;
}

/** Encodes the position as a string of letters, digits, `-` and `_`. */
export function encodeCursor(kind: CursorKind, { path, number, since }: CursorPlace): string {
  const bytes = new TextEncoder().encode(JSON.stringify([kind, path, number, since]));
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Decodes a position. @throws INVALID_ARGUMENT */
export function decodeCursor(kind: CursorKind, cursor: string): CursorPlace {
  try {
    const binary = atob(cursor.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
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
