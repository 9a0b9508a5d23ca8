/** The text of notifications and the states of their permission: functions of data, for the page and its tests. */
import type { ReviewQuestion } from "../../protocol.ts";

/** The permission for notifications. `off`: the page has not asked for it. `refused`: the browser shows none. */
export type NotifyState = "off" | "on" | "refused";

/** Returns the text of a notification; undefined where none of the questions has come since `known`. */
export function noticeOf(
  known: ReadonlySet<string>,
  waiting: readonly Pick<ReviewQuestion, "id">[],
): string | undefined {
  if (waiting.every(({ id }) => known.has(id))) return undefined;
  return waiting.length === 1
    ? "A question waits for an answer."
    : `${waiting.length} questions wait for an answer.`;
}
