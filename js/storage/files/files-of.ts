/**
 * A storage over a driver, or over a backend: the one way in which files of a host become those of a workspace.
 *
 * The commits of one object run one after the other, and no read of it sees half of one. A commit is planned on what is
 * there, its changes are made one by one, and they are taken back when one fails; a process that ends in the middle
 * leaves those that it has made, so `atomic` is false. Changes of other programs are found by looking, unless the
 * caller says that there are none.
 */
import { checkStorageCalls } from "../call-options.ts";
import { checkAborted, FilewrightError, fromEngine, makeError } from "../../engine/errors.ts";
import { engine } from "../../engine/current.ts";
import { randomHex } from "../../engine/hex.ts";
import { type FsBackend, isFsBackend } from "../../backends/backend.ts";
import type { Files } from "../../backends/files.ts";
import { concurrentGroups } from "../../backends/concurrent.ts";
import { asFiles } from "../../backends/host-files.ts";
import { backendError, isUncertain, unsupportedError } from "../../backends/failure.ts";
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
import { checkOps, checkStoredPath, pathsOfOp, unmetBy } from "../check.ts";
import { closedError, conflictError, unknownVersionError, unlistedError } from "../failure.ts";
import { Draft, type HeldContent, type ReadyOp } from "../draft.ts";
import { entriesPage, nodeAt } from "../../backends/tree/nodes.ts";
import type { Changed } from "../../backends/entry.ts";
import type { StoredDir, StoredNode } from "../entry.ts";
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
import { type Expected, makeOps } from "../../backends/transaction/op.ts";
import { Transaction, type TransactionOptions } from "../../backends/transaction/transaction.ts";
import type { WriteResult } from "../../backends/backend.ts";
import type { Driver } from "./driver.ts";
import { DriverStore } from "./driver-files.ts";
import { KnownTree, lastChangeBelow } from "./known-tree.ts";
import { FileStore, storeVersion } from "./file-store.ts";
import { stepsOf } from "./steps.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
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

/** How the steps of a commit are kept for its rollback: in memory, until the last one is made. */
const KEPT_STEPS: TransactionOptions = {
  required: true,
  contents: false,
  maxBytes: GIGABYTE,
  maxSteps: Number.POSITIVE_INFINITY,
  // A commit that waited for it would block all later ones.
  gone: "conflict",
};

/** The paths that a message names. `details.left` has all of them. */
const MAX_SHOWN_PATHS = 5;

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
    ? new FileStore(asFiles(files), top)
    : new DriverStore(checkDriver(files), top);
  return new PlacedStorage(store, exclusive);
}

/** A commit that is checked, and what it comes to. */
interface PlannedCommit {
  readonly draft: Draft;
  readonly steps: readonly Op[];
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
  #pendingRollback: Transaction | undefined;
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
    const { emptyDirs, files } = this.#store;
    const { links, modes } = files.abilities;
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
    const results = await this.#make(steps, draft).catch((error: unknown) => {
      this.#isComplete = false;
      throw error;
    });
    const made = await this.#madeEntries(draft, results);
    this.#known.note(made, { key, actor });
    const gone = new Map(made.filter(({ type }) => type === "gone").map((entry) => [entry.path, entry]));
    const named = draft
      .entries()
      .map(({ path }) => this.#known.entry(path) ?? gone.get(path) ?? this.#known.gone(path));
    const answer = Object.freeze({ version: this.#head(), entries: Object.freeze(named) });
    if (key !== undefined) this.#saveAnswer(key, answer);
    return answer;
  }

  /**
   * Makes the steps of a commit, and returns their results by their paths in the files.
   * @throws the error of a step; with `details.rolled_back: false` when not all were taken back
   */
  async #make(steps: readonly Op[], draft: Draft): Promise<ReadonlyMap<string, WriteResult>> {
    const { files } = this.#store;
    // One step is usually one call, which needs no copy of the content that it replaces.
    if (steps.length <= 1)
      return this.#makeSteps(files, steps).catch(async (error: unknown) =>
        this.#settled(await this.#conflict(error), draft),
      );
    const transaction = new Transaction(files, KEPT_STEPS);
    try {
      const results = await this.#makeSteps(transaction.backend, steps);
      await transaction.finish();
      return results;
    } catch (error) {
      const thrown = await this.#conflict(error);
      const { conflicts, failed } = await transaction.rollBack();
      if (failed.length > 0) this.#pendingRollback = transaction;
      const tops = [...conflicts, ...failed];
      // Of a move that is not taken back, the rollback names its new place alone.
      const moved = steps.flatMap((step) =>
        step.op === "move" && tops.includes(this.#store.real(step.to)) ? [step.from] : [],
      );
      throw this.#failure(thrown, [...moved, ...tops.map((path) => this.#store.stored(path))]);
    }
  }

  #makeSteps(fs: Files, steps: readonly Op[]): Promise<ReadonlyMap<string, WriteResult>> {
    const store = this.#store;
    const there = (real: string): Expected | null => {
      const entry = this.#known.entry(store.stored(real));
      return entry === undefined ? null : { ...entry, version: storeVersion(entry.version) };
    };
    return makeOps(
      steps.map((step) => store.placed(step)),
      { fs, there, linked: async () => undefined },
    );
  }

  /** Finds out by looking whether a commit of one step was made whose call failed. @throws its error where it was not */
  async #settled(error: unknown, draft: Draft): Promise<ReadonlyMap<string, WriteResult>> {
    if (!isUncertain(error)) throw error;
    const states = draft.changes();
    const paths = states.map(({ path }) => path);
    const now = await Promise.all(paths.map((path) => this.#store.stat(path))).catch(() => undefined);
    if (now === undefined) throw withFacts(error, { outcome: "unknown", left: paths });
    const changed = states.filter(({ before }, at) => now[at]?.version !== before?.entry.version);
    if (changed.length === 0) throw notMade(error);
    const isMade = await Promise.all(states.map((state) => this.#isMade(state))).catch(() => [false]);
    if (!isMade.includes(false)) return new Map();
    throw withFacts(error, { outcome: "unknown", left: changed.map(({ path }) => path) });
  }

  /** Returns true when a path has what a commit makes there. */
  async #isMade({ path, after }: Changed<StoredNode>): Promise<boolean> {
    const now = await this.#store.stat(path);
    if (now === null || after === null) return now === after;
    const { type, hash, target } = after.entry;
    if (now.type === "file") return type === "file" && (await this.#store.hash(path)).hash === hash;
    return now.type === type && (now.type === "dir" || now.target === target);
  }

  /** Returns the error of a step; for a path that another writer has changed since the commit was planned, as a conflict. */
  async #conflict(error: unknown): Promise<unknown> {
    if (!(error instanceof FilewrightError) || error.code !== "CONFLICT" || error.path === undefined)
      return error;
    const path = this.#store.stored(error.path);
    const found = (await this.#store.stat(path).catch(() => null))?.version ?? null;
    return conflictError([{ path, expected: this.#known.entry(path)?.version ?? null, found }]);
  }

  #failure(thrown: unknown, paths: readonly string[]): unknown {
    const left = [...new Set(paths)].sort();
    if (left.length === 0) return notMade(thrown);
    // A host's files may throw anything.
    const error = fromEngine(thrown);
    const { code, path, hint, cause, details } = error;
    const shown = left.slice(0, MAX_SHOWN_PATHS).join(", ");
    const message = `${error.message}; ${left.length} of the commit's paths are not as before: ${shown}`;
    const facts = { ...details, rolled_back: false, left };
    return makeError(this.#pendingRollback === undefined ? code : "IO_ERROR", message, {
      path,
      hint,
      cause,
      details: facts,
    });
  }

  /** Rolls back the rest of a commit that failed. @throws IO_ERROR while that is impossible */
  async #finishRollback(): Promise<void> {
    if (this.#pendingRollback === undefined) return;
    this.#isComplete = false;
    const { failed } = await this.#pendingRollback.rollBack();
    if (failed.length > 0)
      throw new FilewrightError("IO_ERROR", "an earlier commit failed and is not taken back yet", {
        details: { outcome: "none", left: failed.map((path) => this.#store.stored(path)) },
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
    const steps: Op[] = [];
    for (const op of ops) {
      const ready = await this.#ready(op);
      const own = stepsOf(ready, draft.root, this.#movesOf(op, ops, draft.root));
      draft.apply(ready);
      for (const step of own) steps.push(step);
    }
    const { links, modes } = this.#store.files.abilities;
    for (const step of steps) {
      if (step.op === "symlink" && !links) throw unsupportedError(step.path, "symbolic links");
      if (step.op === "chmod" && !modes) throw unsupportedError(step.path, "permission bits");
    }
    checkAborted(options.signal);
    return { draft, steps };
  }

  /** Returns what one call moves for an operation. Where others change the same tree, each of its files is moved by itself. */
  #movesOf(op: Op, ops: readonly Op[], root: StoredDir): FileStore["moves"] {
    const { moves } = this.#store;
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
  async #madeEntries(draft: Draft, results: ReadonlyMap<string, WriteResult>): Promise<readonly Entry[]> {
    const states = draft.changes().filter(({ before, after }) => before ?? after);
    const entries: Entry[] = [];
    for (const group of concurrentGroups(states))
      for (const entry of await Promise.all(group.map((state) => this.#madeEntry(state, results))))
        entries.push(entry);
    return entries;
  }

  /** Returns what the commit has left at a path. What cannot be looked at is found by the next look. */
  async #madeEntry(
    { path, after }: Changed<StoredNode>,
    results: ReadonlyMap<string, WriteResult>,
  ): Promise<Entry> {
    if (after === null) return this.#known.gone(path);
    try {
      const found = await this.#store.left(path, results.get(this.#store.real(path)));
      if (found === null) return this.#known.gone(path);
      const { hash, size = 0 } = after.entry;
      return found.type === "file" ? Object.freeze(withoutUndefined({ ...found, size, hash })) : found;
    } catch {
      this.#isComplete = false;
      return after.entry;
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
      const { bytes, entry: found } = await this.#store.read(path);
      const entry = Object.freeze({ ...found, hash: await engine().onThreads.sha256(bytes) });
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

/** Returns the error of a commit that has changed nothing. An IO_ERROR says so. */
function notMade(error: unknown): unknown {
  const isKnown = error instanceof FilewrightError && error.code !== "IO_ERROR";
  return isKnown ? error : withFacts(error, { outcome: "none" });
}

function withFacts(error: unknown, facts: Readonly<Record<string, unknown>>): unknown {
  const { message, path, hint, cause, details } = fromEngine(error);
  return makeError("IO_ERROR", message, { path, hint, cause, details: { ...details, ...facts } });
}

checkStorageCalls(PlacedStorage.prototype, "filesOf");
