/** The replies that approval hooks take, made of the answers of a person on the page or at the terminal. */
import type { ConfirmReply } from "../../hooks/confirm.ts";
import type { PendingApproval } from "../../hooks/queue/summary.ts";
import type { GrantReply } from "../../policy/index.ts";
import type { ReviewAnswer } from "../protocol.ts";
import { confirmedParts, editedContents } from "./changes.ts";
import { grantOfChoice, lastingReply } from "./wider.ts";

/**
 * Returns the reply that gives `answer` to `question` in the name of `by`; undefined when the question does not offer
 * that answer. For `parts` and `edits` the changes of the question must be whole, with hunks and texts, which those of a
 * summary are not.
 */
export function replyOfAnswer(
  question: PendingApproval,
  answer: ReviewAnswer,
  by: string,
): ConfirmReply | GrantReply | undefined {
  return question.kind === "change" ? changeReply(question, answer, by) : grantReply(question, answer, by);
}

function changeReply(
  { details }: PendingApproval & { readonly kind: "change" },
  { outcome, parts = [], edits, asksAgain, reason, wider, grant }: ReviewAnswer,
  by: string,
): ConfirmReply | undefined {
  const payload = { by, digest: details.digest };
  // A grant is for a directory, and a wider answer allows the whole change as it is.
  if (grant !== undefined || (wider !== undefined && (outcome !== "allow" || edits !== undefined)))
    return undefined;
  if (wider !== undefined) return lastingReply(details, wider, payload);
  if (edits !== undefined) {
    const contents = outcome === "allow" ? editedContents(details, edits) : undefined;
    const final = asksAgain === true ? {} : { final: true };
    return contents && { outcome: "modify_with_editor", payload: { ...payload, contents, ...final } };
  }
  if (outcome === "allow") return { outcome: "proceed_once", payload };
  if (outcome === "look_again") return { outcome, payload };
  if (outcome === "refuse")
    return { outcome: "cancel", payload: { ...payload, ...(reason === undefined ? {} : { reason }) } };
  // The outcome is `allow_parts`.
  const chosen = confirmedParts(details, parts);
  return chosen === undefined
    ? undefined
    : { outcome: "proceed_parts", payload: { ...payload, parts: chosen } };
}

function grantReply(
  { access }: PendingApproval & { readonly kind: "directory" },
  { outcome, edits, wider, grant }: ReviewAnswer,
  by: string,
): GrantReply | undefined {
  if (outcome === "allow_parts" || outcome === "look_again") return undefined;
  if (wider !== undefined || edits !== undefined) return undefined;
  if (outcome === "refuse") return grant === undefined ? { answer: "no", by } : undefined;
  // Without a choice the access that was asked for is granted for the session.
  return grantOfChoice(grant ?? { access, until: "session" }, by);
}
