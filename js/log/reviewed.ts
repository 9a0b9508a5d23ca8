/** The changes that need no review any more: those that are kept, and those of which nothing is left. */
import type { RecordHeader } from "../backends/transaction/step.ts";
import { FilewrightError } from "../engine/errors.ts";
import { hasTrait } from "../schema/tool-facts.ts";

/** The part of a record of the history that says which changes need no review. */
export type ReviewFacts = Pick<RecordHeader, "callId" | "tool" | "undoOf" | "undoes" | "keeps">;

/**
 * Returns the changes that are kept, and those that another change has undone wholly. An undo that was undone itself
 * counts no more.
 * @param records the newest first
 */
export function reviewedCalls(records: Iterable<ReviewFacts>): ReadonlySet<string> {
  const kept = new Set<string>();
  const undone = new Set<string>();
  for (const { callId, tool, undoOf, undoes = [], keeps = [] } of records) {
    for (const one of keeps) kept.add(one);
    if (undone.has(callId)) continue;
    if (undoOf !== undefined && !hasTrait(tool, "takesBackPart")) undone.add(undoOf);
    for (const one of undoes) undone.add(one);
  }
  return new Set([...kept, ...undone]);
}

/** Creates the error of a change that is to be reviewed afterwards, where nothing records it. */
export function cannotBeReviewedError(): FilewrightError {
  return new FilewrightError(
    "UNSUPPORTED_OPERATION",
    "The change is to be reviewed after it, and there is no history that records it.",
    { complete: true, hint: "the host can open the workspace with a history" },
  );
}
