/**
 * Permission events for watchers: a log, a user interface. Watchers are not awaited and cannot
 * change anything.
 */
import type { Code } from "../engine/errors.ts";
import type { GrantEvent } from "../policy/index.ts";
import type { Approval } from "./approvals.ts";
import type { Outcome } from "./confirm.ts";

/** The result of the recovery of interrupted changes when the workspace opened. */
export interface RecoveryFacts {
  /** The number of interrupted changes that were rolled back. */
  readonly rolledBack: number;
  /** The number of records without any authentic part, which were left alone. */
  readonly ignored: number;
  /** The number of damaged records. */
  readonly damaged: number;
  /** Paths that another process changed after the interruption, and that were left unchanged. */
  readonly conflicts: readonly string[];
  /** The first error that kept a change from being looked for or rolled back; undefined without one. */
  readonly problem: { readonly code: Code; readonly message: string } | undefined;
}

/** An event of a workspace. */
export type WorkspaceEvent =
  /** A directory was requested, granted, refused or revoked. */
  | GrantEvent
  /** An approval was requested, and the answer. */
  | {
      readonly type: "approval_asked";
      readonly tool: string;
      readonly path: string;
      readonly title: string;
      /** The id of the call in the history; absent for a call that only reads. */
      readonly callId?: string;
    }
  | {
      readonly type: "approval_answered";
      readonly tool: string;
      readonly path: string;
      /** The id of the call in the history; absent for a call that only reads. */
      readonly callId?: string;
      readonly outcome: Outcome;
      /** The hash of the approved bytes. */
      readonly hash?: string;
      /** The approval, when it lasts. */
      readonly approval?: Approval;
      readonly by?: string;
    }
  /** Interrupted changes or damaged records were found at the opening. */
  | { readonly type: "recovered"; readonly recovery: RecoveryFacts }
  /** A `stateDir` is set, but a change is left half made if the process ends during it. */
  | { readonly type: "journal_in_memory"; readonly message: string }
  /** A call was refused by a rule, by a hook, or without an approval. */
  | {
      readonly type: "call_denied";
      readonly tool: string;
      readonly code: string;
      readonly message: string;
      /** The id that the call would have in the history; absent for one that only reads, or was refused early. */
      readonly callId?: string;
    };

/** Receives events. Its errors are ignored. */
export type Notify = (event: WorkspaceEvent) => void;

/** Passes an event to a watcher. Errors of the watcher are ignored, and a promise is not awaited. */
export function notifySafely(notify: Notify | undefined, event: WorkspaceEvent): void {
  if (notify === undefined) return;
  try {
    const given: unknown = notify(Object.freeze(event));
    // An async watcher is not awaited; its rejection is ignored.
    if (given instanceof Promise) given.catch(() => undefined);
  } catch {
    // A failing watcher must not fail the call.
  }
}
