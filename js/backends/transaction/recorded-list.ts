/**
 * A list of changes that a backend makes together with the record of the change, in one job. A journal that keeps its
 * records in files uses it; the record is that of the same list made by steps.
 */
import type { FilewrightError } from "../../engine/errors.ts";
import type { NativeRecordFiles } from "../../engine/generated/binding.ts";
import type { VersionedBytes, WriteOptions, WriteResult } from "../backend.ts";

/** Writes the whole content of a file. */
export interface ListedPut {
  readonly do: "put";
  /** Its real path. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** `sha256:` of the bytes. A promise while another thread computes it. */
  readonly hash: string | Promise<string>;
  /** The permission bits; undefined for those that the file has, or that the system gives a new one. */
  readonly mode: number | undefined;
  /** The file as the plan found it, which it must still be; null for none. */
  readonly was: VersionedBytes | null;
  /** True when missing directories are made. */
  readonly parents: boolean;
}

/** Makes a directory that is missing. */
interface ListedDirectory {
  readonly do: "mkdir";
  readonly path: string;
  /** True when missing directories above it are made, too. */
  readonly parents: boolean;
}

/** Removes a file that still has its version. */
interface ListedRemoval {
  readonly do: "remove";
  readonly path: string;
  readonly version: string;
}

/** Takes an entry to another path. */
interface TransferOf<Kind extends "move" | "copy"> {
  readonly do: Kind;
  /** The real path that it gets. */
  readonly path: string;
  /** The real path of the source. */
  readonly from: string;
  /** The version that the file still must have; undefined for a directory. */
  readonly version: string | undefined;
  /** True when a file is there that it replaces. */
  readonly isOver: boolean;
  /** True when a file that is there may be replaced. */
  readonly overwrite: boolean;
  /** True when missing directories are made. */
  readonly parents: boolean;
}

/** Moves a file, or the directory that is the whole list. */
type ListedMove = TransferOf<"move">;
/** Copies a file. */
type ListedCopy = TransferOf<"copy">;

/** One change of a list. No two changes of a list have the same path, nor is one the source of another. */
export type ListedChange = ListedPut | ListedDirectory | ListedRemoval | ListedMove | ListedCopy;

/** The most changes of a list, with its directories: the event loop prepares the record of all of them in one turn. */
export const MAX_LISTED = 256;

/** The options of all writes of a list. */
export type ListOptions = Pick<WriteOptions, "durability" | "signal">;

/** A list that was made, with the result of each change; or the error of one change, by its index. */
export type ListOutcome =
  | { readonly results: readonly WriteResult[] }
  | { readonly at: number; readonly error: FilewrightError };

/** Makes the list of a change. What was made of one that failed is rolled back once the change has thrown its error. */
export type CommitList = (options: ListOptions) => Promise<ListOutcome>;

/** The place of a record that a journal has begun: one of the files of a writer. */
export interface PlaceOfRecord {
  readonly files: NativeRecordFiles;
  readonly number: number;
}

/** The record of a list, as the journal has prepared it. */
interface PreparedRecord {
  readonly place: PlaceOfRecord;
  /** The id of the record, and the JSON of its entries, with a {@link markOf} in each place of what is not known yet. */
  readonly lines: readonly string[];
  /** The names under which replaced and removed files stay until the list is made; undefined for changes without one. */
  readonly asides: readonly (string | undefined)[];
  /** True when each entry is flushed to the disk. */
  readonly durable: boolean;
  /** The moment after which the commit is, in milliseconds since 1970. */
  readonly last: number;
}

/** The end of a list. */
export interface RecordedList {
  /**
   * The results of the steps that are in the record: that of a removal says nothing. All were made, but for the one of the
   * change that failed, if it is among them.
   */
  readonly steps: readonly WriteResult[];
  /** The moment of the commit in milliseconds since 1970. */
  readonly end:
    | { readonly moment: number }
    /** Nothing has changed, because these directories are missing, outermost first. */
    | { readonly missing: readonly string[] }
    /** The change `at` failed, of which the number of all changes stands for the end of the record. */
    | { readonly at: number; readonly error: FilewrightError };
}

/**
 * Makes a list of changes in its order, and its record: each step is recorded before it is made, and the end once all are.
 * A rejection with the reason `record` means that nothing has changed, because the list cannot be made or recorded in this
 * way. The file of the record may exist unless the list was made.
 */
export type CommitRecorded = (
  list: readonly ListedChange[],
  options: ListOptions,
  record: PreparedRecord,
) => Promise<RecordedList>;

/**
 * The facts that a record has marks for: of the entry that a step leaves `version`, `fileId`, `given`, its whole result,
 * and `left`, its whole final state; `before`, the file that it removes or a transfer replaces; of the source of a transfer
 * `moved`, its whole state, `size`, `mode` and `sourceVersion`; the ids of the directories.
 */
type MarkedFact =
  | "parent"
  | "parentFrom"
  | "before"
  | "version"
  | "fileId"
  | "given"
  | "left"
  | "moved"
  | "size"
  | "mode"
  | "sourceVersion";

/** Returns the mark for a fact of a step. No path or version contains a NUL. */
export function markOf<T>(fact: MarkedFact, step: number): T {
  return `\0${fact}:${step}` as T;
}

/** The mark for the moment of the commit. The record has a number in its place. */
export const UNKNOWN_MOMENT: number = "\0moment" as unknown as number;
