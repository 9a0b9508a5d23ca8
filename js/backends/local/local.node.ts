/**
 * The local disk, through the native addon.
 *
 * Native code resolves every path beneath descriptors of the allowed roots; nothing is checked
 * here and opened there. Without a policy the one root is `/`. Contents are passed without a copy,
 * facts encoded.
 */
import { optionChecker } from "../../schema/option.ts";
import { debug } from "../../engine/debug.ts";
import { type NativeBinding, requireAddon } from "../../engine/load.node.ts";
import type { Page, PageRequest } from "../../engine/read.ts";
import { decodeFileHash, decodeFilePage } from "../../engine/generated/records.ts";
import type { NativeRoots } from "../../engine/generated/binding.ts";
import type {
  FindQuery,
  FindResult,
  CodeSearchQuery,
  CodeSearchResult,
  FuzzyQuery,
  FuzzyResult,
  IndexStatus,
  Counting,
  SearchQuery,
  SearchResult,
} from "../../engine/search-types.ts";
import { type TreeSearch, makeTreeSearch } from "../../engine/native/tree-search.ts";
import { Unpacker } from "../../engine/wire/unpack.ts";
import type {
  CopyTreeOptions,
  DeleteOptions,
  FsEntry,
  FsStat,
  GlobRoot,
  ListOptions,
  LockHandle,
  LockOptions,
  MkdirOptions,
  ReadOptions,
  TextOptions,
  TreeCounts,
  VersionedBytes,
  WriteResult,
} from "../backend.ts";
import { CompleteFiles } from "../complete.ts";
import { checkCalls, type ListPageOptions, type RemoveTreeOptions } from "../call-options.ts";
import { checkMode } from "../failure.ts";
import { provideShortcuts } from "../abilities.ts";
import { filesBelow } from "../fallback/walk-tree.ts";
import {
  asideNameOf,
  cancellable,
  capabilitiesOf,
  decodeTreeResult,
  listPage,
  isPath,
  nativeWriteOptions,
  writeResultOf,
  openRoots,
  recordedListsOf,
  type NativeTransfer,
  runNativeTransfer,
  withPathInRejection,
  decodeRead,
  decodeWriteResult,
  nativeDurability,
} from "./local-calls.ts";
import {
  LOCAL_CALL_CHECKS,
  LOCAL_OPTIONS,
  type KernelEnforcement,
  type LocalCapabilities,
  type LocalOptions,
  type LocalTransferOptions,
  type LocalWriteOptions,
} from "./local-options.ts";
import type { Signalled } from "../../engine/errors.ts";
import { fileKeeperOf } from "./file-keeper.node.ts";
import { Lookups } from "./lookups.node.ts";
import { decodeListingYielding, decodePathFacts, decodeTreePage } from "./local-unpack.ts";
import { lockPath } from "./lock.node.ts";
import { defaultStateDir } from "../state-directory.node.ts";
import { HOST_PATHS } from "../node/host-path.node.ts";
import type { SandboxPolicy } from "../policy.ts";
import { checkPath, childOf, normalise, parentOf } from "../paths.ts";
import { encodeText } from "../text.ts";
import type { TreePage, TreeRequest } from "../entry.ts";
import { Yielder } from "../../engine/yielder.ts";

export type { KernelEnforcement, LocalCapabilities, LocalOptions, LocalTransferOptions, LocalWriteOptions };

const checkOptions = optionChecker("LocalBackend", LOCAL_OPTIONS);

/** The methods whose changes a list makes. A host may have its own. */
const LISTED_METHODS = ["writeBytes", "delete", "mkdir", "rename", "copyFile"] as const;

const LOCAL_ABILITIES = Object.freeze({
  conditions: true,
  ranges: true,
  links: true,
  modes: true,
  moves: true,
  asides: true,
  locks: true,
});

/**
 * The local disk.
 *
 * @example
 * const disk = new LocalBackend();
 * await disk.writeText("/tmp/a.txt", "one\n");
 * const { version } = await disk.stat("/tmp/a.txt");
 * await disk.writeText("/tmp/a.txt", "two\n", { ifVersion: version }); // CONFLICT if changed meanwhile
 */
export class LocalBackend extends CompleteFiles {
  readonly #native: NativeBinding;
  readonly #roots: NativeRoots;
  readonly #search: TreeSearch;
  readonly #lookups: Lookups;
  readonly #options: LocalOptions;

  /** A copy of the backend that enforces a policy natively. A confined backend is not confined again. */
  declare readonly confine?: (policy: SandboxPolicy) => LocalBackend;
  #trusted: LocalBackend | undefined;
  /** The directory in which this backend has taken a lock: it takes all in one. */
  #lockDirectory: string | undefined;

  /**
   * @param roots the native object of the policy, where the caller has created it
   * @throws UNSUPPORTED_PLATFORM where the native addon does not load; INVALID_ARGUMENT and others
   * for an invalid policy
   */
  constructor(given: LocalOptions = {}, roots?: NativeRoots) {
    super(LOCAL_ABILITIES);
    const options = checkOptions(given);
    this.#native = requireAddon("the local disk");
    this.#options = Object.freeze({ ...options });
    const { maxOutputBytes: maxAnswerBytes = Number.POSITIVE_INFINITY } = options.policy ?? {};
    const confine = (policy: SandboxPolicy): LocalBackend => new LocalBackend({ ...this.#options, policy });
    const isOpen = options.policy === undefined;
    if (isOpen) this.confine = confine;
    provideShortcuts(this, {
      paths: HOST_PATHS,
      ownCursors: true,
      maxAnswerBytes,
      searchCode: (roots, query) => this.#searchCode(roots, query),
      // By the method, which a host may have replaced.
      confine: isOpen ? (within) => (this.confine ?? confine)(within) : undefined,
    });
    this.#roots = roots ?? openRoots(this, this.#native, options);
    this.#lookups = new Lookups(this.#native, this.#roots);
    if (new.target === LocalBackend) {
      const { stateDir, durability } = options;
      const isDurable = durability === "durable";
      provideShortcuts(this, {
        keeper: fileKeeperOf({ disk: this, roots: this.#roots, stateDir, durable: isDurable }),
      });
      const commit = recordedListsOf(this.#native, this.#roots, this.#options);
      const own = LocalBackend.prototype;
      provideShortcuts(this, {
        recordedList: () => (LISTED_METHODS.every((name) => this[name] === own[name]) ? commit : undefined),
      });
    }
    if (options.stateDir !== undefined && options.index !== "off" && roots === undefined) {
      this.#roots.keepIndexes(options.stateDir);
    }
    this.#search = makeTreeSearch(this.#roots, this.#native.CancelToken);
  }

  /** Under a policy that hides secrets: allows reading the content of exactly these. Replaces the previous list. */
  override grantSecrets(paths: readonly string[]): void {
    this.#roots.grantSecrets([...paths]);
  }

  /** A copy of the backend that treats secrets as ordinary files, for Filewright's own work, such as a rollback. */
  override trusted(): LocalBackend {
    if (this.#options.policy?.secrets !== "grant") return this;
    this.#trusted ??= new LocalBackend(this.#options, this.#roots.withoutSecretFilter());
    return this.#trusted;
  }

  /** Returns how the files are protected. */
  capabilities(): LocalCapabilities {
    return capabilitiesOf(this.#roots);
  }

  /** Returns false also for paths that the policy refuses. */
  override async exists(path: string): Promise<boolean> {
    return isPath(path) && this.#roots.exists(path);
  }
  async stat(path: string): Promise<FsStat> {
    checkPath(path);
    return decodePathFacts(await withPathInRejection(path, this.#roots.stat(path, true)), path, true);
  }
  override async lstat(path: string): Promise<FsStat> {
    checkPath(path);
    return decodePathFacts(await withPathInRejection(path, this.#roots.stat(path, false)), path, false);
  }
  override readBytes(path: string): Promise<Uint8Array> {
    try {
      checkPath(path);
      return withPathInRejection(path, this.#roots.readBytes(path));
    } catch (error) {
      return Promise.reject(error);
    }
  }
  async read(path: string, options: ReadOptions = {}): Promise<VersionedBytes | null> {
    checkPath(path);
    const { range, ifNoneMatch, maxBytes = -1, signal } = options;
    if (range === undefined && ifNoneMatch === undefined) return this.#lookups.read(path, maxBytes, signal);
    const [start, end] = range === undefined ? [-1, -1] : [range.start, range.end];
    const content = await cancellable(this.#native, path, signal, (cancel) =>
      this.#roots.read(path, start, end, maxBytes, ifNoneMatch, cancel),
    );
    return decodeRead(content, path);
  }
  /** Returns the SHA-256 of a file, `sha256:` and 64 digits, and its version; in constant memory. */
  override async hash(
    path: string,
    options: Signalled = {},
  ): Promise<{ readonly hash: string; readonly version: string }> {
    checkPath(path);
    const { signal } = options;
    const packed = await cancellable(this.#native, path, signal, (cancel) =>
      this.#roots.hashFile(path, cancel),
    );
    const { hash, version } = decodeFileHash(new Unpacker(packed));
    return Object.freeze({ hash, version });
  }
  /** Returns a page of a text file of any size, in constant memory. */
  override async readLines(path: string, request: PageRequest & Signalled = {}): Promise<Page> {
    checkPath(path);
    const { signal, ...wanted } = request;
    const packed = await cancellable(this.#native, path, signal, (cancel) =>
      this.#roots.readPage(path, JSON.stringify(wanted), cancel),
    );
    return Object.freeze(decodeFilePage(new Unpacker(packed)));
  }
  override async writeText(
    path: string,
    content: string,
    given: LocalWriteOptions & TextOptions = {},
  ): Promise<WriteResult> {
    const { encoding, ...options } = given;
    return this.#write(path, encodeText(content, encoding, path), options);
  }
  async writeBytes(path: string, content: Uint8Array, options: LocalWriteOptions = {}): Promise<WriteResult> {
    return this.#write(path, content, options);
  }
  async #write(path: string, content: Uint8Array, options: LocalWriteOptions): Promise<WriteResult> {
    checkPath(path);
    const { ifVersion, flags, mode, durability } = nativeWriteOptions(path, options, this.#options);
    const packed = await cancellable(this.#native, path, options.signal, (cancel) =>
      this.#roots.writeBytes(path, content, ifVersion, flags, mode, durability, asideNameOf(options), cancel),
    );
    return decodeWriteResult(packed);
  }
  async delete(path: string, options: DeleteOptions = {}): Promise<void> {
    checkPath(path);
    const durability = nativeDurability(options, this.#options);
    const { ifVersion } = options;
    await withPathInRejection(path, this.#roots.delete(path, ifVersion, asideNameOf(options), durability));
  }
  async mkdir(path: string, options: MkdirOptions = {}): Promise<void> {
    checkPath(path);
    const { parents = true, existOk = true } = options;
    const durability = nativeDurability(options, this.#options);
    await withPathInRejection(path, this.#roots.mkdir(path, parents, existOk, durability));
  }
  async listDir(path: string, options: ListOptions = {}): Promise<readonly FsEntry[]> {
    checkPath(path);
    const { facts = true, signal } = options;
    const packed = await cancellable(this.#native, path, signal, (cancel) =>
      this.#roots.listDir(path, facts, -1, undefined, false, cancel),
    );
    return (await decodeListingYielding(packed, normalise(path).path, new Yielder({ signal }))).entries;
  }
  /** Returns a page of the entries of a tree; from the names in an index where ignore files apply. */
  override async listTree(root: string, request: TreeRequest): Promise<TreePage> {
    checkPath(root);
    const { signal, ...wanted } = request;
    const options = JSON.stringify({ index: this.#options.index, ...wanted });
    const packed = await cancellable(this.#native, root, signal, (cancel) =>
      this.#roots.listTree(root, options, cancel),
    );
    return decodeTreePage(packed, normalise(root).path);
  }
  async listPage(
    path: string,
    options: ListPageOptions,
  ): Promise<{ readonly entries: readonly FsEntry[]; readonly next?: string; readonly total: number }> {
    return listPage(this.#roots, path, options);
  }
  override async *iterFiles(root: string): AsyncGenerator<string> {
    yield* filesBelow({ listDir: (path) => this.listDir(path, { facts: false }) }, root);
  }
  /** `root` defaults to the policy's working directory. */
  override async glob(pattern: string, given: GlobRoot = {}): Promise<readonly string[]> {
    const root = normalise(given.root ?? this.#options.policy?.cwd ?? "/").path;
    const { paths } = await this.find(root, { pattern, type: "file", hidden: true, respectIgnore: false });
    return Object.freeze(paths.map((path) => childOf(root, path)));
  }
  /** Searches contents below a directory, or in a file. Paths in results are relative to it. */
  override async grep(root: string, query: SearchQuery & Signalled & Counting): Promise<SearchResult> {
    checkPath(root);
    const index = query.index ?? this.#options.index;
    const result = await withPathInRejection(root, this.#search.grep(root, { ...query, index }));
    debug.search?.(`${root}: view by ${result.fresh}, ${result.filesSearched} files read`);
    return result;
  }
  /**
   * Builds the index of a directory now, rather than after the first slow search. Searches do not wait for it. A
   * signal cancels it and discards the partial index.
   */
  async warm(
    root: string,
    options: { readonly respectIgnore?: boolean } & Signalled = {},
  ): Promise<IndexStatus> {
    checkPath(root);
    return withPathInRejection(root, this.#search.warm(root, options.respectIgnore ?? true, options.signal));
  }
  /** Frees the memory and the watches of all indexes. The next search builds new ones. */
  dispose(): void {
    this.#search.dispose();
    this.#trusted?.dispose();
  }
  /**
   * Releases all resources at once: descriptors, watches, indexes and, where no other backend of the same policy uses
   * them, threads. Running calls finish; later ones fail with UNSUPPORTED_OPERATION.
   */
  override close(): void {
    this.#lookups.start();
    this.#roots.close();
    this.#trusted?.close();
  }
  /** Returns the state of the index that covers a directory. */
  async indexStatus(root: string): Promise<IndexStatus | undefined> {
    checkPath(root);
    return withPathInRejection(root, this.#search.indexStatus(root));
  }
  /** Finds entries below a directory by name. Paths in results are relative to it. */
  override async find(root: string, query: FindQuery & Signalled): Promise<FindResult> {
    checkPath(root);
    const index = query.index ?? this.#options.index;
    return withPathInRejection(root, this.#search.find(root, { ...query, index }));
  }
  /**
   * Fuzzy path search: finds files whose paths contain the letters of a query in order, best first; a longer query may
   * have one typo. The names below `root` are read by the first call and then kept in step with the disk.
   */
  override async findFiles(root: string, query: Omit<FuzzyQuery, "rank"> & Signalled): Promise<FuzzyResult> {
    checkPath(root);
    const index = query.index ?? this.#options.index;
    return withPathInRejection(root, this.#search.findFiles(root, { ...query, index }));
  }

  /** Ranks blocks of files for `searchCode`; undefined where a host has its own way to read or search them. */
  async #searchCode(
    roots: readonly string[],
    query: CodeSearchQuery & Signalled,
  ): Promise<CodeSearchResult | undefined> {
    const { read, readBytes, listDir, grep } = LocalBackend.prototype;
    if (this.read !== read || this.readBytes !== readBytes || this.listDir !== listDir || this.grep !== grep)
      return undefined;
    for (const root of roots) checkPath(root);
    return withPathInRejection(roots[0] ?? "", this.#search.searchCode(roots, query, this.#options.index));
  }

  override async rename(from: string, to: string, options: LocalTransferOptions = {}): Promise<WriteResult> {
    const { ifVersion, ifTargetVersion } = options;
    const version = await this.#transfer(from, to, options, (flags, durability, cancel) => {
      const aside = asideNameOf(options);
      return this.#roots.rename(from, to, flags, durability, ifVersion, ifTargetVersion, aside, cancel);
    });
    return version === null ? Object.freeze({}) : writeResultOf(version);
  }
  override async copyFile(
    from: string,
    to: string,
    options: LocalTransferOptions = {},
  ): Promise<WriteResult> {
    const packed = await this.#transfer(from, to, options, (flags, durability, cancel) =>
      this.#roots.copyFile(from, to, flags, durability, options.ifVersion, asideNameOf(options), cancel),
    );
    return decodeWriteResult(packed);
  }
  override async copyTree(
    from: string,
    to: string,
    options: CopyTreeOptions & LocalTransferOptions = {},
  ): Promise<TreeCounts> {
    const copied = this.#transfer(from, to, options, (...how) => this.#roots.copyTree(from, to, ...how));
    return decodeTreeResult(await copied);
  }
  override async removeTree(path: string, options: RemoveTreeOptions = {}): Promise<TreeCounts> {
    checkPath(path);
    const aside = asideNameOf(options);
    const durability = nativeDurability(options, this.#options);
    const removed = cancellable(this.#native, path, options.signal, (cancel) =>
      this.#roots.removeTree(path, aside, durability, cancel),
    );
    return decodeTreeResult(await removed);
  }
  /** Returns a new path in the directory of `path`, to which a change renames the entry it replaces or deletes. */
  override asidePath(path: string): string {
    checkPath(path);
    return childOf(parentOf(normalise(path).path), this.#native.asideName());
  }
  override async readLink(path: string): Promise<string> {
    checkPath(path);
    return withPathInRejection(path, this.#roots.readLink(path));
  }
  override async symlink(target: string, path: string): Promise<void> {
    checkPath(target);
    checkPath(path);
    await withPathInRejection(path, this.#roots.symlink(target, path));
  }
  override async realpath(path: string): Promise<string> {
    checkPath(path);
    return this.#lookups.realpath(path);
  }
  /**
   * Returns the content of git's `info/exclude` of the repository outside the roots of which a directory is a linked
   * worktree. For ignore rules alone.
   */
  override async gitExclude(directory: string): Promise<Uint8Array | undefined> {
    checkPath(directory);
    return (await withPathInRejection(directory, this.#roots.gitExclude(directory))) ?? undefined;
  }
  /** Returns the other names (hard links) of a file below the roots of the policy, as paths without links. */
  override async otherNames(path: string): Promise<readonly string[]> {
    checkPath(path);
    const names = await withPathInRejection(path, this.#roots.otherNames(path));
    return names.split("\0").slice(1);
  }
  override async chmod(path: string, mode: number): Promise<void> {
    checkPath(path);
    checkMode(path, mode);
    await withPathInRejection(path, this.#roots.chmod(path, mode));
  }
  override async sweep(path: string): Promise<void> {
    checkPath(path);
    await withPathInRejection(path, this.#roots.sweep(path));
  }
  /** Locks the path against other processes with the same state directory. */
  override async lock(path: string, options: LockOptions): Promise<LockHandle> {
    checkPath(path);
    const real = options.resolved ? path : await this.realpath(path);
    const directory = this.#lockDirectory ?? this.#options.stateDir ?? defaultStateDir();
    const lock = await lockPath(directory, real, path, options);
    this.#lockDirectory = directory;
    return lock;
  }

  #transfer<T>(from: string, to: string, options: LocalTransferOptions, run: NativeTransfer<T>): Promise<T> {
    return runNativeTransfer(this.#native, [from, to], options, this.#options, run);
  }
}

checkCalls(LocalBackend.prototype, LOCAL_CALL_CHECKS);
