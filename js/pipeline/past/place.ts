/** The places in the history that callers name. */
import { FilewrightError } from "../../engine/errors.ts";
import { escapeControls } from "../../engine/escape.ts";
import type { Log } from "../../log/index.ts";
import type { HistoryPlace } from "../../log/past.ts";
import { nearest } from "../../schema/nearest.ts";

/** Returns the place that a mark, the id of a call or a time names. @throws NOT_FOUND */
export async function placeOf(log: Log, to: string | Date): Promise<HistoryPlace> {
  if (to instanceof Date) return { moment: to.getTime() };
  const marks = await log.marks();
  const mark = marks.find(({ name }) => name === to);
  if (mark !== undefined) return { mark };
  if (CALL_ID.test(to)) return { before: to };
  const similar = nearest(
    to,
    marks.map(({ name }) => name),
  );
  const named = `There is no mark '${escapeControls(to).slice(0, 80)}'`;
  const message = similar === undefined ? `${named}.` : `${named}; did you mean '${similar}'?`;
  throw new FilewrightError("NOT_FOUND", message, { complete: true });
}

/** The form of the ids that calls get. */
const CALL_ID = /^[0-9a-z]{9}-[0-9a-f]{12}$/u;
