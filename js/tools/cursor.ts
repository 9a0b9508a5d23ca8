/**
 * Cursors: where a list that was cut goes on.
 *
 * Opaque to callers. They hold a position and a mark of the question it belongs
 * to, so that a cursor cannot silently continue another list.
 */
import { FilewrightError } from "../engine/errors.ts";

/** A short mark of a question: equal questions have equal marks. */
export function questionMark(question: readonly unknown[]): string {
  let hash = 0x811c9dc5;
  for (const char of JSON.stringify(question)) {
    hash = Math.imul(hash ^ (char.codePointAt(0) as number), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}

/** The cursor that continues after `position` items. */
export function cursorAt(position: number, mark: string): string {
  return `${position.toString(36)}.${mark}`;
}

/** The position a cursor stands for; 0 without one. @throws FilewrightError INVALID_ARGUMENT */
export function positionOf(cursor: string | undefined, mark: string): number {
  if (cursor === undefined) return 0;
  const [position = "", of] = cursor.split(".");
  if (/^[0-9a-z]{1,10}$/u.test(position) && of === mark) return Number.parseInt(position, 36);
  throw new FilewrightError(
    "INVALID_ARGUMENT",
    "Invalid argument 'cursor': it belongs to another question; repeat the arguments of the call that gave it, or leave it out.",
    { details: { argument: "cursor" } },
  );
}
