/**
 * Where a journal keeps its records: in memory here, in files in
 * `store.node.ts`. A store knows nothing of what the records mean.
 */
import { type Entry, type Frame, fromFrame, toFrame } from "../backends/transaction/step.ts";

/** The record of one change, while it is written. */
export interface Log {
  /** Returns once the record survives the end of the process; with `durable`, a power cut. */
  append(entry: Entry, durable: boolean): void | Promise<void>;
  /** Ends it: kept for `group`'s history, or forgotten where there is none. */
  close(group: string | null): void | Promise<void>;
}

/** A record that was read. */
export interface StoredLog {
  /** Those that are ours, up to the damage where there is one. */
  readonly entries: readonly Entry[];
  /** Whether somebody else has written in it, or the disk has lost a part. */
  readonly damaged: boolean;
  /** Ends an unfinished record, as {@link Log.close} does. */
  close(group: string | null): void | Promise<void>;
  /** Leaves an unfinished record to others. */
  leave(): void;
}

/** A place for records. */
export interface JournalStore {
  /** Begins the record of a change. */
  begin(id: string): Log | Promise<Log>;
  /** The records of changes that whoever made them did not end, and will not: it is gone. */
  unfinished(): readonly StoredLog[] | Promise<readonly StoredLog[]>;
  /** The records of a group, the newest first, without contents. */
  history(group: string): readonly StoredLog[] | Promise<readonly StoredLog[]>;
  /** One record of a group. */
  find(group: string, id: string): StoredLog | null | Promise<StoredLog | null>;
}

/** How many records of one group are kept. */
export const KEPT_RECORDS = 200;

/** How many bytes of records of one group are kept. */
export const KEPT_BYTES: number = 128 * 1024 * 1024;

/** A journal that lives as long as the object. */
export class MemoryJournal implements JournalStore {
  readonly #groups = new Map<string, Map<string, readonly Frame[]>>();

  begin(id: string): Log {
    const frames: Frame[] = [];
    return {
      append: (entry) => {
        // A copy: the caller may use its buffers again.
        const { json, blobs } = toFrame(entry);
        frames.push({ json, blobs: blobs.map((blob) => blob.slice()) });
      },
      close: (group) => {
        if (group !== null) this.#keep(group, id, frames);
      },
    };
  }
  unfinished(): readonly StoredLog[] {
    return []; // What is lost with the process leaves nothing to finish.
  }
  history(group: string): readonly StoredLog[] {
    return [...(this.#groups.get(group) ?? [])].reverse().map(([, frames]) => stored(frames));
  }
  find(group: string, id: string): StoredLog | null {
    const frames = this.#groups.get(group)?.get(id);
    return frames === undefined ? null : stored(frames);
  }

  #keep(group: string, id: string, frames: readonly Frame[]): void {
    const kept = this.#groups.get(group) ?? new Map<string, readonly Frame[]>();
    this.#groups.set(group, kept.set(id, frames));
    let bytes = [...kept.values()].reduce((sum, each) => sum + sizeOf(each), 0);
    for (const [oldest, each] of kept) {
      if (kept.size <= KEPT_RECORDS && bytes <= KEPT_BYTES) break;
      bytes -= sizeOf(each);
      kept.delete(oldest);
    }
  }
}

function sizeOf(frames: readonly Frame[]): number {
  return frames.reduce(
    (sum, { json, blobs }) => sum + json.length + blobs.reduce((inner, blob) => inner + blob.length, 0),
    0,
  );
}

function stored(frames: readonly Frame[]): StoredLog {
  const entries = frames.map(({ json, blobs }) => fromFrame(json, joined(blobs)) as Entry);
  return { entries, damaged: false, close: () => undefined, leave: () => undefined };
}

/** Several buffers as one. */
function joined(blobs: readonly Uint8Array[]): Uint8Array {
  const [only] = blobs;
  if (only !== undefined && blobs.length === 1) return only;
  const whole = new Uint8Array(blobs.reduce((sum, blob) => sum + blob.length, 0));
  let at = 0;
  for (const blob of blobs) {
    whole.set(blob, at);
    at += blob.length;
  }
  return whole;
}
