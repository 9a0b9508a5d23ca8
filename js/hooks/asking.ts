/** One question to a reviewer: the host gets an event for it and for its answer, and a lasting approval is stored. */
import { withoutUndefined } from "../schema/without-undefined.ts";
import type { Approvals, AskedQuestion } from "./approvals.ts";
import { askConfirm, type Confirm, type ConfirmReply } from "./confirm.ts";
import { type Notify, notifySafely } from "./events.ts";

/** Those who take part in a question. */
interface Asking {
  readonly confirm: Confirm;
  readonly approvals: Pick<Approvals, "remember">;
  /** Receives the events of the question and its answer. */
  readonly notify: Notify | undefined;
}

/** A question with the call that it is about. */
export interface CallQuestion {
  readonly asked: AskedQuestion;
  /** The call in one line, for those who watch. */
  readonly title: string;
  /** The question as the reviewer sees it. */
  readonly question: Parameters<typeof askConfirm>[1];
}

/** Asks a reviewer about a call. @throws FilewrightError APPROVAL_DENIED for a useless answer, CANCELLED */
export async function askReviewer(
  { confirm, approvals, notify }: Asking,
  { asked, title, question }: CallQuestion,
  signal: AbortSignal | undefined,
): Promise<ConfirmReply> {
  const { path, callId, hash } = question;
  const about = { tool: asked.tool, path, ...withoutUndefined({ callId }) };
  notifySafely(notify, { type: "approval_asked", ...about, title });
  const reply = await askConfirm(confirm, question, signal);
  const { outcome, payload } = reply;
  const approval = await approvals.remember(reply, asked);
  const told = withoutUndefined({ hash, approval, by: payload?.by });
  notifySafely(notify, { type: "approval_answered", ...about, outcome, ...told });
  return reply;
}
