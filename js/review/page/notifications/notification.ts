/** What notifications say, and whether the browser shows them: without a browser. */
import type { ReviewQuestion } from "../../protocol.ts";

/** `off`: nobody has asked the browser for them. `refused`: the browser does not show them. */
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
