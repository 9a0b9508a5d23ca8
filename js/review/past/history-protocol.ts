/**
 * The data about the past that the review page and its server exchange. There is no code here, so the page and the
 * server can both import it.
 */
import type { HistoryEntry, HistoryMark } from "../../tools/lib/history-entry.ts";
import type { ChangeRows, ChangeSummary, ChosenHunks } from "../protocol.ts";

/** One changing call of the past, with the person who made it. */
export interface PastCall extends HistoryEntry {
  /** The person who took others back with it, if it was during this run of the server. */
  readonly by?: string;
}

/** The answer of `GET history`. */
export interface PastCalls {
  /** The newest first. */
  readonly entries: readonly PastCall[];
  /** The newest first. */
  readonly marks: readonly HistoryMark[];
  /** The ids of the unreviewed calls: they were made without a question, and no person has reviewed them yet. */
  readonly unreviewed: readonly string[];
  /** Calls and marks before this time are no longer kept: ISO 8601, UTC. Absent while all are. */
  readonly forgottenBefore?: string;
}

/** The answer of `GET history/unreviewed`. */
export interface UnreviewedCalls {
  /** The newest first. */
  readonly calls: readonly PastCall[];
  /** As in `GET history`. */
  readonly forgottenBefore?: string;
}

/** The numbers of lines that a call added and removed. */
export interface LineTotals {
  readonly added: number;
  readonly removed: number;
}

/**
 * The answer of `GET history/counts`: the calls whose lines could be counted in time; null where they are not known, or
 * where the policy does not let a path of the call be read now.
 */
export interface PastCounts {
  readonly counts: Readonly<Record<string, LineTotals | null>>;
}

/** A part of the rows of several changes: the answer of `GET history/ID/rows` and similar requests. */
export interface RowsPage {
  readonly pages: readonly ChangeRows[];
  /** The place at which the next part begins; absent for the last one. */
  readonly next?: { readonly change: number; readonly from: number };
}

/** A path that a rewind would change. */
export interface RewindChange extends ChangeSummary {
  /** The path as `paths` of a rewind takes it. */
  readonly display: string;
}

/** A path that a rewind leaves as it is. */
export interface RewindLeft {
  readonly path: string;
  /** The reason in words. */
  readonly why: string;
  /** True when it is rewound all the same if its path is chosen. */
  readonly canChoose: boolean;
}

/** The body of `POST rewind`. */
export interface RewindRequest {
  /** The name of a mark, or the id of a call: the state before it. */
  readonly to: string;
  readonly paths?: readonly string[] | undefined;
  /** Only the calls of this agent. Default: those of all. */
  readonly agent?: string | undefined;
  /** True to return what the rewind would do. */
  readonly dryRun?: boolean | undefined;
  /** The digest of the preview that was shown; required unless `dryRun`. */
  readonly digest?: string | undefined;
}

/** The answer of `POST rewind`. */
export interface RewindAnswer {
  /** The id of the rewind itself, for its undo; absent for a preview, and when nothing was changed. */
  readonly callId?: string;
  /** The number of the undone calls. */
  readonly calls: number;
  readonly changes: readonly RewindChange[];
  readonly left: readonly RewindLeft[];
  /** The calls that cannot be undone, such as commands. */
  readonly unrecorded: readonly PastCall[];
  readonly digest: string;
}

/** The body of `POST history/ID/undo`. Without members it is about the whole call. */
export interface UndoRequest {
  /** Only these parts of the changes of the call, as `GET history/ID/rows` numbers them. */
  readonly parts?: readonly ChosenHunks[] | undefined;
  /** With `parts`: true to return what would be put back. */
  readonly dryRun?: boolean | undefined;
  /** With `parts`: the digest of the preview that was shown; required unless `dryRun`. */
  readonly digest?: string | undefined;
}

/** The answer of `POST history/ID/undo`. */
export interface UndoAnswer {
  /** The id of the undo itself, which can be undone; absent for a preview, and when nothing was changed. */
  readonly callId?: string;
  readonly paths: readonly string[];
  /** The digest of an undo of parts, by which `GET previews/rows` finds the rows of a preview. */
  readonly digest?: string;
}

/** The data of an undo that is refused, besides its error. */
export interface UndoConflict {
  /** The later calls that changed the same paths, the newest first. */
  readonly later: readonly PastCall[];
  /** The wanted hunks that the present content of their files does not have any more. */
  readonly unfit?: readonly UnfitHunks[];
}

/** Hunks of one file that cannot be put back, because these lines have changed since. */
export interface UnfitHunks {
  readonly path: string;
  /** Their numbers, from 0. */
  readonly hunks: readonly number[];
}
