/** The messages about what became of an answer. */
import type { ReviewOutcome, ReviewState } from "../../protocol.ts";

/** A message about what happened to an answer. */
export interface Notice {
  readonly text: string;
  readonly isFailure: boolean;
  /** The id of a question that still waits after an answer whose fate was not known. */
  readonly unanswered?: string;
}

/** An answer that was sent, and whose reception by the server is not known. */
export interface UnknownAnswer {
  /** The id of the question. */
  readonly id: string;
  readonly title: string;
}

/** The words for what an answer has done. */
export const OUTCOME_WORDS: Readonly<Record<ReviewOutcome, string>> = {
  allow: "Allowed",
  allow_parts: "Allowed in part",
  refuse: "Refused",
  look_again: "Looked at again",
};

/** Returns the message while the server has not said what became of an answer. */
export function unknownNotice({ title }: UnknownAnswer): Notice {
  const text = `The connection broke, so it is not known whether this was answered: ${title}. The page asks the server.`;
  return { text, isFailure: true };
}

/** Returns the message about such an answer by the state of the server. */
export function knownNotice({ waiting, settled }: ReviewState, { id, title }: UnknownAnswer): Notice {
  if (waiting.some((one) => one.id === id)) {
    return { text: `No answer has arrived, it still waits: ${title}`, isFailure: true, unanswered: id };
  }
  const end = settled.findLast(({ question }) => question.id === id);
  if (end === undefined) {
    return {
      text: `It is not known whether this was answered: ${title}. The server does not know the question any more; the timeline shows what was changed.`,
      isFailure: true,
    };
  }
  const text =
    end.outcome === "withdrawn"
      ? `Not answered, the agent does not wait for it any more: ${title}`
      : `${OUTCOME_WORDS[end.outcome]} by ${end.by ?? "somebody"}: ${title}`;
  return { text, isFailure: end.outcome === "withdrawn" };
}
