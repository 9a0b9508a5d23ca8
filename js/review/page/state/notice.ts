/** The messages about what became of an answer. */
import type { ApprovalScope } from "../../../hooks/scope/scope.ts";
import type { ReviewOutcome, ReviewState } from "../../protocol.ts";

/** Names an approval or a granted directory, so that the policy can show it. */
export interface AllowedPlace {
  /** The id of the approval. */
  readonly approval?: string | undefined;
  /** The scope of the approval, where its id is not known. */
  readonly scope?: ApprovalScope | undefined;
  /** The granted directory. */
  readonly dir?: string | undefined;
}

/** A message about what happened. It stays until the person does the next thing, or dismisses it. */
export interface Notice {
  readonly text: string;
  readonly isFailure: boolean;
  /** The id of a question that still waits after an answer whose fate was not known. */
  readonly unanswered?: string;
  /** The approval or grant that an answer has made, which the policy shows and revokes. */
  readonly allowed?: AllowedPlace;
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

/** The reason with which a question is refused whose change cannot be made on the present content. */
export const CONFLICT_REASON = "a file has changed since then; read it again";

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
