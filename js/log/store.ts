/**
 * The stores of the records of a log, which hosts know as journals: in memory here, in files in `store.node.ts`. A store
 * does not interpret the records.
 */
import type { PlaceOfRecord } from "../backends/transaction/recorded-list.ts";
import { concatBytes } from "../engine/wire/bytes.ts";
import { callback, instance, type Options, required } from "../schema/option.ts";
import {
  type RecordEntry,
  type EncodedRecordEntry,
  fromFrame,
  toFrame,
} from "../backends/transaction/step.ts";

/** The record of one change, while it is written. */
export interface OpenRecord {
  /** Adds an entry. Returns when it survives the end of the process; with `durable`, a loss of power. */
  append(entry: RecordEntry, durable: boolean): void | Promise<void>;
  /** Closes the record: keeps it in the history of `group`, or removes it when `group` is null. */
  close(group: string | null): void | Promise<void>;
}

/** The record of a change in a file that the disk writes, together with the change. */
export interface RecordOnDisk {
  readonly place: PlaceOfRecord;
  /** Returns the entries that the disk has written, with their contents: as many as are authentic. */
  read(): readonly RecordEntry[];
  /** Ends the record, as {@link OpenRecord.close} does. Nothing is appended to it. */
  close(group: string | null): void;
}

/** A store whose records are files. */
export interface RecordFiles {
  /** Begins a record that is not written by the store. */
  beginFile(id: string): RecordOnDisk;
}

/** A record that was read. */
export interface StoredRecord {
  /** The authentic entries, up to the first damage. */
  readonly entries: readonly RecordEntry[];
  /** True when another program wrote to the record, or the disk lost a part of it. */
  readonly damaged: boolean;
  /** Closes an unfinished record, as {@link OpenRecord.close} does. */
  close(group: string | null): void | Promise<void>;
  /** Gives up an unfinished record, so that another process can take it. */
  leave(): void;
}

/** A store of records. A group is the history of one working directory. */
export interface JournalStore {
  /** Begins the record of a change. */
  begin(id: string): OpenRecord | Promise<OpenRecord>;
  /** Returns the records of changes whose writers have ended without closing them. */
  unfinished(): readonly StoredRecord[] | Promise<readonly StoredRecord[]>;
  /** Returns the records of a group, the newest first, without contents. */
  history(group: string): readonly StoredRecord[] | Promise<readonly StoredRecord[]>;
  /** Returns one record of a group; null when there is none. */
  find(group: string, id: string): StoredRecord | null | Promise<StoredRecord | null>;
  /**
   * Returns the time in milliseconds since 1970 of the newest change whose record was removed because the group has
   * too many; undefined when none was. A store without this method keeps every record, or is taken for one that does:
   * a rewind past what it removed does not say that changes are missing.
   */
  prunedUntil?(group: string): number | undefined | Promise<number | undefined>;
}

/** The description of a store of records: any object with these methods. */
export const JOURNAL_STORE: Options<JournalStore> = instance<JournalStore>(
  "JournalStore",
  "a store of a journal",
  {
    begin: required(callback()),
    unfinished: required(callback()),
    history: required(callback()),
    find: required(callback()),
    prunedUntil: callback(),
  },
);

/** The maximum number of records that are kept for one group. The oldest are removed. */
export const MAX_RECORDS_PER_GROUP = 200;

/** The maximum total size of the records that are kept for one group, in bytes. The oldest are removed. */
export const MAX_BYTES_PER_GROUP: number = 128 * 1024 * 1024;

/** A journal in memory. Its records are lost with the object. */
export class MemoryJournal implements JournalStore {
  readonly #groups = new Map<string, Map<string, readonly EncodedRecordEntry[]>>();
  readonly #prunedUntil = new Map<string, number>();

  begin(id: string): OpenRecord {
    const frames: EncodedRecordEntry[] = [];
    return {
      append: (entry) => {
        // A copy: the caller may reuse its buffers.
        const { json, blobs } = toFrame(entry);
        frames.push({ json, blobs: blobs.map((blob) => blob.slice()) });
      },
      close: (group) => {
        if (group !== null) this.#keep(group, id, frames);
      },
    };
  }
  unfinished(): readonly StoredRecord[] {
    return []; // Records are lost with the process, so nothing is unfinished.
  }
  history(group: string): readonly StoredRecord[] {
    return [...(this.#groups.get(group) ?? [])].reverse().map(([, frames]) => toStoredRecord(frames));
  }
  find(group: string, id: string): StoredRecord | null {
    const frames = this.#groups.get(group)?.get(id);
    return frames === undefined ? null : toStoredRecord(frames);
  }
  prunedUntil(group: string): number | undefined {
    return this.#prunedUntil.get(group);
  }

  #keep(group: string, id: string, frames: readonly EncodedRecordEntry[]): void {
    const kept = this.#groups.get(group) ?? new Map<string, readonly EncodedRecordEntry[]>();
    this.#groups.set(group, kept.set(id, frames));
    let bytes = [...kept.values()].reduce((sum, each) => sum + bytesOfFrames(each), 0);
    for (const [oldest, each] of kept) {
      if (kept.size <= MAX_RECORDS_PER_GROUP && bytes <= MAX_BYTES_PER_GROUP) break;
      bytes -= bytesOfFrames(each);
      kept.delete(oldest);
      const end = JSON.parse(each.at(-1)?.json ?? "{}") as { readonly at?: number };
      this.#prunedUntil.set(group, Math.max(this.#prunedUntil.get(group) ?? 0, end.at ?? Date.now()));
    }
  }
}

function bytesOfFrames(frames: readonly EncodedRecordEntry[]): number {
  return frames.reduce(
    (sum, { json, blobs }) => sum + json.length + blobs.reduce((inner, blob) => inner + blob.length, 0),
    0,
  );
}

function toStoredRecord(frames: readonly EncodedRecordEntry[]): StoredRecord {
  const entries = frames.map(({ json, blobs }) => fromFrame(json, concatBytes(blobs)) as RecordEntry);
  return { entries, damaged: false, close: () => undefined, leave: () => undefined };
}
