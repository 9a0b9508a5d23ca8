/** Turns the answers of a person into the replies that a question takes. */
import type { ConfirmReply } from "../../hooks/confirm.ts";
import type { PendingApproval } from "../../hooks/queue/summary.ts";
import type { GrantReply } from "../../policy/index.ts";
import type { ReviewAnswer } from "../protocol.ts";
import { confirmedParts, editedContents } from "./changes.ts";
import { grantOfChoice, lastingReply } from "./wider.ts";

/**
 * Returns the reply with an answer in the name of `by`; undefined for an answer that does not fit its question. The
 * changes of the question must have their contents where the answer names parts or edits.
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
  return grantOfChoice(grant ?? { access, until: "session" }, by);
}
