/**
 * A write that a backend makes together with the record of the change, in one step. A journal that keeps its records in
 * files uses it for a change that is one written file; its record is that of the same change made by steps.
 */
import type { NativeRecordFiles } from "../../engine/generated/binding.ts";
import type { WriteOptions, WriteResult } from "../backend.ts";

/** Writes the one file of a change. */
export type PutFile = (path: string, bytes: Uint8Array, options: WriteOptions) => Promise<WriteResult>;

/** The place of a record that a journal has begun: one of the files of a writer. */
export interface PlaceOfRecord {
  readonly files: NativeRecordFiles;
  readonly number: number;
}

/** The record of a written file, as the journal has prepared it. */
interface PreparedRecord {
  readonly place: PlaceOfRecord;
  readonly id: string;
  /** The JSON of the first entry. */
  readonly begin: string;
  /** The JSON of the step. */
  readonly steps: string;
  /** The content of the entry of the step: that of the file before. */
  readonly content: Uint8Array;
  /** The JSON of the last entry, with {@link UNKNOWN_RESULT} and {@link UNKNOWN_MOMENT} for what the write gives. */
  readonly commit: string;
  /** True when each entry is flushed to the disk. */
  readonly durable: boolean;
  /** The moment after which the commit is, in milliseconds since 1970. */
  readonly last: number;
}

/** A file that was written with its record. */
interface RecordedWriteResult {
  readonly written: WriteResult;
  /** The moment of the commit in milliseconds since 1970; null for a record without its end, which must be removed. */
  readonly moment: number | null;
}

/**
 * Writes a file at its real path, and its record: what is known before the file changes, and then the rest. An error
 * with the reason `record` means that nothing has changed, because the change could not be recorded. After any error the
 * file of the record may exist.
 */
export type RecordedWrite = (
  path: string,
  bytes: Uint8Array,
  options: WriteOptions,
  record: PreparedRecord,
) => Promise<RecordedWriteResult>;

/** The placeholder for the result of the write, while it is not known. No path or version contains a NUL. */
export const UNKNOWN_RESULT: { readonly version: string; readonly fileId: string } = Object.freeze({
  version: "\0version",
  fileId: "\0fileId",
});

/** The placeholder for the moment of the commit. The record has a number in its place. */
export const UNKNOWN_MOMENT: number = "\0moment" as unknown as number;
