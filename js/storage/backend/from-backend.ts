/**
 * A storage over a backend. It promises what a backend can: conditions hold among the callers of this object, and
 * against other programs as far as the backend compares versions. A commit of several changes is a transaction
 * that is rolled back when a part fails, so `atomic` is false; nothing is known of the past, so `changes` answers
 * `gap`.
 */
import { checkAborted, FilewrightError } from "../../engine/errors.ts";
import type { FsBackend } from "../../backends/backend.ts";
import { walkTree } from "../../backends/fallback/walk-tree.ts";
import { checkPath, compareCodePoints, normalise, relativeTo } from "../../backends/paths.ts";
import { transact } from "../../backends/transaction/transaction.ts";
import { optionChecker, type Options, options as described, text } from "../../schema/option.ts";
import { checkLimit } from "../../records/check.ts";
import { checkCommitOptions, checkOps, checkStoredPath } from "../check.ts";
import { closedError, conflictError, unknownVersionError } from "../failure.ts";
import { probeStorage } from "../probe.ts";
import type {
  ChangePage,
  ChangesOptions,
  Committed,
  CommitOptions,
  Entry,
  EntryPage,
  Expect,
  ListRequest,
  Op,
  ProbeOptions,
  ReadEntry,
  ReadMany,
  ReadManyOptions,
  Storage,
  StorageCall,
  StorageFacts,
  UnmetExpect,
  Version,
} from "../storage.ts";
import { BackendFiles } from "./backend-files.ts";

/** Options of a storage over a backend. */
export interface FromBackendOptions {
  /** The directory of the backend that is `/` of the storage. It must exist. Default `/`. */
  readonly root?: string | undefined;
}

/**
 * The table of the options of {@link fromBackend}, with the type and the check of each.
 *
 * @printed
 */
export const FROM_BACKEND_OPTIONS: Options<FromBackendOptions> = described("FromBackendOptions", {
  root: text({ test: (path) => (path.startsWith("/") ? undefined : "must be an absolute path") }),
});

const checkOptions = optionChecker("fromBackend", FROM_BACKEND_OPTIONS);

/** The number of answers that are known by their keys. */
const MAX_KEYS = 10_000;
const GIGABYTE = 1024 * 1024 * 1024;

/**
 * Returns a storage over a backend, for programs that speak to storages alone. One object has to serve all writers
 * of this process: it holds the queue and the idempotency keys. Its probe writes into a directory below the root,
 * which it removes again.
 */
export function fromBackend(backend: FsBackend, options: FromBackendOptions = {}): Storage {
  const { root = "/" } = checkOptions(options);
  checkPath(root);
  return new StorageOfBackend(backend, normalise(root).path);
}

class StorageOfBackend implements Storage {
  readonly #backend: FsBackend;
  readonly #files: BackendFiles;
  readonly #root: string;
  readonly #answers = new Map<string, Committed>();
  #commits = 0;
  #closed = false;
  /** The end of the last commit: commits run one after the other. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(backend: FsBackend, root: string) {
    this.#backend = backend;
    this.#root = root;
    this.#files = new BackendFiles(backend, root);
  }

  async probe(options: ProbeOptions = {}): Promise<StorageFacts> {
    this.#check(options);
    await probeStorage(this, options);
    const { symlink, lstat, readLink, chmod } = this.#backend;
    return Object.freeze({
      cas: true,
      atomic: false,
      shared: false,
      locks: "process",
      forks: false,
      history: false,
      links: symlink !== undefined && lstat !== undefined && readLink !== undefined,
      modes: chmod !== undefined,
      empty_dirs: true,
      durable: false,
      limits: LIMITS,
    });
  }

  async readMany(paths: readonly string[], options: ReadManyOptions = {}): Promise<ReadMany> {
    this.#check(options);
    assertPresent(options.at);
    const results: (ReadEntry | FilewrightError | null)[] = [];
    let left = options.maxBytes ?? Number.POSITIVE_INFINITY;
    for (const path of paths) {
      try {
        checkStoredPath(path);
        const found = await this.#files.read(path, options.bodies === false ? undefined : left);
        checkAborted(options.signal);
        if (found?.left === true) left = -1;
        else left -= found?.body?.length ?? 0;
        results.push(found);
      } catch (error) {
        if (!(error instanceof FilewrightError) || error.code === "CANCELLED") throw error;
        results.push(error);
      }
    }
    return { version: this.#head(), results };
  }

  async list(request: ListRequest): Promise<EntryPage> {
    this.#check(request);
    assertPresent(request.at);
    const { prefix = "/", depth = Number.POSITIVE_INFINITY, after, limit, signal } = request;
    checkStoredPath(prefix);
    checkLimit(limit);
    if (depth < 1) throw new FilewrightError("INVALID_ARGUMENT", "depth must be at least 1");
    const top = (await this.#files.read(prefix))?.entry ?? null;
    const version = this.#head();
    if (top?.type !== "dir") return { entries: [], top, version };
    const entries: Entry[] = [];
    const most = Math.min(limit, LIMITS.listPage);
    const isAtBottom = (path: string): boolean => depthBelow(prefix, path) >= depth;
    const walk = walkTree(this.#backend, this.#files.real(prefix), signal, (directory) => {
      return !isAtBottom(this.#files.stored(directory.path));
    });
    for await (const { path } of walk) {
      const stored = this.#files.stored(path);
      if (after !== undefined && compareCodePoints(stored, after) <= 0) continue;
      // An entry that vanished since it was listed is left out.
      const found = await this.#files.read(stored);
      if (found === null) continue;
      if (entries.length === most) return { entries, top, version, next: entries.at(-1)?.path as string };
      entries.push(found.entry);
    }
    return { entries, top, version };
  }

  async changes(_since: Version | null, options: ChangesOptions): Promise<ChangePage> {
    this.#check(options);
    checkLimit(options.limit, 0);
    return { head: this.#head(), entries: [], gap: true };
  }

  async commit(ops: readonly Op[], options: CommitOptions = {}): Promise<Committed> {
    this.#check(options);
    checkOps(ops, LIMITS);
    checkCommitOptions(options);
    if (options.token !== undefined || (options.records?.length ?? 0) > 0)
      throw new FilewrightError("UNSUPPORTED_OPERATION", "a backend has no locks with tokens and no records");
    const own = ops.map((op) => (op.op === "put" ? { ...op, body: new Uint8Array(op.body) } : op));
    const turn = this.#queue.then(() => this.#commit(own, options));
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  async #commit(ops: readonly Op[], options: CommitOptions): Promise<Committed> {
    const { key, expect = [] } = options;
    const known = key === undefined ? undefined : this.#answers.get(key);
    if (known !== undefined) return { ...known, repeated: true };
    this.#check(options);
    const unmet: UnmetExpect[] = [];
    for (const one of expect) {
      const found = await this.#unmet(one);
      if (found !== undefined) unmet.push(found);
    }
    if (unmet.length > 0) throw conflictError(unmet);
    const named = await this.#apply(ops, expect);
    this.#commits++;
    const version = this.#head();
    const entries: Entry[] = [];
    for (const path of [...named].sort(compareCodePoints)) {
      const found = await this.#files.read(path);
      entries.push(found?.entry ?? Object.freeze({ path, type: "gone", version }));
    }
    const answer = Object.freeze({ version, entries: Object.freeze(entries) });
    if (key !== undefined) this.#answers.set(key, answer);
    // The oldest come first.
    for (const [old] of this.#answers) {
      if (this.#answers.size <= MAX_KEYS) break;
      this.#answers.delete(old);
    }
    return answer;
  }

  /** Makes the changes as one transaction of the backend; returns the paths that they name. */
  async #apply(ops: readonly Op[], expect: readonly Expect[]): Promise<ReadonlySet<string>> {
    const [only] = ops;
    const run = async (backend: FsBackend): Promise<ReadonlySet<string>> => {
      const files = this.#files.on(backend);
      const named = new Set<string>();
      for (const op of ops) {
        // A condition is of the state before the commit: the backend compares it with the first change of a path.
        const own = expect.filter(({ path }) => !named.has(path));
        for (const path of await files.apply(op, own)) named.add(path);
      }
      return named;
    };
    return only !== undefined && ops.length === 1 ? run(this.#backend) : transact(this.#backend, run);
  }

  async #unmet(expect: Expect): Promise<UnmetExpect | undefined> {
    const { path } = expect;
    if ("tree" in expect) return { path, expected: expect.tree, found: this.#head() };
    const entry = (await this.#files.read(path))?.entry;
    if ("version" in expect) {
      const found = entry?.version ?? null;
      return found === expect.version ? undefined : { path, expected: expect.version, found };
    }
    const found = entry?.type ?? "gone";
    return found === expect.type ? undefined : { path, expected: expect.type, found };
  }

  #head(): Version {
    return `${this.#commits} of ${this.#root}`;
  }

  #check({ signal }: StorageCall): void {
    if (this.#closed) throw closedError();
    checkAborted(signal);
  }
}

const LIMITS: StorageFacts["limits"] = Object.freeze({
  bodyBytes: GIGABYTE,
  commitOps: 10_000,
  commitBytes: GIGABYTE,
  listPage: 10_000,
});

function assertPresent(at: Version | undefined): void {
  if (at !== undefined) throw unknownVersionError(at);
}

function depthBelow(prefix: string, path: string): number {
  return (relativeTo(path, prefix) ?? "").split("/").length;
}
