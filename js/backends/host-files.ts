/**
 * The files of a host, who has the eleven methods of {@link FsBackend} and need not know any option: with everything
 * that follows from them. A version is the one that `stat` gives, or else the hash of the content. Conditions are checked
 * here, one write of a path at a time, and passed on for a backend that compares them in one step with the write.
 */
import { engine } from "../engine/current.ts";
import type {
  DeleteOptions,
  FsBackend,
  FsEntry,
  FsStat,
  GlobRoot,
  ListOptions,
  MkdirOptions,
  ReadOptions,
  TextOptions,
  VersionedBytes,
  WriteOptions,
  WriteResult,
} from "./backend.ts";
import { Able } from "./abilities.ts";
import { CompleteFiles } from "./complete.ts";
import { makeError } from "../engine/errors.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { checkSignal } from "./failure.ts";
import { assertVersion, lstatOrNull, missingParents, placeOfStat, readWhole } from "./fallback/fallback.ts";
import { checkReplaced, checkWrite } from "./tree/checks.ts";
import type { Files } from "./files.ts";
import { makePathLocker } from "./path-locker.ts";

/** The methods of classes of this package that say where a link leads. */
const LINK_METHODS = ["readLink", "confine"] as const;

/**
 * Returns the files of a backend: itself where it is of a class of this package.
 * @throws FilewrightError INVALID_ARGUMENT for one with links, which could not be followed within the policy: a class
 * of another copy of this package
 */
export function asFiles(backend: FsBackend): Files {
  if (backend instanceof Able) return backend as Able & Files;
  for (const name of LINK_METHODS) {
    if (typeof (backend as unknown as Readonly<Record<string, unknown>>)[name] === "function")
      throw makeError("INVALID_ARGUMENT", `the backend has ${name}(), but is of no class of this package`, {
        hint: "import the backend and the workspace from one copy of filewright, or give the eleven methods without links",
      });
  }
  return new HostFiles(backend);
}

/** Returns what workspaces over the same files have in common: the object of the host, or the files themselves. */
export function sharedObjectOf(files: Files): object {
  return files instanceof HostFiles ? files.backend : files;
}

class HostFiles extends CompleteFiles {
  /** The object of the host. */
  readonly backend: FsBackend;
  /** The writes of each path that are not yet made. */
  readonly #locker = makePathLocker();

  constructor(backend: FsBackend) {
    super();
    this.backend = backend;
  }

  override async exists(path: string): Promise<boolean> {
    return this.backend.exists(path);
  }
  async stat(path: string): Promise<FsStat> {
    return this.backend.stat(path);
  }
  override async readText(path: string, options?: TextOptions): Promise<string> {
    return this.backend.readText(path, options);
  }
  override async readBytes(path: string): Promise<Uint8Array> {
    return this.backend.readBytes(path);
  }
  async listDir(path: string, options?: ListOptions): Promise<readonly FsEntry[]> {
    return this.backend.listDir(path, options);
  }
  override iterFiles(root: string): AsyncIterable<string> | Iterable<string> {
    return this.backend.iterFiles(root);
  }
  override async glob(pattern: string, options?: GlobRoot): Promise<readonly string[]> {
    return this.backend.glob(pattern, options);
  }
  async mkdir(path: string, options?: MkdirOptions): Promise<void> {
    await this.backend.mkdir(path, options);
  }
  async delete(path: string, options: DeleteOptions = {}): Promise<void> {
    return this.#inTurn(path, async () => {
      const { ifVersion, ...rest } = options;
      const there = ifVersion === undefined ? null : await lstatOrNull(this, path);
      await assertVersion(this, path, ifVersion, there);
      await this.backend.delete(path, withoutUndefined({ ...rest, ifVersion: comparable(ifVersion, there) }));
    });
  }

  read(path: string, request: ReadOptions = {}): Promise<VersionedBytes | null> {
    return readWhole(this.backend, path, request);
  }

  writeBytes(path: string, content: Uint8Array, options: WriteOptions = {}): Promise<WriteResult> {
    return this.#inTurn(path, () => this.#write(path, content, options));
  }

  async #write(path: string, content: Uint8Array, options: WriteOptions): Promise<WriteResult> {
    checkSignal(options.signal, path);
    // Passes `createDirs` on: on a backend where directories are only prefixes, the parents still do not
    // exist.
    const { ifVersion, ifAbsent, ...rest } = options;
    const stat = await lstatOrNull(this, path);
    const missing = stat === null ? await missingParents(this, path) : [];
    // The host decides by the bits.
    const place = placeOfStat(path, stat && withoutUndefined({ ...stat, mode: undefined }), missing);
    if (ifAbsent === true) checkReplaced(place, false, path);
    await assertVersion(this, path, ifVersion, stat);
    checkWrite(place, { createDirs: rest.createDirs }, path);
    if (missing.length > 0) await this.mkdir(missing[0] as string, { parents: true, existOk: true });
    try {
      const conditions = { ifAbsent, ifVersion: comparable(ifVersion, stat) };
      await this.backend.writeBytes(path, content, withoutUndefined({ ...rest, ...conditions }));
    } catch (error) {
      // Only directories that were created for this write are removed. One that another process has filled
      // meanwhile stays.
      for (const directory of missing)
        await Promise.resolve(this.backend.delete(directory)).catch(() => undefined);
      throw error;
    }
    const version = (await this.backend.stat(path)).version ?? engine().sha256(content);
    return Object.freeze({ version });
  }

  async #inTurn<T>(path: string, run: () => Promise<T>): Promise<T> {
    const free = await this.#locker.acquire([{ path, tree: false }], { timeoutMs: Number.POSITIVE_INFINITY });
    try {
      return await run();
    } finally {
      free();
    }
  }
}

/** Returns a condition that the backend can compare as well: it knows a version of its `stat`, and no hash made here. */
const comparable = (ifVersion: string | undefined, there: FsStat | null): string | undefined =>
  there?.version === undefined ? undefined : ifVersion;
