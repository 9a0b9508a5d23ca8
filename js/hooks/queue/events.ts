/** The events of an approval queue. */
import type { ApprovalSummary } from "./summary.ts";

/** Why a question was withdrawn: its call was cancelled, or the queue was closed. */
export type WithdrawalReason = "cancelled" | "closed";

/** An event of a question. */
type QueueHappening =
  | { readonly type: "asked"; readonly question: ApprovalSummary }
  /** The question was answered: `outcome` is that of a change, `look_again`, or the answer about a directory. */
  | { readonly type: "answered"; readonly id: string; readonly outcome: string; readonly by?: string }
  /**
   * The content behind the question has changed: an approval is refused, and `look_again` asks a new question.
   * `conflict` says why `look_again` would fail, where that is known. A later event of this type replaces it; without
   * `conflict` there is no such reason any more.
   */
  | { readonly type: "stale"; readonly id: string; readonly conflict?: string }
  /** The question has ended without an answer. */
  | { readonly type: "withdrawn"; readonly id: string; readonly why: WithdrawalReason };

/** An event of the approval queue. `seq` is its number: each event has the number after that of the one before it. */
export type QueueEvent = { readonly seq: number } & QueueHappening;

/**
 * All waiting questions, of which `seq` is the number of the last event. It is the first event for a reader that is
 * new, or that has missed events which the log no longer has, and it replaces all that the reader has.
 */
export interface QueueState {
  readonly type: "state";
  readonly seq: number;
  readonly pending: readonly ApprovalSummary[];
}
