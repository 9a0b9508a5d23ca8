/**
 * The contract of a log: the changes of a workspace, newest first, each with what taking it back needs. Two engines
 * implement it: records in a store (`record-log.ts`), which is in memory, in files or of the host, and the history of a
 * storage (`storage-log.ts`). What a workspace does with its past is written once over it, in `history.ts` and `rewind/`.
 */
import type { Files } from "../backends/files.ts";
import type { PastState, PreImage } from "../backends/transaction/pre-image.ts";
import type { AllowedBy, FinalStates, RecordHeader, Step, StepResult } from "../backends/transaction/step.ts";
import type { CommitList, ListedChange } from "../backends/transaction/recorded-list.ts";
import type { FilesFound } from "../backends/transaction/step-maker.ts";
import type { StageCommit } from "../storage/staged/stage.ts";
import type { RecordOp } from "../storage/storage.ts";

/** The facts that a log records about a change, besides its steps. */
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
  /** The paths to name in the history for a change that the log does not see, such as a command; may be empty. */
  readonly unrecorded?: readonly string[] | undefined;
  /**
   * Returns the shared records that change in the same moment. Called once the change is complete, where it is one
   * commit of a storage; otherwise not at all.
   */
  readonly records?: (() => readonly RecordOp[]) | undefined;
}

/** The facts that a change has from its plan. */
interface PlannedChange {
  /** The list that the change is, for a disk that makes it in one job; undefined where none describes the change. */
  readonly list: readonly ListedChange[] | undefined;
  /** Returns the files that the change was planned on, which need not be read again. */
  found(): Promise<FilesFound | undefined>;
}

/** Returns the commit of a change that is made on the stage of a call. */
export function commitOf({ callId, tool, agent, undoOf, signal, records }: ChangeFacts): StageCommit {
  return { key: callId, actor: { agent, tool, callId, undoOf }, signal, records: records?.() };
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

/** The part of a record that says which changes need no review. */
export type ReviewFacts = Pick<RecordHeader, "callId" | "tool" | "undoOf" | "undoes" | "keeps">;

/** The changes that were made without a question, and what was done about them since. */
export interface Reviews {
  /** The changes that were made without a question, the newest first, also those that need no review any more. */
  readonly records: readonly HistoryRecord[];
  /** The facts of every record since the oldest of them, the newest first. */
  readonly facts: readonly ReviewFacts[];
  /** Changes before this moment are forgotten, in milliseconds since 1970; undefined when none are. */
  readonly forgottenBefore: number | undefined;
}

/** A named place in the history. */
export interface Mark {
  readonly name: string;
  /** Changes that were committed after this moment are later, in milliseconds since 1970 with a fraction. */
  readonly at: number;
  /** The version of a storage at that moment, which counts there; null before its first commit. */
  readonly version?: string | null;
  /** The name of the agent that set it, if it has one. */
  readonly agent?: string | undefined;
}

/** A place in the history: a mark, a moment in milliseconds since 1970, or the state before a change. */
export type LogPlace =
  | { readonly mark: Mark }
  | { readonly moment: number }
  | { readonly before: HistoryRecord };

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

/** One change, with what taking it back and showing it need. */
export interface LoggedChange {
  readonly record: HistoryRecord;
  /** The steps that made it; none for a change that cannot be undone. */
  readonly made: PastSteps;
  /**
   * Returns the state before the change of each path that it touched. Contents of files that are kept in a storage are
   * only fetched where `wantsContent` returns true for the path.
   */
  states(wantsContent?: (path: string) => boolean): Promise<readonly StateBefore[]>;
}

/** The person who keeps changes, and the agent of the workspace in which they are kept. */
export interface KeptBy {
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

/** The log of a workspace, or of one call on its stage. */
export interface Log {
  /** Undefined without a history. */
  readonly largestUndo: LargestUndo | undefined;
  /** True where a change is one commit of a storage, which refuses to remove a directory that holds something. */
  readonly isOneCommit: boolean;
  /**
   * Makes a change and adds its record. `run` gets a backend that records each step, or that keeps all of them for one
   * commit; they are taken back when it fails. For a change that is a list, `run` may get the function that makes it
   * with its record; it is run again where nothing of the list can be made in this way. Where that shows once the list has
   * begun, the list is taken back. @throws CONFLICT with the reason `steps` then: a new plan is to be made by steps
   */
  append<T>(
    fs: Files,
    about: ChangeFacts,
    run: (fs: Files, commit?: CommitList) => Promise<T>,
    planned?: PlannedChange,
  ): Promise<Made<T>>;
  /**
   * Returns the changes, the newest first, with those that cannot be undone: all that were committed after a place, or
   * without one those that a history shows.
   * @throws LIMIT_EXCEEDED when the log no longer reaches back to the place
   */
  list(after?: LogPlace): Promise<readonly HistoryRecord[]>;
  /** Returns the change of a call; undefined when there is none. */
  get(callId: string): Promise<LoggedChange | undefined>;
  /** Returns the marks, the newest first. */
  marks(): Promise<readonly Mark[]>;
  /** Names the present place. Returns the mark; undefined for a name in use. */
  mark(name: string, agent: string | undefined): Promise<Mark | undefined>;
  /** Returns the changes that were made without a question, and what was done about them. */
  reviews(): Promise<Reviews>;
  /** Notes that these changes were reviewed and are kept. */
  keep(changes: readonly HistoryRecord[], as: KeptBy): Promise<void>;
}
