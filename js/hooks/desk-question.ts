/** The questions that wait at a desk, and the events that tell of them, as plain data. */
import type { GrantAccess } from "../access/index.ts";
import type { PlainDetails } from "./notebook.ts";

/** A question that waits. Plain data. */
export type DeskQuestion = {
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

/** What happens at the desk. */
export type DeskEvent =
  | { readonly type: "asked"; readonly question: DeskQuestion }
  /** Answered, or taken back. */
  | { readonly type: "gone"; readonly id: string };
