/**
 * What happens around permissions, for whoever watches: a log, a user interface.
 * Nobody waits for a watcher, and none can change what happens.
 */
import type { GrantEvent } from "../access/index.ts";
import type { Approval } from "./approvals.ts";
import type { Outcome } from "./confirm.ts";

/** What opening found of changes that were cut. */
export interface RecoveryFacts {
  /** Changes that were cut and have been rolled back. */
  readonly rolledBack: number;
  /** Records of which nothing was made by us, and that were left alone. */
  readonly ignored: number;
  /** Records that were damaged. */
  readonly damaged: number;
  /** Paths that somebody changed after the cut, and that were left to them. */
  readonly conflicts: readonly string[];
}

/** Something that happened. */
export type WorkspaceEvent =
  /** A directory is asked for, granted, refused or taken back. */
  | GrantEvent
  /** Somebody is asked about a call, and what they said. */
  | { readonly type: "approval_asked"; readonly tool: string; readonly path: string; readonly title: string }
  | {
      readonly type: "approval_answered";
      readonly tool: string;
      readonly path: string;
      readonly outcome: Outcome;
      /** Of the bytes that were approved. */
      readonly hash?: string;
      /** Where the answer lasts. */
      readonly approval?: Approval;
      readonly by?: string;
    }
  /** Opening found changes that were cut, or a record that was damaged. */
  | { readonly type: "recovered"; readonly recovery: RecoveryFacts }
  /** There is a `stateDir`, and yet a process that ends amid a change leaves it half made. */
  | { readonly type: "journal_in_memory"; readonly message: string }
  /** A call was refused by a rule, a hook, or for want of an approval. */
  | { readonly type: "call_denied"; readonly tool: string; readonly code: string; readonly message: string };

/** Is told what happens. Its errors are passed over. */
export type Notify = (event: WorkspaceEvent) => void;

/** Tells a watcher, whatever the watcher does. */
export function tell(notify: Notify | undefined, event: WorkspaceEvent): void {
  if (notify === undefined) return;
  try {
    const given: unknown = notify(Object.freeze(event));
    // An async watcher is not waited for; its failure is its own.
    if (given instanceof Promise) given.catch(() => undefined);
  } catch {
    // A watcher that fails must not fail the call.
  }
}
