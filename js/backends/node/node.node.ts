/**
 * The local disk without the native addon, over `node:fs`.
 *
 * Paths are resolved and checked against the policy in TypeScript (`../confined`). `exact.node.ts` then opens exactly
 * the path that was checked, or fails if another program has changed the path in between. The call is then repeated.
 */
import { optionChecker } from "../../schema/option.ts";
import type { Signalled } from "../../engine/errors.ts";
import type { Page, PageRequest } from "../../engine/read.ts";
import { Yielder } from "../../engine/yielder.ts";
import type {
  CopyTreeOptions,
  DeleteOptions,
  FsBackend,
  FsEntry,
  FsStat,
  GlobRoot,
  ListOptions,
  LockHandle,
  LockOptions,
  MaybePromise,
  MkdirOptions,
  MoveOptions,
  ReadOptions,
  TextOptions,
  TreeCounts,
  VersionedBytes,
  WriteOptions,
  WriteResult,
} from "../backend.ts";
import { checkCalls, type ListPageOptions, type RemoveTreeOptions } from "../call-options.ts";
import { confineBackend } from "../confined/confine.ts";
import { backendError } from "../failure.ts";
import { listPageVia } from "../fallback/fallback.ts";
import { provideAbilities } from "../abilities.ts";
import { checkPath, childOf, normalise, parentOf } from "../paths.ts";
import type { RepositorySource } from "../walk/git-directory.ts";
import { type SandboxPolicy, withoutSecretFilter } from "../policy.ts";
import { isPathChanged } from "./errors.node.ts";
import { exactDisk } from "./exact.node.ts";
import { canonicalHostPath, HOST_PATHS } from "./host-path.node.ts";
import { NODE_CALL_CHECKS, type NodeCapabilities, type NodeOptions, NODE_OPTIONS } from "./node-options.ts";
import { OtherNames, withoutHiddenNames } from "./other-names.node.ts";
import { pinMode } from "./pinned.node.ts";
import { pageOf } from "./read.node.ts";
import { newAsideName } from "./temp.node.ts";

export type { NodeCapabilities, NodeOptions };

const checkOptions = optionChecker("NodeBackend", NODE_OPTIONS);

/** The number of attempts when other programs change a path while it is used. */
const MAX_PATH_ATTEMPTS = 64;

/** The policy of a backend that was created without one: everything is allowed. */
const UNRESTRICTED: SandboxPolicy = Object.freeze({
  cwd: "/",
  read: null,
  write: ["/"],
  deny: [],
  protect: false,
  readOnly: false,
  followSymlinks: "any",
});

/** The disk with its policy. The omitted methods are implemented in {@link NodeBackend}, or replaced by fallbacks. */
type ConfinedDisk = FsBackend &
  Required<
    Omit<FsBackend, "confine" | "readLines" | "listPage" | "grep" | "find" | "findFiles" | "listTree">
  >;

/**
 * The local disk over `node:fs`, for systems where the native addon does not load. Searches are slower than those
 * of {@link LocalBackend}, and extended attributes of a replaced file are not kept.
 *
 * @example
 * const disk = new NodeBackend();
 * await disk.writeText("/tmp/a.txt", "one\n");
 * const { version } = await disk.stat("/tmp/a.txt");
 * await disk.writeText("/tmp/a.txt", "two\n", { ifVersion: version }); // CONFLICT if changed meanwhile
 */
export class NodeBackend implements FsBackend {
  readonly #options: NodeOptions;
  readonly #disk: ConfinedDisk;
  #trusted: NodeBackend | undefined;
  #closed = false;
  #yielder: Yielder | undefined;
  readonly #names: OtherNames;

  /** A copy of the backend that enforces a policy. Absent if this one already enforces a policy. */
  declare readonly confine?: (policy: SandboxPolicy) => NodeBackend;

  constructor(given: NodeOptions = {}) {
    const options = checkOptions(given);
    this.#options = Object.freeze({ ...options });
    const policy = options.policy ?? UNRESTRICTED;
    const exact = exactDisk(this.#options);
    this.#names = new OtherNames(exact, policy);
    this.#disk = confineBackend(withoutHiddenNames(exact, this.#names), policy) as ConfinedDisk & FsBackend;
    provideAbilities(this, {
      paths: HOST_PATHS,
      maxAnswerBytes: policy.maxOutputBytes ?? Number.POSITIVE_INFINITY,
    });
    if (options.policy === undefined)
      this.confine = (policy) => new NodeBackend({ ...this.#options, policy });
  }

  /** Allows reading the content of exactly these secrets. Replaces the previous list. */
  grantSecrets(paths: readonly string[]): void {
    this.#names.granted = [...paths];
    this.#disk.grantSecrets(paths);
  }

  /** A copy of the backend that treats secrets as ordinary files, for Filewright's own work, such as a rollback. */
  trusted(): NodeBackend {
    const { policy } = this.#options;
    if (policy?.secrets !== "grant") return this;
    this.#trusted ??= new NodeBackend({ ...this.#options, policy: withoutSecretFilter(policy) });
    return this.#trusted;
  }

  /** Returns how the files are protected. */
  capabilities(): NodeCapabilities {
    const pinning =
      pinMode() === "descriptor"
        ? "directories are held by descriptors of procfs"
        : "procfs is missing: paths are compared before and after each use";
    const reason = "the kernel confines nothing without the native addon";
    return Object.freeze({
      resolver: "node",
      reason: pinning,
      kernel: Object.freeze({ files: "none", reason }),
    });
  }

  async exists(path: string): Promise<boolean> {
    try {
      return await this.#run([path], (disk, path) => disk.exists(path));
    } catch {
      return false;
    }
  }
  stat(path: string): Promise<FsStat> {
    return this.#run([path], (disk, path) => disk.stat(path));
  }
  lstat(path: string): Promise<FsStat> {
    return this.#run([path], (disk, path) => disk.lstat(path));
  }
  readText(path: string, options?: TextOptions): Promise<string> {
    return this.#run([path], (disk, path) => disk.readText(path, options));
  }
  readBytes(path: string): Promise<Uint8Array> {
    return this.#run([path], (disk, path) => disk.readBytes(path));
  }
  read(path: string, options?: ReadOptions): Promise<VersionedBytes | null> {
    return this.#run([path], (disk, path) => disk.read(path, options));
  }
  /** Returns the SHA-256 of a file and its version, in constant memory. */
  hash(path: string, options?: Signalled): Promise<{ readonly hash: string; readonly version: string }> {
    return this.#run([path], (disk, path) => disk.hash(path, options));
  }
  /** Returns a page of a text file. A large file is read as a whole unless the page is near its beginning. */
  readLines(path: string, request: PageRequest & Signalled = {}): Promise<Page> {
    return this.#run([path], (disk, path) => {
      const { signal, ...wanted } = request;
      return pageOf(path, async (options) => disk.read(path, options), wanted, signal);
    });
  }
  writeText(path: string, content: string, options?: WriteOptions & TextOptions): Promise<WriteResult> {
    return this.#run([path], (disk, path) => disk.writeText(path, content, options));
  }
  writeBytes(path: string, content: Uint8Array, options?: WriteOptions): Promise<WriteResult> {
    return this.#run([path], (disk, path) => disk.writeBytes(path, content, options));
  }
  delete(path: string, options?: DeleteOptions): Promise<void> {
    return this.#run([path], (disk, path) => disk.delete(path, options));
  }
  mkdir(path: string, options?: MkdirOptions): Promise<void> {
    return this.#run([path], (disk, path) => disk.mkdir(path, options));
  }
  listDir(path: string, options?: ListOptions): Promise<readonly FsEntry[]> {
    return this.#run([path], (disk, path) => disk.listDir(path, options));
  }
  listPage(
    path: string,
    options: ListPageOptions,
  ): Promise<{ readonly entries: readonly FsEntry[]; readonly next?: string }> {
    return this.#run([path], (disk, path) => listPageVia(disk, path, options));
  }
  async *iterFiles(root: string): AsyncGenerator<string> {
    this.#assertOpen(root);
    checkAbsolute(root);
    yield* this.#disk.iterFiles(canonicalHostPath(root));
  }
  /** `root` defaults to the policy's working directory. */
  async glob(pattern: string, given: GlobRoot = {}): Promise<readonly string[]> {
    return this.#run([given.root ?? "/"], (disk, root) =>
      disk.glob(pattern, given.root === undefined ? given : { root }),
    );
  }
  rename(from: string, to: string, options?: MoveOptions): Promise<WriteResult> {
    return this.#run([from, to], async (disk, from, to) => (await disk.rename(from, to, options)) ?? {});
  }
  copyFile(from: string, to: string, options?: MoveOptions): Promise<WriteResult> {
    return this.#run([from, to], async (disk, from, to) => (await disk.copyFile(from, to, options)) ?? {});
  }
  copyTree(from: string, to: string, options?: CopyTreeOptions): Promise<TreeCounts> {
    return this.#run([from, to], (disk, from, to) => disk.copyTree(from, to, options));
  }
  removeTree(path: string, options?: RemoveTreeOptions): Promise<TreeCounts> {
    return this.#run([path], (disk, path) => disk.removeTree(path, options));
  }
  /** Returns a new path in the directory of `path`, where a change keeps the entry that it replaces or deletes. */
  asidePath(path: string): string {
    checkAbsolute(path);
    return childOf(parentOf(normalise(canonicalHostPath(path)).path), newAsideName());
  }
  readLink(path: string): Promise<string> {
    return this.#run([path], (disk, path) => disk.readLink(path));
  }
  symlink(target: string, path: string): Promise<void> {
    return this.#run([path], (disk, path) => disk.symlink(canonicalHostPath(target), path));
  }
  realpath(path: string): Promise<string> {
    return this.#run([path], (disk, path) => disk.realpath(path));
  }
  /**
   * Returns the content of git's `info/exclude` of the repository outside the roots of which a directory is a linked
   * worktree. For ignore rules alone.
   */
  gitExclude(directory: string): Promise<Uint8Array | undefined> {
    return this.#run([directory], async (disk: RepositorySource, path) => disk.gitExclude?.(path));
  }
  /** Returns the other names (hard links) of a file below the roots of the policy, as paths without links. */
  otherNames(path: string): Promise<readonly string[]> {
    return this.#run([path], async (disk, path) => this.#names.of(await disk.realpath(path)));
  }
  chmod(path: string, mode: number): Promise<void> {
    return this.#run([path], (disk, path) => disk.chmod(path, mode));
  }
  sweep(path: string): Promise<void> {
    return this.#run([path], (disk, path) => disk.sweep(path));
  }
  /** Locks the path against other processes with the same state directory. */
  lock(path: string, options: LockOptions): Promise<LockHandle> {
    return this.#run([path], (disk, path) => disk.lock(path, options));
  }
  /** Later calls fail with UNSUPPORTED_OPERATION. */
  close(): void {
    this.#closed = true;
    this.#trusted?.close();
  }

  #assertOpen(path: string): void {
    if (this.#closed) throw backendError("UNSUPPORTED_OPERATION", path, "the backend is closed");
  }

  /**
   * Runs a call with canonical paths: a name that is not UTF-8 has several escaped spellings, and the rules of the
   * policy compare text. Repeats the call when another program has changed a path between its check and its use.
   */
  async #run<T>(
    given: readonly string[],
    call: (disk: ConfinedDisk, ...paths: string[]) => MaybePromise<T>,
  ): Promise<T> {
    this.#assertOpen(given[0] ?? "/");
    for (const path of given) checkAbsolute(path);
    const paths = given.map(canonicalHostPath);
    // Most calls use synchronous functions of `node:fs`. Without a pause, a loop of calls would block the event loop.
    this.#yielder ??= new Yielder({});
    await this.#yielder.yieldIfDue();
    for (let attempt = 1; ; attempt++) {
      try {
        return await call(this.#disk, ...paths);
      } catch (error) {
        if (attempt === MAX_PATH_ATTEMPTS || !isPathChanged(error)) throw error;
      }
    }
  }
}

checkCalls(NodeBackend.prototype, NODE_CALL_CHECKS);

/** @throws INVALID_ARGUMENT for a path that is not absolute, or that cannot name a file; NAME_TOO_LONG */
function checkAbsolute(path: string): void {
  checkPath(path);
  if (!path.startsWith("/")) throw backendError("INVALID_ARGUMENT", path, "path is not absolute");
}
