/** The view of the history for tools: the calls that can be undone, and what an undo would restore. */
import type { FsBackend } from "../../backends/backend.ts";
import type { PreImage } from "../../backends/transaction/pre-image.ts";

/** One changing call of the past. */
export interface PastCall {
  readonly callId: string;
  /** The tool, or `undo`. */
  readonly tool: string;
  /** ISO 8601, UTC. */
  readonly time: string;
  /** The changed paths, relative to the working directory. */
  readonly paths: readonly string[];
  readonly agent?: string;
  /** The call that this one undid. */
  readonly undoOf?: string;
}

/** The state to which an undo restores one path. */
export interface Restored {
  /** Absolute. */
  readonly path: string;
  /** The same path, as in {@link PastCall.paths}. */
  readonly shown: string;
  /** The restored entry; null for none. */
  readonly image: PreImage | null;
  /**
   * The entry that the change left, without its content; null for none, undefined when it is not
   * recorded.
   */
  readonly after?: PreImage | null | undefined;
  /** The current path of a moved entry. */
  readonly from?: string;
}

/** The call that undoes another one. */
interface UndoingCall {
  /** Storage within the policy of that call. */
  readonly fs: FsBackend;
  readonly callId: string;
  readonly agent: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The history as one caller may see it. */
export interface Past {
  /** Returns the calls that can be undone, the newest first. `all`: including those of other callers. */
  list(all: boolean): Promise<readonly PastCall[]>;
  /** Returns what undoing a call would restore. @throws FilewrightError NOT_FOUND */
  restores(callId: string): Promise<readonly Restored[]>;
  /** Undoes a call; recorded under the id of the call that undoes it. @throws CONFLICT */
  undo(callId: string, by: UndoingCall): Promise<void>;
}

/** Returns the last change that is no undo and was not undone. */
export function lastChange(calls: readonly PastCall[]): PastCall | undefined {
  const undone = new Set(calls.map(({ undoOf }) => undoOf));
  return calls.find(({ callId, undoOf }) => undoOf === undefined && !undone.has(callId));
}
