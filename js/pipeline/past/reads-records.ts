/**
 * The entries of what each agent has read, as records: one record for each agent and file.
 *
 * In the records of a storage the entries of a call that changes files are part of its commit, as far as they are known
 * by then. All others are written before the call is answered, in one commit without changes of files. The records are read only when this
 * process does not know enough to allow a change. So the guard holds across replicas, and a call at the replica that
 * served the last one reads no records.
 */
import type { LineRange } from "../../tools/lib/line-ranges.ts";
import { type HeldNote, mergedSeenFile, type SeenFile } from "../../tools/lib/seen.ts";
import { isWithin } from "../../backends/paths.ts";
import { HASH_MARK, namePart } from "../../records/names.ts";
import { changeRecord, type KeptRecords, listAll, type RecordOp } from "../../records/records.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";

/** The lifetime of an entry. A file that was read longer ago counts as unread. */
const READ_LASTS_MS = 7 * 24 * 60 * 60 * 1000;
/** The maximum number of written entries that are remembered. An equal entry is not written again. */
const MAX_WRITTEN = 10_000;

/** An entry as it is stored, with its path: the name of the record has only the hash of a long path. */
export type StoredRead = SeenFile & { readonly path: string };

/** The records of what the agents of a workspace have read. */
export interface ReadPlace {
  readonly records: KeptRecords;
  /**
   * True where several processes change the records at once: they are read when they are needed, and written before a
   * call is answered. Those of one process are read once, and written meanwhile.
   */
  readonly isShared: boolean;
  /** Returns the kind of the records of an agent. */
  kindOf(agent: string): string;
  /**
   * Makes several changes of these records at once, for those of a storage: the commit of a change of files can then
   * carry its notes. Undefined for others, whose records are changed one by one.
   */
  readonly commit?: ((ops: readonly RecordOp[]) => Promise<unknown>) | undefined;
  /** Writes what is pending, and closes the records. */
  close?(): Promise<void>;
}

/** The notes of a change about what it has seen, as a part of its commit. */
export interface NotesInCommit {
  readonly ops: readonly RecordOp[];
  /** To be called when the commit is made, and its entries were noted. */
  committed(): void;
}

/** The entries of one agent that are not written yet. */
interface PendingReads {
  /** The kind of the agent's records. */
  readonly kind: string;
  /** The entries by path. With `replaces`, an entry overwrites the stored one; otherwise it is merged into it. */
  readonly entries: Map<string, { readonly file: SeenFile | undefined; readonly replaces: boolean }>;
}

/** What the agents of a workspace have read, in the records that it shares. */
export class SharedReads {
  readonly #place: ReadPlace;
  readonly #pending = new Map<string, PendingReads>();
  /** The entry that this process wrote last, as JSON, by kind and path. */
  readonly #written = new Map<string, string>();
  #flushing: Promise<void> | undefined;

  constructor(place: ReadPlace) {
    this.#place = place;
  }

  /** Notes one entry; undefined removes it. It is written by `settled`. */
  note(agent: string, path: string, file: SeenFile | undefined): void {
    let pending = this.#pending.get(agent);
    if (pending === undefined) {
      pending = { kind: this.#place.kindOf(agent), entries: new Map() };
      this.#pending.set(agent, pending);
    }
    // What follows a pending removal must not be merged with the stored entry, which the removal was to delete.
    const replaces = file === undefined || pending.entries.get(path)?.replaces === true;
    pending.entries.set(path, { file, replaces });
  }

  /** Returns the present entry of a path. */
  async recall(agent: string, path: string): Promise<SeenFile | undefined> {
    // Another call of this process may have pending entries, which have to be in the records first.
    await this.settled();
    const found = await this.#place.records.get(this.#place.kindOf(agent), namePart(path));
    const read = readOf(found?.value);
    return read?.path === path ? read.file : undefined;
  }

  /** Returns the present entries at and below a path. */
  async recallBelow(agent: string, path: string): Promise<Iterable<readonly [string, SeenFile]>> {
    const [kind, found] = [this.#place.kindOf(agent), [] as (readonly [string, SeenFile])[]];
    const own = await this.recall(agent, path);
    if (own !== undefined) found.push([path, own]);
    const prefix = path === "/" ? "/" : `${path}/`;
    // The list is sorted by code points, so the names with the prefix follow it without a gap. The names of long paths
    // are hashes, which do not show what they are below: all of them are listed, and their paths are compared.
    for (const [from, isInRange] of [
      [prefix, (id: string) => id.startsWith(prefix)],
      [HASH_MARK, (id: string) => id.startsWith(HASH_MARK)],
    ] as const) {
      for (const { value } of await listAll(this.#place.records, kind, from, isInRange)) {
        const read = readOf(value);
        if (read !== undefined && isWithin(read.path, path)) found.push([read.path, read.file]);
      }
    }
    return found;
  }

  /** Returns the notes of a change as a part of its commit; undefined where a commit does not change the records. */
  inCommit(agent: string, notes: readonly HeldNote[]): NotesInCommit | undefined {
    if (this.#place.commit === undefined) return undefined;
    const kind = this.#place.kindOf(agent);
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

  /** Resolves when other processes can recall all noted entries: a call is answered then. */
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

  async #flush({ kind, entries }: PendingReads): Promise<void> {
    const ops: ReadOp[] = [];
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
    await this.#change(ops);
    for (const [key, json] of done) {
      this.#written.delete(key);
      this.#written.set(key, json);
    }
    while (this.#written.size > MAX_WRITTEN)
      this.#written.delete(this.#written.keys().next().value as string);
  }

  async #change(ops: readonly ReadOp[]): Promise<void> {
    const { records, commit } = this.#place;
    if (commit === undefined) for (const op of ops) await changeOne(records, op);
    else if (ops.length > 0) await commit(ops);
  }

  /** Adds the lines that were read to the stored ones if both are of the same content; otherwise replaces the entry. */
  async #merge(kind: string, id: string, path: string, file: SeenFile): Promise<void> {
    await changeRecord(this.#place.records, kind, id, (value) => {
      const stored = readOf(value)?.file;
      const merged = stored === undefined ? file : mergedSeenFile(stored, file);
      return { value: toStored(path, merged), forMs: READ_LASTS_MS };
    });
  }
}

/** A change of the record of a file. */
type ReadOp = Exclude<RecordOp, { readonly add: number }>;

async function changeOne(records: KeptRecords, op: ReadOp): Promise<void> {
  if ("put" in op) await records.put(op.kind, op.id, op.put, { forMs: op.forMs });
  else await records.remove(op.kind, op.id);
}

/** Returns an entry as it is stored. */
export function toStored(path: string, { version, hash, lines }: SeenFile): StoredRead {
  const stored = lines !== undefined && lines.length > MAX_STORED_RANGES ? [] : lines;
  return withoutUndefined({ path, version, hash, lines: stored });
}

/** Returns the entry of a stored value; undefined for a value that is none, so that the file counts as unread. */
export function readOf(value: unknown): { readonly path: string; readonly file: SeenFile } | undefined {
  const { path, version, hash, lines } = Object(value) as Readonly<Record<string, unknown>>;
  if (typeof path !== "string" || (typeof version !== "string" && typeof hash !== "string")) return undefined;
  const file = withoutUndefined({
    version: typeof version === "string" ? version : undefined,
    hash: typeof hash === "string" ? hash : undefined,
    // Lines in an unknown form count as unread.
    lines: lines === undefined || isRangeList(lines) ? lines : [],
  });
  return { path, file };
}

function isRangeList(value: unknown): value is readonly LineRange[] {
  const isRange = (one: unknown): boolean =>
    Array.isArray(one) && one.length === 2 && one.every((line) => Number.isSafeInteger(line));
  return Array.isArray(value) && value.every(isRange);
}

/**
 * The maximum number of line ranges of a stored entry, because a record has at most 64 KiB. An entry with more ranges
 * is stored without any, so that no line counts as read.
 */
const MAX_STORED_RANGES = 2000;
