/**
 * A storage over a driver, or over a backend: the one way in which files of a host become those of a workspace.
 *
 * The commits of one object run one after the other, and no read of it sees half of one. A commit is planned on what is
 * there, its changes are made one by one, and they are taken back when one fails; a process that ends in the middle
 * leaves those that it has made, so `atomic` is false. Changes of other programs are found by looking, unless the
 * caller says that there are none.
 */
import { checkStorageCalls } from "../call-options.ts";
import { checkAborted, FilewrightError } from "../../engine/errors.ts";
import { engine } from "../../engine/current.ts";
import { randomHex } from "../../engine/hex.ts";
import { type FsBackend, isFsBackend } from "../../backends/backend.ts";
import { asFiles } from "../../backends/host-files.ts";
import { backendError } from "../../backends/failure.ts";
import { checkPath, isWithin, normalise } from "../../backends/paths.ts";
import {
  callback,
  flag,
  instance,
  optionChecker,
  type Options,
  options as described,
  required,
  text,
} from "../../schema/option.ts";
import { checkLimit } from "../../records/check.ts";
import { checkCommitOptions, checkOps, checkStoredPath, pathsOfOp, unmetBy } from "../check.ts";
import { closedError, conflictError, unknownVersionError, unlistedError } from "../failure.ts";
import { Draft, type HeldContent, type ReadyOp } from "../draft.ts";
import { entriesPage, nodeAt } from "../../backends/tree/nodes.ts";
import type { StoredDir } from "../entry.ts";
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
import { filesOfBackend } from "./backend-files.ts";
import type { Driver } from "./driver.ts";
import { filesOfDriver } from "./driver-files.ts";
import { KnownTree, lastChangeBelow } from "./known-tree.ts";
import { entryOf, type FileStore, type StoreAbilities } from "./file-store.ts";
import { notMade, StepRun } from "./step-run.ts";
import { type Step, stepsOf } from "./steps.ts";
import { Turns } from "./turns.ts";

/** Options of a storage over a driver or a backend. */
export interface FilesOptions {
  /** The directory of the driver or backend that is `/` of the storage. Default `/`. */
  readonly root?: string | undefined;
  /**
   * True when nothing but the returned storage changes the files. They are then listed once, and searches and listings
   * ask for contents alone. Default false: each answer looks at what is there.
   */
  readonly exclusive?: boolean | undefined;
}

/**
 * The table of the options of {@link filesOf}, with the type and the check of each.
 *
 * @printed
 */
export const FILES_OPTIONS: Options<FilesOptions> = described("FilesOptions", {
  root: text({ test: (path) => (path.startsWith("/") ? undefined : "must be an absolute path") }),
  exclusive: flag(),
});

const checkOptions = optionChecker("filesOf", FILES_OPTIONS);
const checkDriver = optionChecker(
  "filesOf",
  instance<Driver>("Driver", "a driver or a backend", {
    stat: required(callback()),
    list: required(callback()),
    read: required(callback()),
    write: required(callback()),
    remove: required(callback()),
    move: callback(),
  }),
);

/** The number of answers that are known by their keys. */
const MAX_KEYS = 10_000;
/** The number of commits that `changes` knows. */
const KEPT_COMMITS = 10_000;
const GIGABYTE = 1024 * 1024 * 1024;

const LIMITS: StorageFacts["limits"] = Object.freeze({
  bodyBytes: GIGABYTE,
  commitOps: 10_000,
  commitBytes: GIGABYTE,
  listPage: 100_000,
});

/**
 * Returns a storage over a driver, or over the files of a backend. One object has to serve all writers of a process:
 * it holds their queue and their idempotency keys. Its probe writes into a directory that it removes again.
 *
 * @example
 * const ws = await openWorkspace({ storage: filesOf(myDriver), root: "/repo" });
 */
export function filesOf(files: Driver | FsBackend, options: FilesOptions = {}): Storage {
  const { root = "/", exclusive = false } = checkOptions(options);
  checkPath(root);
  const top = normalise(root).path;
  const store = isFsBackend(files)
    ? filesOfBackend(asFiles(files), top)
    : filesOfDriver(checkDriver(files), top);
  return new PlacedStorage(store, exclusive);
}

/** A commit that is checked, and what it comes to. */
interface PlannedCommit {
  readonly draft: Draft;
  readonly steps: readonly Step[];
}

class PlacedStorage implements Storage {
  readonly #store: FileStore;
  readonly #known: KnownTree;
  readonly #isExclusive: boolean;
  readonly #turns = new Turns();
  readonly #answers = new Map<string, Committed>();
  /** Distinguishes the versions of this object from those of another one over the same files. */
  readonly #id = randomHex(8);
  /** A commit that failed and was not taken back as a whole. The next commit takes back the rest first. */
  #pendingRollback: StepRun | undefined;
  #isComplete = false;
  #closed = false;

  constructor(store: FileStore, isExclusive: boolean) {
    this.#store = store;
    this.#isExclusive = isExclusive;
    this.#known = new KnownTree(store, KEPT_COMMITS);
  }

  async probe(options: ProbeOptions = {}): Promise<StorageFacts> {
    this.#check(options);
    await probeStorage(this, options);
    const { emptyDirs, links, modes } = this.#store.abilities;
    return Object.freeze({
      cas: true,
      atomic: false,
      shared: false,
      locks: "process",
      forks: false,
      history: false,
      links,
      modes: modes && (await this.#keepsModes()),
      empty_dirs: emptyDirs,
      durable: false,
      limits: LIMITS,
    });
  }

  async readMany(paths: readonly string[], options: ReadManyOptions = {}): Promise<ReadMany> {
    this.#check(options);
    if (options.at !== undefined) throw unknownVersionError(options.at);
    const errors = new Map<string, FilewrightError>();
    for (const path of paths) {
      try {
        checkStoredPath(path);
      } catch (error) {
        errors.set(path, error as FilewrightError);
      }
    }
    const asked = paths.filter((path) => !errors.has(path));
    return this.#turns.read(async () => {
      for (const [path, error] of await this.#look(asked, options.signal)) errors.set(path, error);
      // Contents may be of a later state. One that others find meanwhile is not part of this version.
      const version = this.#head();
      return { version, results: await this.#read(paths, errors, options) };
    });
  }

  async list(request: ListRequest): Promise<EntryPage> {
    this.#check(request);
    if (request.at !== undefined) throw unknownVersionError(request.at);
    const { prefix = "/", depth = Number.POSITIVE_INFINITY, after = "", limit, signal } = request;
    checkStoredPath(prefix);
    checkLimit(limit);
    if (depth < 1) throw new FilewrightError("INVALID_ARGUMENT", "depth must be at least 1");
    return this.#turns.read(async () => {
      // The pages that follow the first one are of the same moment, besides the commits of this object.
      if (after === "" || !this.#isComplete) await this.#scan(prefix, depth, signal);
      const top = this.#known.entry(prefix) ?? null;
      if (top?.unreadable !== undefined) throw unlistedError(prefix, top.unreadable);
      const version = this.#head();
      const page = { depth, after, limit: Math.min(limit, LIMITS.listPage) };
      return { ...entriesPage(nodeAt(this.#known.root, prefix), page), top, version };
    });
  }

  async changes(since: Version | null, options: ChangesOptions): Promise<ChangePage> {
    this.#check(options);
    const { limit, signal } = options;
    checkLimit(limit, 0);
    return this.#turns.read(async () => {
      if (limit > 0) await this.#scan("/", Number.POSITIVE_INFINITY, signal);
      const from = since === null ? "0" : (this.#numberOf(since) ?? "unknown");
      const { entries, next, gap } = this.#known.log.changes(from, limit, this.#known.root);
      const page = { head: this.#head(), entries };
      if (gap === true) return { ...page, gap };
      return next === undefined ? page : { ...page, next: `${this.#id} ${next}` };
    });
  }

  async commit(ops: readonly Op[], options: CommitOptions = {}): Promise<Committed> {
    this.#check(options);
    checkOps(ops, LIMITS);
    checkCommitOptions(options);
    if (options.token !== undefined || (options.records?.length ?? 0) > 0)
      throw new FilewrightError(
        "UNSUPPORTED_OPERATION",
        "this storage has no locks with tokens and no records",
      );
    const own = ops.map((op) => (op.op === "put" ? { ...op, body: new Uint8Array(op.body) } : { ...op }));
    return this.#turns.commit(() => this.#commit(own, options));
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  async #commit(ops: readonly Op[], options: CommitOptions): Promise<Committed> {
    const { key, actor } = options;
    const known = key === undefined ? undefined : this.#answers.get(key);
    if (known !== undefined) return { ...known, repeated: true };
    this.#check(options);
    const { draft, steps } = await this.#plan(ops, options).catch((error: unknown) => {
      throw notMade(error);
    });
    const run = new StepRun(this.#store, (path) => this.#known.entry(path));
    try {
      await run.run(steps);
    } catch (error) {
      if (run.hasPendingRollback) this.#pendingRollback = run;
      this.#isComplete = false;
      throw error;
    }
    const made = await this.#madeEntries(draft, run);
    this.#known.note(made, { key, actor });
    const gone = new Map(made.filter(({ type }) => type === "gone").map((entry) => [entry.path, entry]));
    const named = draft
      .entries()
      .map(({ path }) => this.#known.entry(path) ?? gone.get(path) ?? this.#known.gone(path));
    const answer = Object.freeze({ version: this.#head(), entries: Object.freeze(named) });
    if (key !== undefined) this.#saveAnswer(key, answer);
    return answer;
  }

  /** Rolls back the rest of a commit that failed. @throws IO_ERROR while that is impossible */
  async #finishRollback(): Promise<void> {
    if (this.#pendingRollback === undefined) return;
    this.#isComplete = false;
    const left = await this.#pendingRollback.rollBack();
    if (this.#pendingRollback.hasPendingRollback)
      throw new FilewrightError("IO_ERROR", "an earlier commit failed and is not taken back yet", {
        details: { outcome: "none", left },
      });
    this.#pendingRollback = undefined;
  }

  /** Looks at everything on which a commit is planned. */
  async #lookFor(ops: readonly Op[], { expect = [], signal }: CommitOptions): Promise<void> {
    const paths = ops.flatMap(pathsOfOp);
    const named = [...paths, ...expect.map(({ path }) => path)];
    for (const error of (await this.#look(named, signal)).values()) throw error;
    // A driver may refuse a path, and says so when it is asked about it.
    const unknown = this.#isExclusive ? named.filter((path) => this.#known.entry(path) === undefined) : [];
    for (const error of (await this.#known.look(unknown, signal)).values()) throw error;
    const trees = expect.flatMap((one) => ("tree" in one ? [one.path] : []));
    for (const op of ops) if (op.op === "remove" || op.op === "move") trees.push(pathsOfOp(op)[0] as string);
    for (const path of trees)
      if (this.#known.entry(path)?.type === "dir") await this.#scan(path, Number.POSITIVE_INFINITY, signal);
    for (const path of trees) this.#known.assertListed(path);
  }

  /** Returns the condition with what was found instead; undefined if it holds. */
  #unmet(expect: Expect): UnmetExpect | undefined {
    const { path } = expect;
    const changed =
      "tree" in expect
        ? lastChangeBelow(this.#known.log, path, this.#numberOf(expect.tree) ?? "unknown")
        : undefined;
    return unmetBy(expect, this.#known.entry(path), changed && `${this.#id} ${changed}`);
  }

  /** Checks the conditions, applies the operations to the known tree, and returns their steps. Nothing is changed. */
  async #plan(ops: readonly Op[], options: CommitOptions): Promise<PlannedCommit> {
    await this.#finishRollback();
    await this.#lookFor(ops, options);
    const unmet = (options.expect ?? []).flatMap((one) => this.#unmet(one) ?? []);
    if (unmet.length > 0) throw conflictError(unmet);
    const { nextVersion } = this.#known.log;
    const draft = new Draft(this.#known.root, () => nextVersion, Date.now());
    const steps: Step[] = [];
    for (const op of ops) {
      const ready = await this.#ready(op);
      const own = stepsOf(ready, draft.root, this.#movesOf(op, ops, draft.root));
      draft.apply(ready);
      for (const step of own) steps.push(step);
    }
    const { links } = this.#store.abilities;
    for (const { kind, path } of steps)
      if (kind === "symlink" && !links)
        throw backendError("UNSUPPORTED_OPERATION", path, "this storage has no symbolic links");
    checkAborted(options.signal);
    return { draft, steps };
  }

  /** Returns what one call moves for an operation. Where others change the same tree, each of its files is moved by itself. */
  #movesOf(op: Op, ops: readonly Op[], root: StoredDir): StoreAbilities["moves"] {
    const { moves } = this.#store.abilities;
    // One call moves a file in either case.
    if (op.op !== "move" || moves !== "trees" || nodeAt(root, op.from)?.entry.type === "file") return moves;
    const tops = [op.from, op.to];
    const isBelow = (path: string): boolean => tops.some((top) => isWithin(path, top));
    const isAlone = ops.every((other) => other === op || !pathsOfOp(other).some(isBelow));
    return isAlone ? moves : "files";
  }

  async #ready(op: Op): Promise<ReadyOp<HeldContent>> {
    if (op.op !== "put" && op.op !== "link") return op;
    const { path, mode } = op;
    const body = op.op === "put" ? op.body : await this.#contentOf(op.hash, path);
    const hash = await engine().onThreads.sha256(body);
    if (op.hash !== undefined && op.hash !== hash)
      throw backendError("INVALID_ARGUMENT", path, "the hash is not that of the content");
    return { op: "put", path, body, hash, size: body.length, mode };
  }

  /** Returns a content that was seen in this storage. @throws NOT_FOUND when it is there no more */
  async #contentOf(hash: string, path: string): Promise<Uint8Array> {
    const from = this.#known.pathOf(hash);
    try {
      const { bytes } = from === undefined ? { bytes: undefined } : await this.#store.read(from);
      if (bytes !== undefined && (await engine().onThreads.sha256(bytes)) === hash) return bytes;
    } catch (error) {
      if (!(error instanceof FilewrightError) || error.code === "IO_ERROR") throw error;
    }
    throw backendError("NOT_FOUND", path, "the storage has no such content");
  }

  /** Returns what the commit has left at each path that it changed. */
  async #madeEntries(draft: Draft, { left }: StepRun): Promise<readonly Entry[]> {
    const entries: Entry[] = [];
    for (const { path, before, after } of draft.changes()) {
      const found = left.get(path);
      let entry: Entry | undefined;
      if (found !== undefined && found !== null) entry = entryOf(found, after?.entry.hash);
      else if (found === undefined && after !== undefined) entry = await this.#moved(path);
      if (entry !== undefined) entries.push(entry);
      else if (before !== undefined) entries.push(this.#known.gone(path));
    }
    return entries;
  }

  /** Returns what is at a path below a tree that was moved as a whole. What cannot be read is found by the next look. */
  async #moved(path: string): Promise<Entry | undefined> {
    try {
      const found = await this.#store.stat(path);
      if (found === null) return undefined;
      if (found.type !== "file") return entryOf(found, "");
      const { hash, file } = await this.#store.hash(path);
      return entryOf(file, hash);
    } catch {
      this.#isComplete = false;
      return undefined;
    }
  }

  #saveAnswer(key: string, answer: Committed): void {
    this.#answers.set(key, answer);
    // The oldest come first.
    for (const [old] of this.#answers) {
      if (this.#answers.size <= MAX_KEYS) break;
      this.#answers.delete(old);
    }
  }

  /** Returns what is at some paths, as they were looked at. */
  async #read(
    paths: readonly string[],
    errors: ReadonlyMap<string, FilewrightError>,
    { bodies = true, maxBytes = Number.POSITIVE_INFINITY, signal }: ReadManyOptions,
  ): Promise<ReadMany["results"]> {
    let left = maxBytes;
    const reads = paths.map(
      (path): Promise<ReadEntry | FilewrightError | null> | ReadEntry | FilewrightError | null => {
        const error = errors.get(path);
        if (error !== undefined) return error;
        const entry = this.#known.entry(path);
        if (entry?.type !== "file" || !bodies) return entry === undefined ? null : { entry };
        const size = entry.size ?? 0;
        if (size > left) {
          left = -1;
          return { entry, left: true };
        }
        left -= size;
        return this.#body(path);
      },
    );
    const results = await Promise.all(reads);
    checkAborted(signal);
    return results;
  }

  async #body(path: string): Promise<ReadEntry | FilewrightError | null> {
    const since = this.#known.log.head;
    try {
      const { bytes, file } = await this.#store.read(path);
      const entry = entryOf(file, await engine().onThreads.sha256(bytes));
      await this.#known.see([entry], since);
      const known = this.#known.entry(path);
      return { entry: known?.version === entry.version ? known : entry, body: bytes };
    } catch (error) {
      if (!(error instanceof FilewrightError) || error.code === "CANCELLED") throw error;
      return error.code === "NOT_FOUND" ? null : error;
    }
  }

  async #look(
    paths: Iterable<string>,
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<string, FilewrightError>> {
    if (this.#isExclusive) {
      await this.#scan("/", Number.POSITIVE_INFINITY, signal);
      return new Map();
    }
    return this.#known.look(paths, signal);
  }

  async #scan(path: string, depth: number, signal: AbortSignal | undefined): Promise<void> {
    if (!this.#isExclusive) await this.#known.scan(path, depth, signal);
    else if (this.#isComplete) await this.#known.scanUnlisted(signal);
    else await this.#known.scan("/", Number.POSITIVE_INFINITY, signal);
    this.#isComplete ||= this.#isExclusive || (path === "/" && depth === Number.POSITIVE_INFINITY);
  }

  /** Writes a file with unusual permission bits, and returns whether it has them. */
  async #keepsModes(): Promise<boolean> {
    const path = `/.filewright-probe-${randomHex(8)}`;
    const { entries } = await this.commit([{ op: "put", path, body: new Uint8Array(0), mode: 0o640 }]);
    await this.commit([{ op: "remove", path }]);
    return entries.find((entry) => entry.path === path)?.mode === 0o640;
  }

  #head(): Version {
    return `${this.#id} ${this.#known.log.head}`;
  }

  /** Returns the version as the log of this object has it; undefined for one of another object. */
  #numberOf(version: Version): string | undefined {
    return version.startsWith(`${this.#id} `) ? version.slice(this.#id.length + 1) : undefined;
  }

  #check({ signal }: StorageCall): void {
    if (this.#closed) throw closedError();
    checkAborted(signal);
  }
}

checkStorageCalls(PlacedStorage.prototype, "filesOf");
