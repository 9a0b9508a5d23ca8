/** The waiting questions and the events of an approval queue, as plain data. */
import type { GrantAccess } from "../policy/index.ts";
import type { PlainDetails } from "./notebook.ts";

/** A waiting question. Plain data. */
export type PendingApproval = {
  readonly id: string;
  /** When it was asked, in ISO 8601. */
  readonly asked_at: string;
} & (
  | { readonly kind: "change"; readonly details: PlainDetails }
  | {
      readonly kind: "directory";
      readonly question: string;
      readonly dir: string;
      readonly access: GrantAccess;
      readonly tool: string;
    }
);

/** An event of the approval queue. */
export type QueueEvent =
  | { readonly type: "asked"; readonly question: PendingApproval }
  /** The question does not wait any more: it was answered or withdrawn. */
  | { readonly type: "gone"; readonly id: string };
