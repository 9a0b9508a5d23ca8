/** The journal as its users see it: what it records about a change, and how it names places in the history. */
import type { FsBackend } from "../backends/backend.ts";
import type { PastState, PreImage } from "../backends/transaction/pre-image.ts";
import type { AllowedBy, FinalStates, RecordHeader, Step, StepResult } from "../backends/transaction/step.ts";
import type { FilesFound } from "../backends/transaction/step-maker.ts";
import type { RecordOp } from "../storage/storage.ts";
import type { Recovery, RunLocked } from "./recovery.ts";
import type { JournalStore } from "./store.ts";

/** Options of a journal. */
export interface JournalOptions {
  readonly store: JournalStore;
  /** The working directory, which identifies the history. */
  readonly cwd: string;
  /** The id of the storage that the paths belong to; absent for the local disk. */
  readonly storage?: string | undefined;
  /** True when the records of finished changes are kept, so that they can be undone. */
  readonly keep: boolean;
  /** True when every record is flushed to the disk before the change goes on. */
  readonly durable: boolean;
}

/** The facts that the journal records about a change, besides its steps. */
export interface ChangeFacts {
  readonly callId: string;
  readonly tool: string;
  /** The name of the agent that makes the change; absent for a caller without a name. */
  readonly agent?: string | undefined;
  readonly undoOf?: string;
  /**
   * `always`: a step that cannot be rolled back is refused, since the change has several
   * operations. `try`: one operation, made even when it cannot be rolled back.
   */
  readonly rollback: "always" | "try";
  /**
   * The signal of the call. Once the change is made, a cancelled call ends without waiting until
   * the old entries are removed from the disk.
   */
  readonly signal?: AbortSignal | undefined;
  /** True for a change that is made without a question, and is unreviewed until it is kept. */
  readonly unreviewed?: boolean | undefined;
  /** The reasons why the change is allowed; see {@link RecordHeader}. */
  readonly allowedBy?: readonly AllowedBy[] | undefined;
  /** The ids of the changes of which nothing is left after this one, for a rewind. */
  readonly undoes?: readonly string[] | undefined;
  /** The paths to name in the history for a change that the journal does not see, such as a command; may be empty. */
  readonly unrecorded?: readonly string[] | undefined;
  /**
   * Returns the shared records that change in the same moment. Called once the change is complete, where it is one
   * commit of a storage; otherwise not at all.
   */
  readonly records?: (() => readonly RecordOp[]) | undefined;
}

/** One change in the history. */
export interface HistoryRecord {
  readonly header: RecordHeader;
  /** The moment of its commit, in milliseconds since 1970 with a fraction. */
  readonly at: number;
  readonly paths: readonly string[];
  /** False for a change that stays in the history although its steps were not recorded. */
  readonly undoable: boolean;
}

/** The unreviewed changes: they were made without a question, and no person has kept them. */
interface UnreviewedRecords {
  /** The changes, the newest first. Those that were undone wholly are left out. */
  readonly records: readonly HistoryRecord[];
  /** Changes before this moment are forgotten, in milliseconds since 1970; undefined when none are. */
  readonly forgottenBefore: number | undefined;
}

/** A named place in the history. */
export interface JournalMark {
  readonly name: string;
  /** Changes that were committed after this moment are later, in milliseconds since 1970 with a fraction. */
  readonly at: number;
  /** The version of a storage at that moment, which counts there; null before its first commit. */
  readonly version?: string | null;
  /** The name of the agent that set it, if it has one. */
  readonly agent?: string | undefined;
}

/** A place in the history: a mark, a moment in milliseconds since 1970, or the state before a call. */
export type HistoryPlace =
  | { readonly mark: JournalMark }
  | { readonly moment: number }
  | { readonly before: string };

/** The steps of one change, for taking it back together with others. */
export interface PastSteps {
  readonly steps: readonly Step[];
  /** The results of the steps, by their ids. */
  readonly given: ReadonlyMap<number, StepResult>;
  /** The state of each path after the change. */
  readonly finals: FinalStates;
}

/** The state of one path before a change, with what is known of the state after it. */
export interface StateBefore extends PastState {
  /**
   * The entry after the change, without its content; null when there is none, undefined when this is not recorded.
   */
  readonly after?: PreImage | null | undefined;
  /** The permission bits with which the change left the entry; undefined when they are unknown. */
  readonly leftMode?: number | undefined;
}

/** The person who keeps changes, and the agent of the workspace in which they are kept. */
interface KeptBy {
  readonly by: string | undefined;
  readonly agent: string | undefined;
}

/**
 * The record of a change in the history: enough to undo it, too little because it was `too_large`, or none, because
 * there is no history or the change is one that it does not see.
 */
export type Undoability = "undoable" | "too_large" | "nothing";

/** A change that was made. */
export interface Made<T> {
  readonly result: T;
  readonly undo: Undoability;
}

/** The largest change that the history can take back. */
export interface LargestUndo {
  /** The bytes of old content that one call may replace or remove; undefined where nothing limits them. */
  readonly bytes: number | undefined;
  /** All limits in words, to follow "the history keeps". */
  readonly words: string;
}

/** The journal of a workspace. */
export interface Journal {
  /** Undefined without a history. */
  readonly largestUndo: LargestUndo | undefined;
  /** True where a change is one commit of a storage, which refuses to remove a directory that holds something. */
  readonly isOneCommit: boolean;
  /**
   * Runs `run` on a backend that records each step. Rolls the steps back when it fails. `found` are the files that the
   * change was planned on, which need not be read again.
   */
  change<T>(
    fs: FsBackend,
    about: ChangeFacts,
    run: (fs: FsBackend) => Promise<T>,
    found?: FilesFound,
  ): Promise<Made<T>>;
  /** Returns the changes that can be undone, the newest first; with `all`, also those that cannot. */
  history(all?: boolean): Promise<readonly HistoryRecord[]>;
  /**
   * Returns the changes that were committed after a place, the newest first, with those that cannot be undone.
   * @throws LIMIT_EXCEEDED when the history no longer reaches back to it, NOT_FOUND for an unknown call
   */
  since(place: HistoryPlace): Promise<readonly HistoryRecord[]>;
  /** Returns the steps of one change. @throws NOT_FOUND */
  steps(callId: string): Promise<PastSteps>;
  /** Returns the marks, the newest first. */
  marks(): Promise<readonly JournalMark[]>;
  /** Names the present place in the history. @throws ALREADY_EXISTS for a name in use */
  mark(name: string, agent: string | undefined): Promise<JournalMark>;
  /** Returns the record of one change. @throws NOT_FOUND, UNSUPPORTED_OPERATION */
  record(callId: string): Promise<HistoryRecord>;
  /**
   * Returns the state before a change of each path that the change touched. Contents of files that are kept in a storage
   * are only fetched where `wantsContent` returns true for the path. @throws NOT_FOUND
   */
  found(callId: string, wantsContent?: (path: string) => boolean): Promise<readonly StateBefore[]>;
  /** Returns the unreviewed changes: those that were made without a question, and that no person has kept. */
  unreviewed(): Promise<UnreviewedRecords>;
  /**
   * Records that changes were reviewed and are kept. Changes that need no review are fine.
   * @returns the changes that were unreviewed until now @throws NOT_FOUND for an unknown change; then none is kept
   */
  keep(callIds: readonly string[], as: KeptBy): Promise<readonly HistoryRecord[]>;
  /**
   * Rolls back the unfinished changes of dead processes, and rollbacks of this process that failed
   * before. `mine` returns true for a path that this workspace may change; `locked` runs its action with
   * the paths locked.
   */
  recover(fs: FsBackend, mine: (path: string) => boolean, locked: RunLocked): Promise<Recovery>;
  /** Tries rollbacks of this process that failed before again, if they touch one of these paths. */
  retry(fs: FsBackend, paths: readonly { readonly path: string }[], locked: RunLocked): Promise<void>;
  /** Resolves when the replaced entries of all changes are removed, including those of cancelled calls. */
  settled(): Promise<void>;
}
