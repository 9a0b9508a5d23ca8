/** Questions that one call asks several people, as `quorum` does: how many there are, and who has allowed them. */
import type { ReviewQuestion, ReviewState } from "../protocol.ts";

/** The answers to the questions of one call about one content. */
export interface JointAnswers {
  /** The number of people who have to allow it; where the question does not say, all who are asked. */
  readonly needed: number;
  /** The names of those who allowed one of them. */
  readonly allowedBy: readonly string[];
}

/** Returns the answers to all questions of the same call; undefined for a question that is the only one. */
export function jointAnswersOf(
  { waiting, settled }: Pick<ReviewState, "waiting" | "settled">,
  question: ReviewQuestion,
): JointAnswers | undefined {
  if (question.kind !== "change" || question.callId === undefined) return undefined;
  const { callId, digest, needed } = question;
  const isSame = (one: ReviewQuestion): boolean =>
    one.kind === "change" && one.callId === callId && one.digest === digest;
  const allowed = settled.filter((one) => one.outcome === "allow" && isSame(one.question));
  const questions = waiting.filter(isSame).length + allowed.length;
  if (questions < 2) return undefined;
  const allowedBy = [...new Set(allowed.flatMap(({ by }) => (by === undefined ? [] : [by])))];
  return { needed: needed ?? questions, allowedBy };
}

/** Returns a function that is true for the questions of a call that is asked about one content several times. */
export function jointQuestionsOf({
  waiting,
  settled,
}: Pick<ReviewState, "waiting" | "settled">): (question: ReviewQuestion) => boolean {
  const keyOf = (question: ReviewQuestion): string | undefined =>
    question.kind === "change" && question.callId !== undefined
      ? `${question.callId} ${question.digest}`
      : undefined;
  const seen = new Set<string>();
  const joint = new Set<string>();
  const allowed = settled.filter(({ outcome }) => outcome === "allow").map(({ question }) => question);
  for (const question of [...allowed, ...waiting]) {
    const key = keyOf(question);
    if (key === undefined) continue;
    if (seen.has(key)) joint.add(key);
    seen.add(key);
  }
  return (question) => joint.has(keyOf(question) ?? "");
}
