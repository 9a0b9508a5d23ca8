/** Finds the last answer of this person, for the key that puts it back. */
import type { ReviewQuestion, ReviewState, SettledQuestion } from "../../protocol.ts";

/** Returns the last question that was allowed or refused in the name of this login. */
export function lastAnswer({
  review,
  by,
}: {
  readonly review: ReviewState;
  readonly by: string;
}): SettledQuestion | undefined {
  return review.settled.findLast(
    (one) => one.by === by && one.outcome !== "look_again" && one.outcome !== "withdrawn",
  );
}

/** Returns the question that waits and asks for the same as one that was refused. */
export function askedAgain(
  { waiting }: ReviewState,
  { question }: SettledQuestion,
): ReviewQuestion | undefined {
  return waiting.find((one) =>
    one.kind === "change"
      ? question.kind === "change" && one.digest === question.digest
      : question.kind === "directory" && one.dir === question.dir && one.access === question.access,
  );
}
