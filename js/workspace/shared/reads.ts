/**
 * The entries of what each agent has read, as shared records of a storage: one record for each agent and file.
 *
 * The entries of a call that changes files are part of its commit, as far as they are known by then. All others are
 * written before the call is answered, in one commit without changes of files. The records are read only when this
 * process does not know enough to allow a change. So the guard holds across replicas, and a call at the replica that
 * served the last one reads no records.
 */
import type { LineRange } from "../../tools/lib/line-ranges.ts";
import { type HeldNote, mergedSeenFile, type SeenFile } from "../../tools/lib/seen.ts";
import type { NotesInCommit, ReadStore } from "../../pipeline/past/reads.ts";
import { isWithin } from "../../backends/paths.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { RecordOp, Records, Storage } from "../../storage/storage.ts";
import { namePart } from "./names.ts";

/** The lifetime of an entry. A file that was read longer ago counts as unread. */
const READ_LASTS_MS = 7 * 24 * 60 * 60 * 1000;
/** The maximum number of attempts to merge an entry. An attempt fails when another replica changes the record first. */
const MAX_MERGES = 5;
const RECORDS_PER_PAGE = 1000;
/** The maximum number of written entries that are remembered. An equal entry is not written again. */
const MAX_WRITTEN = 10_000;

/** An entry as it is stored, with its path: the name of the record has only the hash of a long path. */
type StoredRead = SeenFile & { readonly path: string };

/** Creates the store that keeps what the agents of a workspace have read in the records of its storage. */
export function recordReads(storage: RecordStorage, scope: string): ReadStore {
  return new RecordReads(storage, scope);
}

/** A storage that has records. */
export type RecordStorage = Pick<Storage, "commit"> & { readonly records: Records };

/** The entries of one agent that are not written yet. */
interface PendingReads {
  /** The kind of the agent's records. */
  readonly kind: string;
  /** The entries by path. With `replaces`, an entry overwrites the stored one; otherwise it is merged into it. */
  readonly entries: Map<string, { readonly file: SeenFile | undefined; readonly replaces: boolean }>;
}

class RecordReads implements ReadStore {
  readonly #storage: RecordStorage;
  readonly #scope: string;
  readonly #pending = new Map<string, PendingReads>();
  /** The entry that this process wrote last, as JSON, by kind and path. */
  readonly #written = new Map<string, string>();
  #flushing: Promise<void> | undefined;

  constructor(storage: RecordStorage, scope: string) {
    this.#storage = storage;
    this.#scope = scope;
  }

  /** Loads nothing: an agent may have read many files, so `recall` reads each entry when it is needed. */
  async load(): Promise<Iterable<readonly [string, SeenFile]>> {
    return [];
  }

  note(agent: string, path: string, file: SeenFile | undefined): void {
    let pending = this.#pending.get(agent);
    if (pending === undefined) {
      pending = { kind: this.#kindOf(agent), entries: new Map() };
      this.#pending.set(agent, pending);
    }
    // What follows a pending removal must not be merged with the stored entry, which the removal was to delete.
    const replaces = file === undefined || pending.entries.get(path)?.replaces === true;
    pending.entries.set(path, { file, replaces });
  }

  async recall(agent: string, path: string): Promise<SeenFile | undefined> {
    // Another call of this process may have pending entries, which have to be in the records first.
    await this.settled();
    const found = await this.#storage.records.get(this.#kindOf(agent), namePart(path));
    return found === null ? undefined : (found.value as StoredRead);
  }

  async recallBelow(agent: string, path: string): Promise<Iterable<readonly [string, SeenFile]>> {
    const [kind, found] = [this.#kindOf(agent), [] as [string, SeenFile][]];
    const own = await this.recall(agent, path);
    if (own !== undefined) found.push([path, own]);
    const prefix = path === "/" ? "/" : `${path}/`;
    // The list is sorted by code points, so the names with the prefix follow it without a gap. The names of long paths
    // are hashes, which do not show what they are below: all of them are listed, and their paths are compared.
    for (const [from, isInRange] of [
      [prefix, (id: string) => id.startsWith(prefix)],
      [HASH_MARK, (id: string) => id.startsWith(HASH_MARK)],
    ] as const) {
      for (let after: string | undefined = from; after !== undefined; ) {
        const page = await this.#storage.records.list(kind, { after, limit: RECORDS_PER_PAGE });
        const inRange = page.filter(({ id }) => isInRange(id));
        for (const { value } of inRange) {
          const { path: at, ...file } = value as StoredRead;
          if (isWithin(at, path)) found.push([at, file]);
        }
        after = inRange.length === RECORDS_PER_PAGE ? inRange.at(-1)?.id : undefined;
      }
    }
    return found;
  }

  inCommit(agent: string, notes: readonly HeldNote[]): NotesInCommit {
    const kind = this.#kindOf(agent);
    const ops: RecordOp[] = [];
    const paths: string[] = [];
    for (const { path, file, replaces } of notes) {
      const id = namePart(path);
      // The commit itself gives the file its version, so an entry is stored here with its hash alone. Entries without a
      // hash, and entries that have to be merged, stay pending until `settled`.
      if (file === undefined) ops.push({ kind, id, remove: true });
      else if (!replaces || file.hash === undefined) continue;
      else ops.push({ kind, id, put: toStored(path, { ...file, version: undefined }), forMs: READ_LASTS_MS });
      paths.push(path);
    }
    const committed = (): void => {
      const entries = this.#pending.get(agent)?.entries;
      for (const path of paths) {
        const noted = entries?.get(path);
        if (noted === undefined) continue;
        entries?.delete(path);
        this.#written.set(`${kind}\0${path}`, JSON.stringify(noted.file ?? null));
      }
      if (entries?.size === 0) this.#pending.delete(agent);
    };
    return { ops, committed };
  }

  settled(): Promise<void> | undefined {
    if (this.#pending.size === 0) return this.#flushing;
    const before = this.#flushing;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    const flushing = (async () => {
      await before;
      for (const ofAgent of pending) await this.#flush(ofAgent);
    })()
      // Without a stored entry, other replicas take the file for unread, which is safe.
      .catch(() => undefined)
      .finally(() => {
        if (this.#flushing === flushing) this.#flushing = undefined;
      });
    this.#flushing = flushing;
    return flushing;
  }

  async close(): Promise<void> {
    await this.settled();
  }

  async #flush({ kind, entries }: PendingReads): Promise<void> {
    const ops: RecordOp[] = [];
    const done: [string, string][] = [];
    for (const [path, { file, replaces }] of entries) {
      const id = namePart(path);
      const [key, json] = [`${kind}\0${path}`, JSON.stringify(file ?? null)];
      // A removal has no version, so it is always written: another replica may have stored an entry since.
      if (this.#written.get(key) === json && file?.version !== undefined) continue;
      if (file === undefined) ops.push({ kind, id, remove: true });
      else if (file.lines === undefined || replaces)
        ops.push({ kind, id, put: toStored(path, file), forMs: READ_LASTS_MS });
      else await this.#merge(kind, id, path, file);
      done.push([key, json]);
    }
    if (ops.length > 0) await this.#storage.commit([], { records: ops });
    for (const [key, json] of done) {
      this.#written.delete(key);
      this.#written.set(key, json);
    }
    while (this.#written.size > MAX_WRITTEN)
      this.#written.delete(this.#written.keys().next().value as string);
  }

  /** Adds the lines that were read to the stored ones if both are of the same content; otherwise replaces the entry. */
  async #merge(kind: string, id: string, path: string, file: SeenFile): Promise<void> {
    const { records } = this.#storage;
    for (let attempt = 1; ; attempt++) {
      const stored = await records.get(kind, id);
      const merged = stored === null ? file : mergedSeenFile(stored.value as SeenFile, file);
      try {
        await records.put(kind, id, toStored(path, merged), {
          expect: stored?.rev ?? null,
          forMs: READ_LASTS_MS,
        });
        return;
      } catch (error) {
        const isStale = error instanceof FilewrightError && error.code === "CONFLICT";
        if (!isStale || attempt === MAX_MERGES) throw error;
      }
    }
  }

  #kindOf(agent: string): string {
    return `reads ${this.#scope} ${namePart(agent)}`;
  }
}

/** The first character of the names that are hashes, as `namePart` makes them. No path begins with it. */
const HASH_MARK = "#";

function toStored(path: string, { version, hash, lines }: SeenFile): StoredRead {
  const read: { version?: string; hash?: string; lines?: readonly LineRange[] } = {};
  if (version !== undefined) read.version = version;
  if (hash !== undefined) read.hash = hash;
  if (lines !== undefined) read.lines = lines.length > MAX_STORED_RANGES ? [] : lines;
  return { path, ...read };
}

/**
 * The maximum number of line ranges of a stored entry, because a record has at most 64 KiB. An entry with more ranges
 * is stored without any, so that no line counts as read.
 */
const MAX_STORED_RANGES = 2000;
