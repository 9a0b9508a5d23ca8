/** The history as tools see it: the calls that can be undone, and what undoing one would change. */
import type { Files } from "../../backends/files.ts";
import type { PastState } from "../../backends/transaction/pre-image.ts";
import type { AllowedBy } from "../../backends/transaction/step.ts";
import type { ActedPath } from "../change/change.ts";
import type { HistoryEntry } from "./history-entry.ts";

/** The call of `undo` by which another call is undone. */
interface UndoingCall {
  /** The backend of the undoing call, with which it restores: paths that the policy forbids are refused. */
  readonly fs: Files;
  readonly callId: string;
  readonly agent: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** True when the undo goes ahead without a question, and is unreviewed until a person keeps it. */
  readonly isUnreviewed?: boolean;
  /** The reasons why the undo was allowed. */
  readonly allowedBy?: readonly AllowedBy[] | undefined;
}

/** The recorded call that left a content. */
export interface MadeBy {
  readonly change: HistoryEntry;
  /** True for a call of the caller itself. */
  readonly isOwn: boolean;
}

/** A path that changed after a place in the history. */
export interface PathSince<By = MadeBy> {
  /** Absolute. */
  readonly path: string;
  /** The last recorded call that changed it. */
  readonly by: By;
  /** Returns the content at that place; null for no file, undefined where it is not known. */
  before(): Promise<Uint8Array | null | undefined>;
}

/** The history as far as the caller may see it. */
export interface UndoableHistory {
  /** Returns the calls that can be undone, newest first. With `all`, calls of other callers are included. */
  list(all: boolean): Promise<readonly HistoryEntry[]>;
  /** Returns a call that can be undone by its id; undefined when the caller has none with this id. */
  find(callId: string, all: boolean): Promise<HistoryEntry | undefined>;
  /** Returns the state of each path that undoing the call would restore. @throws FilewrightError NOT_FOUND */
  restores(callId: string): Promise<readonly PastState[]>;
  /** Returns the last recorded call that left a file with a content of this hash, or none for null; undefined for none. */
  madeBy(path: string, hash: string | null): Promise<MadeBy | undefined>;
  /** Returns a content that a file had, by its hash; undefined where the history does not keep it. */
  contentBefore(path: string, hash: string): Promise<Uint8Array | undefined>;
  /** Returns the paths that recorded calls changed after a mark or a call; `all`: also calls of the caller. @throws NOT_FOUND, LIMIT_EXCEEDED */
  since(place: string, all: boolean): Promise<readonly PathSince[]>;
  /** Returns a path as {@link HistoryEntry.paths} names it. */
  display(path: string): string;
  /** Returns what undoing the call changes. @throws NOT_FOUND, CONFLICT */
  preview(callId: string, by: Pick<UndoingCall, "fs" | "signal">): Promise<readonly ActedPath[]>;
  /** Undoes a call. The change is recorded under the id of the undoing call. @throws CONFLICT */
  undo(callId: string, by: UndoingCall): Promise<void>;
}

/** Returns the newest call that is not an undo and has not been undone; undefined when there is none. */
export function lastUndoableChange(calls: readonly HistoryEntry[]): HistoryEntry | undefined {
  const undone = new Set(calls.map(({ undoOf }) => undoOf));
  return calls.find(({ callId, undoOf }) => undoOf === undefined && !undone.has(callId));
}
