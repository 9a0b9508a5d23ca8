/**
 * A storage on Postgres: the files of a workspace as rows, and every method as one function in the database, so one
 * round trip. Any number of processes share it. The client is the caller's; nothing here opens a connection of its own.
 */
import {
  type ChangePage,
  type ChangesOptions,
  checkAborted,
  checkOps,
  checkStorageCalls,
  checkStoredPath,
  closedError,
  type CommitOptions,
  type Committed,
  type ContentName,
  type Entry,
  type EntryPage,
  FilewrightError,
  type ForkOptions,
  type ListRequest,
  type LockAllOptions,
  type LockedPaths,
  type LockPath,
  type Merged,
  type MergeOfForkOptions,
  type Op,
  type Past,
  type PastRequest,
  type ProbeOptions,
  probeStorage,
  type ReadEntry,
  type ReadMany,
  type ReadManyOptions,
  type Records,
  type Snapshot,
  type Storage,
  type StorageCall,
  type StorageFacts,
  unknownVersionError,
  type Version,
} from "filewright/files";
import { abortable, bytesOf, type Row } from "./client.ts";
import { TenantContents } from "./contents.ts";
import type { Database } from "./database.ts";
import { decodeCommit, encodeCommit, recordError } from "./encode.ts";
import { toPast } from "./history.ts";
import { type EndableLocks, lockByLease, lockFairly } from "./locks.ts";
import { type MergedStorage, mergeInto } from "./merging.ts";
import { openWorkspaceRow } from "./opening.ts";
import { nameFault } from "./options.ts";
import type { WorkspacePlace } from "./place.ts";
import { holdsSessions } from "./sessions.ts";
import { postgresRecords } from "./records.ts";
import { numberOf, toEntry } from "./rows.ts";

const MEBIBYTE = 1024 * 1024;

/** What a place in `readMany` has: no content, content, content in the object store, or content that was left. */
const IN_ROW = 1;
const OUTSIDE = 2;
const LEFT = 3;

/** A storage on Postgres: every optional method of the contract but `search`. */
export interface PostgresStorage extends CompleteStorage {
  /** Makes another workspace that begins as this one is, or was. Its storage has the same methods. */
  fork(name: string, options?: ForkOptions): Promise<PostgresStorage>;
}

type CompleteStorage = Storage &
  Required<
    Pick<
      Storage,
      "statMany" | "lockAll" | "snapshot" | "merge" | "drop" | "history" | "readContents" | "records"
    >
  >;

/** The storage of one workspace. */
export class PostgresStorageEngine implements PostgresStorage, MergedStorage {
  readonly place: WorkspacePlace;
  readonly records: Records;
  readonly #database: Database;
  readonly #contents: TenantContents;
  declare readonly forkedAt?: Version;
  #fairLocks: boolean | undefined;
  /** The locks of this storage by their tokens, so that a commit can end them. */
  readonly #held = new Map<bigint, EndableLocks>();
  /** Ends what waits for locks when the storage is closed. */
  readonly #closing = new AbortController();
  /** The locks that are being taken or given back. */
  readonly #moving = new Set<Promise<unknown>>();

  constructor(place: WorkspacePlace, fairLocks?: boolean, forkedAt?: Version) {
    if (forkedAt !== undefined) this.forkedAt = forkedAt;
    this.place = place;
    this.#database = place.database;
    this.#contents = new TenantContents(place.database, place.tenant, place.blobs);
    this.#fairLocks = fairLocks;
    this.records = postgresRecords(place.database, () => this.#open());
  }

  async probe(options: ProbeOptions = {}): Promise<StorageFacts> {
    this.#open(options);
    this.#fairLocks = await abortable(options.signal, () => holdsSessions(this.#database));
    await this.#probeScratch(options);
    const bodyBytes = this.place.blobs === undefined ? 64 * MEBIBYTE : 1024 * MEBIBYTE;
    return Object.freeze({
      cas: true,
      atomic: true,
      shared: true,
      locks: this.#fairLocks ? "fair" : "lease",
      forks: true,
      history: true,
      links: true,
      modes: true,
      empty_dirs: true,
      durable: true,
      limits: Object.freeze({ ...this.#limits, bodyBytes }),
    });
  }

  async readMany(paths: readonly string[], options: ReadManyOptions = {}): Promise<ReadMany> {
    const { bodies = true, maxBytes = null, signal } = options;
    const asked = askedPaths(paths);
    const values = [...this.#open(options), asked.json, bodies, maxBytes, this.#at(options.at)];
    const rows = await this.#database.read("read_many", values, signal);
    return this.#readMany(asked, rows, signal);
  }

  /** Makes the answer of a read from its rows. */
  async #readMany(
    { indexes, results }: AskedPaths,
    rows: readonly Row[],
    signal: AbortSignal | undefined,
  ): Promise<ReadMany> {
    const outside: number[] = [];
    const found: (ReadEntry | null)[] = indexes.map(() => null);
    let version = "";
    for (const row of rows) {
      const index = Number(row["i"]) - 1;
      if (index < 0) version = String(row["version"]);
      else found[index] = toReadEntry(row);
      if (Number(row["place"]) === OUTSIDE) outside.push(index);
    }
    const filled = await this.#contents.fill(found, outside, signal);
    for (const [index, one] of filled.entries()) results[indexes[index] as number] = one;
    return { version, results };
  }

  async statMany(paths: readonly string[], options: StorageCall = {}): Promise<readonly (Entry | null)[]> {
    for (const path of paths) checkStoredPath(path);
    const { results } = await this.readMany(paths, { bodies: false, signal: options.signal });
    return results.map((one) => (one instanceof FilewrightError ? null : (one?.entry ?? null)));
  }

  async list(request: ListRequest): Promise<EntryPage> {
    const { prefix = "/", depth, after, limit, signal } = request;
    if (after !== undefined) checkStoredPath(after);
    const levels = depth === undefined || depth > MAX_LEVELS ? null : Math.floor(depth);
    const most = Math.min(limit, this.#limits.listPage);
    const values = [...this.#open(request), prefix, levels, after ?? null, most, this.#at(request.at)];
    const entries: Entry[] = [];
    let top: Entry | null = null;
    let version = "";
    let next: string | undefined;
    for (const row of await this.#database.read("list", values, signal)) {
      const index = Number(row["i"]);
      if (index > 0) entries.push(toEntry(row));
      else if (index === 0) version = String(row["version"]);
      else if (index === -1) top = toEntry(row);
      else next = String(row["path"]);
    }
    if (entries.length > most) {
      entries.pop();
      next = entries.at(-1)?.path;
    }
    return { entries, top, version, ...(next === undefined ? {} : { next }) };
  }

  async changes(since: Version | null, options: ChangesOptions): Promise<ChangePage> {
    const [, number, path] = /^(\d+)(?::(\/.*))?$/su.exec(since ?? "0") ?? [];
    const from = number === undefined ? null : numberOf(number);
    if (path !== undefined) checkStoredPath(path);
    const { limit } = options;
    // One more than asked for, which shows whether there is another page.
    const most = limit === 0 ? 0 : limit + 1;
    const values = [...this.#open(options), from ?? "-1", path ?? null, most];
    const entries: Entry[] = [];
    let head = "";
    let gap = false;
    for (const row of await this.#database.read("changes", values, options.signal)) {
      const index = Number(row["i"]);
      if (index === 0) head = String(row["version"]);
      else if (index < 0) gap = true;
      else entries.push(toEntry(row));
    }
    if (gap) return { head, entries: [], gap: true };
    if (entries.length <= limit) return { head, entries };
    entries.pop();
    const last = entries.at(-1);
    return { head, entries, next: `${last?.version}:${last?.path}` };
  }

  commit(ops: readonly Op[], options: CommitOptions = {}): Promise<Committed> {
    return this.#commit("commit", [], ops, options);
  }

  commitMerge(
    ops: readonly Op[],
    options: CommitOptions,
    { id, version }: { readonly id: string; readonly version: Version },
  ): Promise<Committed> {
    return this.#commit("merge_commit", [id, numberOf(version)], ops, options);
  }

  /** Calls a function that commits, with values of its own after the first two. */
  async #commit(
    name: string,
    more: readonly unknown[],
    ops: readonly Op[],
    options: CommitOptions,
  ): Promise<Committed> {
    const values = this.#open(options);
    const { key = null, actor = {}, token, release = false, signal } = options;
    checkOps(ops, this.#limits);
    // Copies: the caller may go on with its buffers.
    const own = ops.map((op) => (op.op === "put" ? { ...op, body: new Uint8Array(op.body) } : { ...op }));
    const bodies = await this.#contents.prepare(own, this.place.id, signal);
    const encoded = encodeCommit(own, bodies, options);
    const { agent = null, tool = null, callId = null, undoOf = null } = actor;
    const held = token === undefined || !release ? undefined : this.#held.get(token);
    const ends = held?.isHeld === true && more.length === 0;
    const rows = await this.#database.change(
      ends ? "commit_release" : name,
      [
        ...values,
        ...more,
        key,
        agent,
        tool,
        callId,
        undoOf,
        token === undefined ? null : String(token),
        encoded.expects,
        encoded.groups,
        encoded.named,
        encoded.bodies,
        encoded.records,
        ...(ends ? [held.wanted] : []),
      ],
      signal,
      (thrown) => recordError(thrown, options),
      ends ? held.connection : undefined,
    );
    const answer = decodeCommit(rows, options);
    // The commit of a known key ends nothing.
    if (ends && answer.repeated !== true) this.#forget(held).ended();
    else if (held !== undefined) await this.#giveBack(held);
    return answer;
  }

  async readContents(
    contents: readonly ContentName[],
    options: StorageCall = {},
  ): Promise<readonly (Uint8Array | null)[]> {
    const [, workspace] = this.#open(options);
    const hexes = contents.map(({ hash }) => hash.slice("sha256:".length));
    return this.#contents.read(hexes, workspace, options.signal);
  }

  async drop(options: StorageCall = {}): Promise<void> {
    await this.#database.change("drop_workspace", [...this.#open(options)], options.signal);
    await this.close();
  }

  /** Gives back every lock, and waits until the server has them. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled([
      ...this.#moving,
      ...[...this.#held.values()].map((one) => this.#giveBack(one)),
    ]);
  }

  lockAll(paths: readonly LockPath[], options: LockAllOptions): Promise<LockedPaths> {
    return this.#noted(this.#lockAll(paths, options));
  }

  async #lockAll(paths: readonly LockPath[], given: LockAllOptions): Promise<LockedPaths> {
    const values = this.#open(given);
    const { signal: own } = given;
    const closing = this.#closing.signal;
    const options = { ...given, signal: own === undefined ? closing : AbortSignal.any([own, closing]) };
    this.#fairLocks ??= await holdsSessions(this.#database);
    const { read, maxBytes, signal } = options;
    const asked = read === undefined ? undefined : askedPaths(read);
    const withRead = asked && { paths: asked.json, maxBytes: maxBytes ?? null };
    const held = this.#fairLocks
      ? await lockFairly(this.#database, values, paths, options, withRead)
      : await lockByLease(this.#database, values, paths, options);
    const { token } = held;
    this.#held.set(token, held);
    const release = (): Promise<void> => this.#giveBack(held);
    if (closing.aborted) {
      await release();
      throw closedError();
    }
    if (asked === undefined) return { token, release };
    try {
      const { rows } = held;
      const found =
        rows === undefined
          ? await this.readMany(read ?? [], { maxBytes, signal })
          : await this.#readMany(asked, rows, signal);
      return { token, release, read: found };
    } catch (error) {
      await release();
      throw error;
    }
  }

  #giveBack(held: EndableLocks): Promise<void> {
    return this.#noted(this.#forget(held).release());
  }

  /** Notes what `close` waits for. */
  #noted<T>(moving: Promise<T>): Promise<T> {
    this.#moving.add(moving);
    const done = (): unknown => this.#moving.delete(moving);
    moving.then(done, done);
    return moving;
  }

  /** Forgets locks that are released or about to be. */
  #forget(held: EndableLocks): EndableLocks {
    this.#held.delete(held.token);
    return held;
  }

  async snapshot(options: StorageCall = {}): Promise<Snapshot> {
    const values = this.#open(options);
    const [row] = await this.#database.change("pin", [...values], options.signal);
    let released: Promise<unknown> | undefined;
    return {
      at: String(row?.["at"]),
      release: async () => {
        released ??= this.#database.change("unpin", [...values, String(row?.["id"])]);
        await released;
      },
    };
  }

  async fork(name: string, options: ForkOptions = {}): Promise<PostgresStorage> {
    checkWorkspaceName(name);
    const values = [...this.#open(options), name, this.#at(options.at)];
    const [row] = await this.#database.change("fork", values, options.signal);
    const place = { ...this.place, id: String(row?.["id"]) };
    return new PostgresStorageEngine(place, this.#fairLocks, String(row?.["base"]));
  }

  async merge(from: Storage, options: MergeOfForkOptions = {}): Promise<Merged> {
    this.#open(options);
    if (!(from instanceof PostgresStorageEngine) || from.place.tenant !== this.place.tenant)
      throw new FilewrightError("INVALID_ARGUMENT", "this is neither a fork of the storage nor its parent");
    return await mergeInto(this, from, options);
  }

  async history(request: PastRequest): Promise<readonly Past[]> {
    const { version, key = null, agent = null, before, changes = false, limit, signal } = request;
    // A text that no version has names no commit.
    const numbers = [version, before].map((one) => (one === undefined ? null : (numberOf(one) ?? "-1")));
    const values = [...this.#open(request), numbers[0], key, agent, numbers[1], limit, changes];
    const rows = await this.#database.read("history", values, signal);
    return rows.map(toPast);
  }

  /** The first two values of every call. @throws UNSUPPORTED_OPERATION after `close` */
  #open(options: StorageCall = {}): readonly [tenant: string, workspace: string] {
    if (this.#closing.signal.aborted) throw closedError();
    checkAborted(options.signal);
    return [this.place.tenant, this.place.id];
  }

  get #limits(): StorageFacts["limits"] {
    const bodyBytes = (this.place.blobs === undefined ? 64 : 1024) * MEBIBYTE;
    return {
      bodyBytes,
      commitOps: 10_000,
      commitBytes: Math.max(bodyBytes, 256 * MEBIBYTE),
      listPage: 10_000,
    };
  }

  #at(version: Version | undefined): string | null {
    if (version === undefined) return null;
    const number = numberOf(version);
    if (number === null) throw unknownVersionError(version);
    return number;
  }

  /** Tries the guarantees in a workspace of its own, which is removed at once. */
  async #probeScratch(options: ProbeOptions): Promise<void> {
    const { tenant, blobs } = this.place;
    const name = `filewright-probe-${crypto.randomUUID()}`;
    const id = await openWorkspaceRow(this.#database, tenant, name);
    const scratch = new PostgresStorageEngine({ database: this.#database, tenant, id, blobs }, false);
    try {
      await probeStorage(scratch, options);
    } finally {
      await this.#database.change("drop", [tenant, name, true]);
    }
  }
}

checkStorageCalls(PostgresStorageEngine.prototype, "postgresStorage");

/** The deepest directory that a path of 4,096 bytes can name. */
const MAX_LEVELS = 2048;

/** The paths of a read that are valid, and the results so far: the errors of the others. */
interface AskedPaths {
  /** The valid paths as the functions of the database take them. */
  readonly json: string;
  /** The positions of the valid paths among all. */
  readonly indexes: readonly number[];
  readonly results: (ReadEntry | FilewrightError | null)[];
}

function askedPaths(paths: readonly string[]): AskedPaths {
  const results: (ReadEntry | FilewrightError | null)[] = [];
  const indexes: number[] = [];
  for (const [index, path] of paths.entries()) {
    results.push(null);
    try {
      checkStoredPath(path);
      indexes.push(index);
    } catch (error) {
      results[index] = error as FilewrightError;
    }
  }
  return { json: JSON.stringify(indexes.map((index) => paths[index])), indexes, results };
}

function toReadEntry(row: Row): ReadEntry {
  const entry = toEntry(row);
  const place = Number(row["place"]);
  if (place === IN_ROW) return { entry, body: bytesOf(row["body"]) };
  return place === LEFT ? { entry, left: true } : { entry };
}

/** @throws INVALID_ARGUMENT unless a name can be that of a workspace */
function checkWorkspaceName(name: unknown): void {
  const fault = typeof name !== "string" || name === "" ? "must be a text" : nameFault(name);
  if (fault !== undefined) throw new FilewrightError("INVALID_ARGUMENT", `the name of a fork ${fault}`);
}
