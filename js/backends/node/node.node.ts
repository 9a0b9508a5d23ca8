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
import type { GlobRoot, MaybePromise } from "../backend.ts";
import { provideShortcuts, type Able } from "../abilities.ts";
import { checkCalls, type ListPageOptions } from "../call-options.ts";
import { CompleteFiles } from "../complete.ts";
import { type ConfinedFiles, confineFiles } from "../confined/confine.ts";
import type { FileAbilities, Files } from "../files.ts";
import { backendError } from "../failure.ts";
import { type ListPage, pageOfListing } from "../fallback/fallback.ts";
import { checkPath, childOf, normalise, parentOf } from "../paths.ts";
import { type SandboxPolicy, withoutSecretFilter } from "../policy.ts";
import { isPathChanged } from "./errors.node.ts";
import { DISK_ABILITIES, exactDisk } from "./exact.node.ts";
import { canonicalHostPath, HOST_PATHS } from "./host-path.node.ts";
import { NODE_CALL_CHECKS, type NodeCapabilities, type NodeOptions, NODE_OPTIONS } from "./node-options.ts";
import type { OtherNames } from "./other-names.node.ts";
import { setCheckedDiskTest } from "./made.node.ts";
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

/** The methods of the confined disk that are also those of a {@link NodeBackend}: with how many paths their arguments begin. */
const PATHS = {
  stat: 1,
  lstat: 1,
  readText: 1,
  readBytes: 1,
  read: 1,
  hash: 1,
  writeText: 1,
  writeBytes: 1,
  delete: 1,
  mkdir: 1,
  listDir: 1,
  removeTree: 1,
  readLink: 1,
  realpath: 1,
  chmod: 1,
  sweep: 1,
  lock: 1,
  gitExclude: 1,
  rename: 2,
  copyFile: 2,
  copyTree: 2,
} as const;

/** The methods are added below, by a loop over {@link PATHS}. */
const Complete = CompleteFiles as unknown as new (abilities: FileAbilities) => Files & Able;

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
export class NodeBackend extends Complete {
  readonly #options: NodeOptions;
  readonly #disk: ConfinedFiles;
  #trusted: NodeBackend | undefined;
  #closed = false;
  #yielder: Yielder | undefined;
  readonly #names: OtherNames;

  /** A copy of the backend that enforces a policy. Absent if this one already enforces a policy. */
  declare readonly confine?: (policy: SandboxPolicy) => NodeBackend;

  constructor(given: NodeOptions = {}) {
    super(DISK_ABILITIES);
    const options = checkOptions(given);
    this.#options = Object.freeze({ ...options });
    const policy = options.policy ?? UNRESTRICTED;
    const { disk, names } = exactDisk(this.#options, policy);
    this.#names = names;
    this.#disk = confineFiles(disk, policy);
    const confine = (within: SandboxPolicy): NodeBackend =>
      new NodeBackend({ ...this.#options, policy: within });
    const isOpen = options.policy === undefined;
    if (isOpen) this.confine = confine;
    provideShortcuts(this, {
      paths: HOST_PATHS,
      maxAnswerBytes: policy.maxOutputBytes ?? Number.POSITIVE_INFINITY,
      // By the method, which a host may have replaced.
      confine: isOpen ? (within) => (this.confine ?? confine)(within) : undefined,
    });
  }

  /** Allows reading the content of exactly these secrets. Replaces the previous list. */
  override grantSecrets(paths: readonly string[]): void {
    this.#names.granted = [...paths];
    this.#disk.grantSecrets(paths);
  }

  /** A copy of the backend that treats secrets as ordinary files, for Filewright's own work, such as a rollback. */
  override trusted(): NodeBackend {
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

  static {
    for (const [name, count] of Object.entries(PATHS)) {
      const value = function (this: NodeBackend, ...args: readonly unknown[]): Promise<unknown> {
        const methods = this.#disk as unknown as Readonly<Record<string, (...args: unknown[]) => unknown>>;
        const rest = args.slice(count);
        return this.#run(args.slice(0, count) as string[], (...paths) => methods[name]?.(...paths, ...rest));
      };
      Object.defineProperty(NodeBackend.prototype, name, { value, writable: true, configurable: true });
    }
  }

  override async exists(path: string): Promise<boolean> {
    return this.#run([path], (path) => this.#disk.exists(path)).catch(() => false);
  }
  /** Returns a page of a text file. A large file is read as a whole unless the page is near its beginning. */
  override readLines(path: string, request: PageRequest & Signalled = {}): Promise<Page> {
    const { signal, ...wanted } = request;
    return this.#run([path], (path) =>
      pageOf(path, async (options) => this.#disk.read(path, options), wanted, signal),
    );
  }
  listPage(path: string, options: ListPageOptions): Promise<ListPage> {
    return this.#run([path], (path) => pageOfListing(path, options, () => this.#disk.listDir(path)));
  }
  override async *iterFiles(root: string): AsyncGenerator<string> {
    yield* this.#disk.iterFiles(this.#usable(root));
  }
  /** `root` defaults to the policy's working directory. */
  override glob(pattern: string, given: GlobRoot = {}): Promise<readonly string[]> {
    return this.#run([given.root ?? "/"], (root) =>
      this.#disk.glob(pattern, given.root === undefined ? given : { root }),
    );
  }
  /** Returns a new path in the directory of `path`, where a change keeps the entry that it replaces or deletes. */
  override asidePath(path: string): string {
    checkAbsolute(path);
    return childOf(parentOf(normalise(canonicalHostPath(path)).path), newAsideName());
  }
  override symlink(target: string, path: string): Promise<void> {
    return this.#run([path], (path) => this.#disk.symlink(canonicalHostPath(target), path));
  }
  /** Returns the other names (hard links) of a file below the roots of the policy, as paths without links. */
  override otherNames(path: string): Promise<readonly string[]> {
    return this.#run([path], async (path) => this.#names.of(await this.#disk.realpath(path)));
  }
  /** Later calls fail with UNSUPPORTED_OPERATION. */
  override close(): void {
    this.#closed = true;
    this.#trusted?.close();
  }

  /**
   * Returns a path in the one spelling that the rules of the policy compare: a name that is not UTF-8 has several
   * escaped ones.
   */
  #usable(path: string): string {
    if (this.#closed) throw backendError("UNSUPPORTED_OPERATION", path, "the backend is closed");
    checkAbsolute(path);
    return canonicalHostPath(path);
  }

  /**
   * Runs a call with usable paths. Repeats it when another program has changed a path between its check and its use.
   */
  async #run<T>(given: readonly string[], call: (...paths: string[]) => MaybePromise<T>): Promise<T> {
    const paths = given.map((path) => this.#usable(path));
    // Most calls use synchronous functions of `node:fs`. Without a pause, a loop of calls would block the event loop.
    this.#yielder ??= new Yielder({});
    await this.#yielder.yieldIfDue();
    for (let attempt = 1; ; attempt++) {
      try {
        return await call(...paths);
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

setCheckedDiskTest((backend) => backend instanceof NodeBackend);
