/** The storage over an S3-compatible store: its methods, each of which checks its arguments and reads the root once. */
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
  type Merged,
  type MergeOfForkOptions,
  type Op,
  type Past,
  type PastRequest,
  type ProbeOptions,
  type ReadMany,
  type ReadManyOptions,
  type Records,
  type Snapshot,
  type Storage,
  type StorageCall,
  type StorageFacts,
  type Version,
} from "filewright/files";
import { Blobs, mapParallel } from "./blobs.ts";
import { commit, type CommitParts, storeObjects } from "./commit.ts";
import { Commits } from "./commits.ts";
import { forkRoot, type KeptState, keepState, mergeWorkspaces, readKeptState } from "./forks.ts";
import { Keys } from "./keys.ts";
import { TableView } from "./manifest.ts";
import { Objects } from "./objects.ts";
import { checkS3Options, type S3StorageOptions } from "./options.ts";
import { probeServer, type S3Abilities } from "./probe.ts";
import { listBelow, readPaths, rowAt } from "./reading.ts";
import { S3Records } from "./records.ts";
import { loadSigner, S3Client } from "./request.ts";
import { toEntry } from "./root.ts";
import { RootState } from "./state.ts";
import { listWorkspaces, removeWorkspace, type SweepOptions, type Swept, sweepStore } from "./sweep.ts";

/** A storage in an S3-compatible store. */
export type S3Storage = Storage &
  Required<
    Pick<Storage, "statMany" | "snapshot" | "merge" | "drop" | "history" | "readContents" | "records">
  > & {
    /** Makes another workspace that begins as this one is, or was. Nothing is copied but the root. */
    fork(name: string, options?: ForkOptions): Promise<S3Storage>;
    /** Tries the store itself and returns its abilities, also those of one that `probe` refuses. */
    abilities(options?: StorageCall): Promise<S3Abilities>;
    /** Returns the names of all workspaces of the bucket and prefix, sorted. */
    workspaces(options?: StorageCall): Promise<readonly string[]>;
    /** Removes contents, pages and logs that nothing names, of all workspaces of the bucket and prefix. */
    sweep(options?: SweepOptions): Promise<Swept>;
  };

const DEFAULT_CACHE_BYTES = 32 * 1024 * 1024;
const DEFAULT_BODY_BYTES = 64 * 1024 * 1024;
const LIST_PAGE = 10_000;

/**
 * Opens a workspace in an S3-compatible store. Nothing is sent before the first call; `probe` finds out whether the
 * store is fit.
 *
 * @example
 * const storage = await s3Storage({ endpoint, bucket: "agents", credentials, workspace: "repo" });
 * const ws = await openWorkspace({ storage, root: "/" });
 */
export async function s3Storage(options: S3StorageOptions): Promise<S3Storage> {
  const checked = checkS3Options(options);
  const client = new S3Client(checked, await loadSigner());
  const objects = new Objects(client, checked.cacheBytes ?? DEFAULT_CACHE_BYTES);
  return new S3StorageEngine(checked, objects, checked.workspace);
}

class S3StorageEngine implements S3Storage {
  readonly #options: S3StorageOptions;
  readonly #workspace: string;
  readonly #parts: CommitParts;
  readonly #facts: StorageFacts;
  /** The states that this process keeps, by their versions. */
  readonly #kept = new Map<Version, { readonly state: KeptState; readonly keys: string[] }>();
  readonly records: Records;
  declare forkedAt?: Version;
  #closed = false;

  constructor(options: S3StorageOptions, objects: Objects, workspace: string) {
    this.#options = options;
    this.#workspace = workspace;
    const keys = new Keys(options.prefix ?? "", workspace);
    const state = new RootState(keys, objects);
    this.#parts = {
      keys,
      objects,
      state,
      commits: new Commits(keys, objects),
      blobs: new Blobs(keys, objects),
    };
    this.#facts = factsOf(options.maxBodyBytes ?? DEFAULT_BODY_BYTES);
    this.records = new S3Records({
      now: () => objects.client.now(),
      read: async (signal) => {
        this.#check({ signal });
        return this.#view((await state.current(signal)).root.records, signal);
      },
      view: (root, signal) => this.#view(root.records, signal),
      change: async (plan, signal) => {
        this.#check({ signal });
        return state.change(plan, signal);
      },
      store: (news, signal) => storeObjects(objects, news, signal),
    });
  }

  async abilities(options: StorageCall = {}): Promise<S3Abilities> {
    this.#check(options);
    return probeServer(this.#parts, options.signal);
  }

  async probe(options: ProbeOptions = {}): Promise<StorageFacts> {
    this.#check(options);
    const { signal, mode = "full" } = options;
    if (mode === "trust") {
      await this.#parts.state.current(signal);
      return this.#facts;
    }
    const found = await this.abilities({ signal });
    if (found.refusal !== undefined) {
      const { refusal, ...abilities } = found;
      throw new FilewrightError("UNSUPPORTED_OPERATION", `the store cannot be used: ${refusal}`, {
        hint: "use a store with conditional writes",
        details: { failed: "conditions", abilities },
      });
    }
    return this.#facts;
  }

  async readMany(paths: readonly string[], options: ReadManyOptions = {}): Promise<ReadMany> {
    this.#check(options);
    const { bodies = true, maxBytes = Number.POSITIVE_INFINITY, at, signal } = options;
    const { version, view } = await this.#stateAt(at, signal);
    const { keys, objects } = this.#parts;
    const results = await readPaths(view, keys, objects, paths, { bodies, maxBytes, signal });
    for (const result of results)
      if (result !== null && "entry" in result && at === undefined) this.#see(result.entry);
    return { version, results };
  }

  async statMany(paths: readonly string[], options: StorageCall = {}): Promise<readonly (Entry | null)[]> {
    this.#check(options);
    for (const path of paths) checkStoredPath(path);
    const { results } = await this.readMany(paths, { bodies: false, signal: options.signal });
    return results.map((result) => (result !== null && "entry" in result ? result.entry : null));
  }

  async list(request: ListRequest): Promise<EntryPage> {
    this.#check(request);
    const { prefix = "/", depth = Number.POSITIVE_INFINITY, after = "", limit, at, signal } = request;
    const { version, view } = await this.#stateAt(at, signal);
    const top = await rowAt(view, prefix);
    const found =
      top?.[1] === "d"
        ? await listBelow(view, prefix, depth, after, Math.min(limit, LIST_PAGE))
        : { entries: [] };
    return { ...found, top: top === undefined ? null : toEntry(top), version };
  }

  async changes(since: Version | null, options: ChangesOptions): Promise<ChangePage> {
    this.#check(options);
    const { root } = await this.#parts.state.current(options.signal);
    return this.#parts.commits.changes(root, since, options.limit, options.signal);
  }

  async commit(ops: readonly Op[], options: CommitOptions = {}): Promise<Committed> {
    this.#check(options);
    checkOps(ops, this.#facts.limits);
    return commit(this.#parts, ops, options);
  }

  async snapshot(options: StorageCall = {}): Promise<Snapshot> {
    this.#check(options);
    const { root } = await this.#parts.state.current(options.signal);
    const state: KeptState = { version: root.version, files: root.files };
    const key = await keepState(this.#parts, state, options.signal);
    const kept = this.#kept.get(state.version) ?? { state, keys: [] };
    kept.keys.push(key);
    this.#kept.set(state.version, kept);
    let released = false;
    const release = async (): Promise<void> => {
      if (released) return;
      released = true;
      kept.keys.splice(kept.keys.indexOf(key), 1);
      if (kept.keys.length === 0) this.#kept.delete(state.version);
      await this.#parts.objects.client.send({ method: "DELETE", key, accept: [404] });
    };
    return { at: state.version, release };
  }

  async fork(name: string, options: ForkOptions = {}): Promise<S3Storage> {
    this.#check(options);
    const { at, signal } = options;
    const fork = new S3StorageEngine({ ...this.#options, workspace: name }, this.#parts.objects, name);
    const { root } = await this.#parts.state.current(signal);
    const state =
      at === undefined ? { version: root.version, files: root.files } : await this.#keptState(at, signal);
    const begin = await forkRoot(this.#parts, this.#workspace, root, state, signal);
    // The state first: a root that names what is not there yet could be read.
    await storeObjects(this.#parts.objects, [begin.state], signal);
    if (!(await fork.#parts.state.create(begin.root, signal)))
      throw new FilewrightError("ALREADY_EXISTS", `there is a workspace '${name}'`);
    fork.forkedAt = state.version;
    return fork;
  }

  async merge(from: Storage, options: MergeOfForkOptions = {}): Promise<Merged> {
    this.#check(options);
    if (!(from instanceof S3StorageEngine) || !this.#isBeside(from))
      throw new FilewrightError("INVALID_ARGUMENT", "this is neither a fork of the storage nor its parent");
    return mergeWorkspaces(
      { workspace: this.#workspace, parts: this.#parts },
      { workspace: from.#workspace, parts: from.#parts },
      options,
    );
  }

  async drop(options: StorageCall = {}): Promise<void> {
    this.#check(options);
    // Pages, logs and contents that only this workspace named go with the next sweep.
    await removeWorkspace(this.#parts, options.signal);
    await this.close();
  }

  /** Returns true for a storage of the same bucket and prefix. */
  #isBeside(other: S3StorageEngine): boolean {
    const place = ({ endpoint, bucket, prefix = "" }: S3StorageOptions): string =>
      JSON.stringify([String(new URL(endpoint)), bucket, prefix]);
    return place(this.#options) === place(other.#options);
  }

  async readContents(
    contents: readonly ContentName[],
    options: StorageCall = {},
  ): Promise<readonly (Uint8Array | null)[]> {
    this.#check(options);
    const { objects, keys } = this.#parts;
    return mapParallel(contents, ({ hash, size }) => {
      const hex = hash.slice("sha256:".length);
      return objects.contentIfThere(keys.blob(hex), { hex, size }, options.signal);
    });
  }

  async history(request: PastRequest): Promise<readonly Past[]> {
    this.#check(request);
    const { root } = await this.#parts.state.current(request.signal);
    const found = await this.#parts.commits.history(root, request);
    const now = this.#parts.objects.client.now();
    for (const { at, changes = [] } of found) {
      // What an old commit names may be swept while this answer is used.
      if (now - at > MAX_YOUNG_MS) continue;
      for (const { before, after } of changes)
        for (const entry of [before, after]) if (entry) this.#see(entry);
    }
    return found;
  }

  async workspaces(options: StorageCall = {}): Promise<readonly string[]> {
    this.#check(options);
    return listWorkspaces(this.#parts, options.signal);
  }

  async sweep(options: SweepOptions = {}): Promise<Swept> {
    this.#check(options);
    return sweepStore(this.#parts, this.#options.prefix ?? "", options);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #check(options: StorageCall): void {
    if (this.#closed) throw closedError();
    checkAborted(options.signal);
  }

  #view(table: ConstructorParameters<typeof TableView>[0], signal: AbortSignal | undefined): TableView {
    return new TableView(table, this.#parts.keys, this.#parts.objects, signal);
  }

  #see({ type, hash, size }: Entry): void {
    if (type === "file" && hash !== undefined) this.#parts.blobs.see(hash.slice("sha256:".length), size ?? 0);
  }

  async #keptState(version: Version, signal: AbortSignal | undefined): Promise<KeptState> {
    return this.#kept.get(version)?.state ?? readKeptState(this.#parts, version, signal);
  }

  /** Returns the present state of the files, or one that is kept. */
  async #stateAt(
    at: Version | undefined,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly version: Version; readonly view: TableView }> {
    const { version, files } =
      at === undefined ? (await this.#parts.state.current(signal)).root : await this.#keptState(at, signal);
    return { version, view: this.#view(files, signal) };
  }
}

checkStorageCalls(S3StorageEngine.prototype, "s3Storage");

/** The age of a commit up to which what it names is safe from a sweep for as long as an answer is used. */
const MAX_YOUNG_MS = 30 * 60 * 1000;

/** The abilities and limits of the storage. It has no locks of its own: writers meet at the root. */
function factsOf(bodyBytes: number): StorageFacts {
  return Object.freeze({
    cas: true,
    atomic: true,
    shared: true,
    locks: "process",
    forks: true,
    history: true,
    links: true,
    modes: true,
    empty_dirs: true,
    durable: true,
    limits: Object.freeze({ bodyBytes, commitOps: 20_000, commitBytes: 4 * bodyBytes, listPage: LIST_PAGE }),
  });
}
