/** The waiting questions of an approval queue, and its events, as plain data. */
import type { GrantAccess } from "../policy/index.ts";
import type { PlainDetails } from "./notebook.ts";

/** A waiting question. Plain data. */
export type PendingApproval = {
  readonly id: string;
  /** ISO 8601. */
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
  /** Answered, or withdrawn. */
  | { readonly type: "gone"; readonly id: string };
