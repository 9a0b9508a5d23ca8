/**
 * The stage of one call over a storage: it reads in one round trip what the call names, keeps the changes of the call
 * to itself, and makes all of them by one commit, on the condition that what the call has read is still there.
 *
 * A stage is a storage to the backend above it. Outside of a change, a commit through it is made at once.
 */
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { LockHandle, LockOptions } from "../../backends/backend.ts";
import type { Stage } from "../../backends/transaction/stage.ts";
import { backendError } from "../../backends/failure.ts";
import { compareCodePoints, movedPath } from "../../backends/paths.ts";
import { commitSurely } from "../backend/changes.ts";
import type { Contention } from "../backend/contention.ts";
import type { LockPaths, PathsHandle } from "../backend/leases.ts";
import type { StorageView } from "../backend/look.ts";
import { unmetBy } from "../check.ts";
import { conflictError } from "../failure.ts";
import type {
  Actor,
  Committed,
  CommitOptions,
  Entry,
  EntryPage,
  Expect,
  ListRequest,
  Op,
  ReadEntry,
  ReadMany,
  ReadManyOptions,
  RecordOp,
  UnmetExpect,
  Version,
} from "../storage.ts";
import { StagedDraft } from "./draft.ts";
import { type Found, MAX_NAMED_BYTES, pageOf, type PathToRead, StagedReads } from "./reads.ts";

/** The size from which a content is hashed on another thread. */
const MIN_ASYNC_HASH_BYTES = 1024 * 1024;

/** What the commit of a stage says besides its changes. */
export interface StageCommit {
  /** The idempotency key: a commit whose answer was lost is repeated with it. */
  readonly key: string;
  readonly actor: Actor;
  /** Shared records that change in the same moment. */
  readonly records?: readonly RecordOp[] | undefined;
  /** Conditions besides those of what was read. */
  readonly expect?: readonly Expect[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Changes of shared records that wait for the commit of a call. */
export interface StagedRecords {
  readonly ops: readonly RecordOp[];
  /** Called when they are made. */
  committed(): void;
}

/** What the stages of a storage share in a process, and how one of them begins. */
export interface StageOptions {
  readonly contention: Contention;
  /** Undefined where the engine has no locks. */
  readonly lock: LockPaths | undefined;
  /** False when the call has to read what it could assume. */
  readonly mayAssume: boolean;
}

/** The stage of one call. */
export class CallStage implements Stage, StorageView {
  readonly #storage: StorageView;
  readonly #contention: Contention;
  readonly #lock: LockPaths | undefined;
  readonly #reads: StagedReads;
  readonly #draft = new StagedDraft();
  /** The stored path at which each content was seen, for copies that are read before they are committed. */
  readonly #placeOfHash = new Map<string, string>();
  /** The contents that the call writes, by their hashes. */
  readonly #written = new Map<string, Uint8Array>();
  /** The versions that a commit gave to drafted files. */
  readonly #given = new Map<string, Version>();
  /** Shared records that the commit of the call changes with its files. */
  #records: readonly StagedRecords[] = [];
  /** The token of the locks that the next commit ends. */
  #token: bigint | undefined;
  #isDrafting = false;
  #isEnded = false;
  #hasAssumed = false;
  /** False when the call has to read what it could assume. */
  readonly mayAssume: boolean;

  constructor(storage: StorageView, { contention, lock, mayAssume }: StageOptions) {
    this.mayAssume = mayAssume;
    this.#storage = storage;
    this.#contention = contention;
    this.#lock = lock;
    this.#reads = new StagedReads(storage);
  }

  /** True while the call has changes that are not committed. */
  get isChanged(): boolean {
    return !this.#draft.isEmpty;
  }

  /** Names what the call is about: it is read with the first read, and trees are listed as a whole. */
  name(paths: Iterable<PathToRead>, trees: readonly string[] = []): void {
    this.#reads.name(paths);
    this.#reads.nameTrees(trees);
  }

  /** Takes states as given, without a read. The commit fails with CONFLICT if one is another. */
  assume(states: Iterable<readonly [path: string, entry: Entry | null]>): void {
    this.#hasAssumed = true;
    for (const [path, entry] of states) this.#reads.assume(path, entry);
  }

  /** True when the call was decided on states that were not read: after a conflict it begins again. */
  get hasAssumed(): boolean {
    return this.#hasAssumed;
  }

  /** Returns true when this process has committed another state of what the call has read. */
  isOutdated(): boolean {
    for (const [path, found, at] of this.#reads.seen()) {
      if (found instanceof FilewrightError) continue;
      if (this.#contention.isNewer(path, found?.entry.version ?? null, at)) return true;
    }
    return false;
  }

  /** Forgets what was read, so that the call sees the present state. */
  refresh(): void {
    this.#reads.refresh();
    this.#placeOfHash.clear();
  }

  /** Ends the stage: from now on it reads and changes the storage itself. */
  end(): void {
    this.#isEnded = true;
    this.#draft.clear();
  }

  /** Adds changes of shared records to the commit of the call, such as a budget that it spends. */
  record(records: StagedRecords): void {
    this.#records = [...this.#records, records];
  }

  /** Returns the version of a file once it is committed, for the version that it had as a draft. */
  committedVersion(version: string | undefined): string | undefined {
    return version === undefined ? undefined : (this.#given.get(version) ?? version);
  }

  /** False when no path can have to be locked. */
  get mayHaveToLock(): boolean {
    return this.#lock !== undefined && this.#contention.isAny;
  }

  /** Returns true when a path has met a conflict of late and the engine can lock it for all replicas. */
  mustLock(paths: readonly string[]): boolean {
    return this.#lock !== undefined && paths.some((path) => this.#contention.isContended(path));
  }

  /**
   * Locks paths for all replicas and reads what the call has seen or names, in one round trip where the engine can. The
   * commit of the call ends the locks. An `optimistic` lock is skipped, unless one of the paths has met a conflict of
   * late. @throws LOCK_TIMEOUT, CANCELLED
   */
  async lock(paths: readonly string[], options: LockOptions): Promise<LockHandle> {
    const wanted =
      options.optimistic === true ? paths.filter((path) => this.#contention.isContended(path)) : paths;
    if (wanted.length === 0 || this.#lock === undefined) return { skipped: true, release: () => {} };
    // States that the call assumes are not read: its commit compares them.
    const read = this.#hasAssumed ? undefined : this.#reads.toRead();
    const held = await this.#lock(wanted, { ...options, read, maxBytes: MAX_NAMED_BYTES });
    this.#token = held.token;
    if (read !== undefined) this.#takeRead(read, held);
    return {
      release: () => {
        if (this.#token === held.token) this.#token = undefined;
        held.release();
      },
    };
  }

  /** Takes over what was read with a lock. An engine that has not read with it is read again. */
  #takeRead(paths: readonly string[], { read }: PathsHandle): void {
    if (read === undefined) {
      this.refresh();
      return;
    }
    this.#reads.replace(paths, read);
    this.#placeOfHash.clear();
    for (const [index, path] of paths.entries()) {
      const found = read.results[index] ?? null;
      if (!(found instanceof FilewrightError)) this.#contention.found(path, found?.entry.version ?? null);
    }
  }

  async nested<T>(run: () => Promise<T>): Promise<T> {
    const mark = this.#draft.mark();
    try {
      return await run();
    } catch (error) {
      this.#draft.restore(mark);
      throw error;
    }
  }

  /** Runs changes that stay in the draft until `commitDraft`. What is not committed at the end is dropped. */
  async draft<T>(run: () => Promise<T>): Promise<T> {
    this.#isDrafting = true;
    try {
      return await run();
    } finally {
      this.#isDrafting = false;
      this.#draft.clear();
      this.#written.clear();
    }
  }

  /**
   * Makes all changes of the draft, or none. Returns their number.
   * @throws CONFLICT with `details.conflicts` and a path when what the call has read has changed
   */
  async commitDraft({ key, actor, records = [], expect = [], signal }: StageCommit): Promise<number> {
    const { ops } = this.#draft;
    const allRecords = [...this.#records.flatMap((one) => one.ops), ...records];
    if (ops.length === 0 && allRecords.length === 0) return 0;
    const conditions = [...this.#reads.conditions(), ...expect];
    let answer: Committed;
    try {
      answer = await commitSurely(this.#storage, ops, {
        expect: conditions,
        key,
        actor,
        ...(allRecords.length === 0 ? {} : { records: allRecords }),
        ...(this.#token === undefined ? {} : { token: this.#token, release: true }),
        signal,
      });
    } catch (error) {
      throw this.#commitError(error);
    }
    this.#token = undefined;
    for (const { committed } of this.#records) committed();
    this.#records = [];
    this.#noteCommit(answer);
    return ops.length;
  }

  async readMany(paths: readonly string[], options: ReadManyOptions = {}): Promise<ReadMany> {
    const { bodies = true, maxBytes, signal, at } = options;
    if (this.#isEnded || at !== undefined) return this.#storage.readMany(paths, options);
    const places = paths.map((path) => this.#draft.place(path));
    const stored = places.flatMap((place) => ("stored" in place ? [place.stored] : []));
    const read = stored.length === 0 ? [] : await this.#reads.read(stored, { bodies, maxBytes, signal });
    const results: (ReadEntry | FilewrightError | null)[] = [];
    let next = 0;
    let left = maxBytes ?? Number.POSITIVE_INFINITY;
    for (const [index, place] of places.entries()) {
      const path = paths[index] as string;
      let found: Found = "stored" in place ? atPath(read[next++] as Found, path) : place.found;
      if (found === null || found instanceof FilewrightError || found.entry.type !== "file") {
        results.push(found);
        continue;
      }
      const { hash = "" } = found.entry;
      if ("stored" in place && !this.#placeOfHash.has(hash)) this.#placeOfHash.set(hash, place.stored);
      if (!bodies) {
        results.push({ entry: found.entry });
        continue;
      }
      if (found.body === undefined && "found" in place)
        found = { ...found, body: await this.#bodyOf(found.entry, signal) };
      left -= found.body?.length ?? Number.POSITIVE_INFINITY;
      results.push(left < 0 ? { entry: found.entry, left: true } : found);
      if (left < 0) left = Number.NEGATIVE_INFINITY;
    }
    return { version: "", results };
  }

  async list(request: ListRequest): Promise<EntryPage> {
    const { prefix = "/", at } = request;
    if (this.#isEnded || at !== undefined) return this.#storage.list(request);
    if (this.#draft.isEmpty || !this.#draft.touches(prefix)) return this.#reads.list(request);
    return this.#listDraft(prefix, request);
  }

  /** Adds changes to the draft while one is open; otherwise commits them to the storage at once. */
  async commit(ops: readonly Op[], options: CommitOptions = {}): Promise<Committed> {
    if (this.#isEnded || !this.#isDrafting) {
      const answer = await this.#storage.commit(ops, options);
      this.refresh();
      return answer;
    }
    await this.#assertConditions(options.expect ?? []);
    const mark = this.#draft.mark();
    const entries = new Map<string, Entry>();
    try {
      for (const op of ops) {
        const ready = await this.#ready(op);
        for (const entry of await this.#draft.apply(ready, (path) => this.#look(path)))
          entries.set(entry.path, entry);
      }
    } catch (error) {
      this.#draft.restore(mark);
      throw error;
    }
    return { version: "", entries: [...entries.values()] };
  }

  async #look(path: string): Promise<Entry | null> {
    const { results } = await this.readMany([path], { bodies: false });
    const [found = null] = results;
    if (found instanceof FilewrightError) throw found;
    return found?.entry ?? null;
  }

  /** Returns a change with the hash of its content. */
  async #ready(op: Op): Promise<Op> {
    if (op.op === "put") {
      const { body } = op;
      const isLarge = body.length >= MIN_ASYNC_HASH_BYTES;
      const hash = op.hash ?? (isLarge ? await engine().onThreads.sha256(body) : engine().sha256(body));
      this.#written.set(hash, body);
      return { ...op, hash };
    }
    return op;
  }

  async #assertConditions(expect: readonly Expect[]): Promise<void> {
    const unmet: UnmetExpect[] = [];
    for (const one of expect) {
      if ("tree" in one) continue; // The commit of the stage has its own conditions for trees.
      const found = unmetBy(one, await this.#look(one.path), undefined);
      if (found !== undefined) unmet.push(found);
    }
    if (unmet.length > 0) throw conflictError(unmet);
  }

  /** Returns the content of a drafted copy: that of the file that it was copied from. */
  async #bodyOf({ hash = "", path }: Entry, signal: AbortSignal | undefined): Promise<Uint8Array> {
    const written = this.#written.get(hash);
    if (written !== undefined) return written;
    const place = this.#placeOfHash.get(hash);
    const [source = null] =
      place === undefined ? [] : await this.#reads.read([place], { bodies: true, signal });
    const isSame = source !== null && !(source instanceof FilewrightError) && source.entry.hash === hash;
    if (!isSame || source.body === undefined) throw backendError("CONFLICT", path);
    return source.body;
  }

  /** Lists a directory that the draft has changed something in or above. */
  async #listDraft(prefix: string, request: ListRequest): Promise<EntryPage> {
    const { signal } = request;
    const { shown, made } = this.#draft.below(prefix);
    const found = new Map<string, Entry>();
    for (const [path, stored] of shown) {
      for (let from: string | undefined; ; ) {
        const page = await this.#reads.list({ prefix: stored, after: from, limit: 10_000, signal });
        for (const entry of page.entries) {
          const own = movedPath(entry.path, stored, path);
          const place = this.#draft.place(own);
          if ("stored" in place && place.stored === entry.path) found.set(own, { ...entry, path: own });
        }
        if (page.next === undefined) break;
        from = page.next;
      }
    }
    for (const entry of made) found.set(entry.path, entry);
    const sorted = [...found.values()].sort((a, b) => compareCodePoints(a.path, b.path));
    return { ...pageOf(sorted, request), top: await this.#look(prefix), version: "" };
  }

  /** Takes over what a commit has made, so that the call sees it without another read. */
  #noteCommit({ entries, version }: Committed): void {
    const made = new Map(entries.map((entry) => [entry.path, entry]));
    this.#contention.committed(entries);
    this.#reads.forgetListings();
    for (const [path, { found: drafted }] of this.#draft.mark().nodes) {
      this.#reads.forget(path);
      const entry = made.get(path);
      if (entry === undefined) continue;
      if (drafted !== null) this.#given.set(drafted.entry.version, entry.version);
      const body = this.#written.get(entry.hash ?? "");
      const found = body === undefined ? { entry } : { entry, body };
      this.#reads.made(path, entry.type === "gone" ? null : found, version);
    }
    this.#draft.clear();
  }

  /** Returns the error of a commit under a path of the call, and notes the paths that met a conflict. */
  #commitError(error: unknown): unknown {
    if (!(error instanceof FilewrightError)) return error;
    const { code, message, path, hint, details, cause } = error;
    if (code !== "CONFLICT") return error;
    if (details?.["reason"] === "fenced") this.#token = undefined;
    const conflicts = (details?.["conflicts"] ?? []) as readonly Partial<UnmetExpect>[];
    const paths = conflicts.flatMap((one) => (one.path === undefined ? [] : [one.path]));
    for (const one of paths) this.#contention.note(one);
    const changed = this.#draft.mark().nodes;
    const named = paths.find((one) => changed.has(one)) ?? paths[0] ?? path;
    return named === undefined
      ? error
      : backendError("CONFLICT", named, details?.["reason"] === undefined ? undefined : message, {
          hint,
          details,
          cause,
        });
  }
}

/** Returns what was found under the path by which it was asked for. */
function atPath(found: Found, path: string): Found {
  if (found === null || found instanceof FilewrightError || found.entry.path === path) return found;
  return { ...found, entry: Object.freeze({ ...found.entry, path }) };
}
