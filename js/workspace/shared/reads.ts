/**
 * What each agent has read, as records of a storage: one for each file. They are written before a call is answered,
 * in one commit without changes of files, and read when this process does not know enough to allow a change. So the
 * guard holds across replicas, and a call at the replica that served the last one reads nothing.
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
/** How often an entry is merged again because another replica changed it at the same moment. */
const MAX_MERGES = 5;
const RECORDS_PER_PAGE = 1000;
/** The maximum number of entries that are remembered as written, so that they are not written again. */
const MAX_WRITTEN = 10_000;

/** An entry as it is stored. The path is there because the name of the record can be its hash. */
type StoredRead = SeenFile & { readonly path: string };

/** Returns the record of reads of a workspace in the records of its storage. */
export function recordReads(storage: RecordStorage, scope: string): ReadStore {
  return new RecordReads(storage, scope);
}

/** A storage that has records. */
export type RecordStorage = Pick<Storage, "commit"> & { readonly records: Records };

/** The entries of one agent that are not written yet. */
interface PendingReads {
  readonly kind: string;
  readonly entries: Map<string, { readonly file: SeenFile | undefined; readonly replaces: boolean }>;
}

class RecordReads implements ReadStore {
  readonly #storage: RecordStorage;
  readonly #scope: string;
  readonly #pending = new Map<string, PendingReads>();
  /** What was written last, by kind and path, as JSON. */
  readonly #written = new Map<string, string>();
  #flushing: Promise<void> | undefined;

  constructor(storage: RecordStorage, scope: string) {
    this.#storage = storage;
    this.#scope = scope;
  }

  async load(): Promise<Iterable<readonly [string, SeenFile]>> {
    return [];
  }

  note(agent: string, path: string, file: SeenFile | undefined): void {
    let pending = this.#pending.get(agent);
    if (pending === undefined) {
      pending = { kind: this.#kindOf(agent), entries: new Map() };
      this.#pending.set(agent, pending);
    }
    const replaces = file === undefined || pending.entries.get(path)?.replaces === true;
    pending.entries.set(path, { file, replaces });
  }

  async recall(agent: string, path: string): Promise<SeenFile | undefined> {
    // What another call of this process has noted meanwhile counts.
    await this.settled();
    const found = await this.#storage.records.get(this.#kindOf(agent), namePart(path));
    return found === null ? undefined : (found.value as StoredRead);
  }

  async recallBelow(agent: string, path: string): Promise<Iterable<readonly [string, SeenFile]>> {
    const [kind, found] = [this.#kindOf(agent), [] as [string, SeenFile][]];
    const own = await this.recall(agent, path);
    if (own !== undefined) found.push([path, own]);
    const prefix = path === "/" ? "/" : `${path}/`;
    // Names are sorted by code points, and `0` follows `/`. Long paths, whose names are hashes, come before all.
    for (const [from, isAmong] of [
      [prefix, (id: string) => id.startsWith(prefix)],
      [HASH_MARK, (id: string) => id.startsWith(HASH_MARK)],
    ] as const) {
      for (let after: string | undefined = from; after !== undefined; ) {
        const page = await this.#storage.records.list(kind, { after, limit: RECORDS_PER_PAGE });
        const among = page.filter(({ id }) => isAmong(id));
        for (const { value } of among) {
          const { path: at, ...file } = value as StoredRead;
          if (isWithin(at, path)) found.push([at, file]);
        }
        after = among.length === RECORDS_PER_PAGE ? among.at(-1)?.id : undefined;
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
      // The version is not known before the commit, so an entry without a hash is written after it.
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
      for (const one of pending) await this.#flush(one);
    })()
      // An entry that is not stored only makes a file count as unread elsewhere, which is safe.
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

  /** Adds the lines that were read to those that other replicas have noted for the same content. */
  async #merge(kind: string, id: string, path: string, file: SeenFile): Promise<void> {
    const { records } = this.#storage;
    for (let attempt = 1; ; attempt++) {
      const there = await records.get(kind, id);
      const merged = there === null ? file : mergedSeenFile(there.value as SeenFile, file);
      try {
        await records.put(kind, id, toStored(path, merged), {
          expect: there?.rev ?? null,
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

/** The first character of a name that is a hash. It sorts before every path. */
const HASH_MARK = "#";

function toStored(path: string, { version, hash, lines }: SeenFile): StoredRead {
  const read: { version?: string; hash?: string; lines?: readonly LineRange[] } = {};
  if (version !== undefined) read.version = version;
  if (hash !== undefined) read.hash = hash;
  if (lines !== undefined) read.lines = lines.length > MAX_STORED_RANGES ? [] : lines;
  return { path, ...read };
}

/** The maximum number of ranges of lines of an entry, which is a small record. Beyond it no line counts as read. */
const MAX_STORED_RANGES = 2000;
