/**
 * Files with every method, from the six primitives that each class of files has: `stat`, `read`, `writeBytes`, `delete`,
 * `mkdir` and `listDir`. Searches walk the listings, texts are decoded bytes, a tree is removed and copied entry by
 * entry. Links, permission bits, moves in one step and entries set aside are refused, and a lock excludes no other
 * process, unless a class of files has its own.
 */
import { engine } from "../engine/current.ts";
import { lazily } from "../engine/lazy.ts";
import type { Signalled } from "../engine/errors.ts";
import type { Page, PageRequest } from "../engine/read.ts";
import type {
  FindQuery,
  FindResult,
  FuzzyQuery,
  FuzzyResult,
  SearchQuery,
  SearchResult,
} from "../engine/search-types.ts";
import { Able } from "./abilities.ts";
import type {
  CopyTreeOptions,
  DeleteOptions,
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
} from "./backend.ts";
import type { FsEntry, FsStat, TreePage, TreeRequest } from "./entry.ts";
import { backendError, unsupportedError } from "./failure.ts";
import { filesBelow, globFiles } from "./fallback/walk-tree.ts";
import type { FileAbilities, FileHash, Files } from "./files.ts";
import { normalise } from "./paths.ts";
import { decodeText, encodeText } from "./text.ts";

/** Loads the large default methods. */
export const derived: () => Promise<typeof import("./derived.ts")> = lazily(
  "walks of files",
  () => import("./derived.ts"),
);

/** The methods of files that follow from others. */
export abstract class CompleteFiles extends Able implements Files {
  abstract stat(path: string): Promise<FsStat>;
  abstract read(path: string, options?: ReadOptions): Promise<VersionedBytes | null>;
  abstract writeBytes(path: string, content: Uint8Array, options?: WriteOptions): Promise<WriteResult>;
  abstract delete(path: string, options?: DeleteOptions): Promise<void>;
  abstract mkdir(path: string, options?: MkdirOptions): Promise<void>;
  abstract listDir(path: string, options?: ListOptions): Promise<readonly FsEntry[]>;

  async exists(path: string): Promise<boolean> {
    try {
      await this.stat(path);
      return true;
    } catch {
      return false;
    }
  }
  async readBytes(path: string): Promise<Uint8Array> {
    return ((await this.read(path)) as VersionedBytes).bytes; // `null` only answers `ifNoneMatch`.
  }
  async readText(path: string, { encoding }: TextOptions = {}): Promise<string> {
    return decodeText(await this.readBytes(path), encoding, path);
  }
  async writeText(
    path: string,
    content: string,
    { encoding, ...options }: WriteOptions & TextOptions = {},
  ): Promise<WriteResult> {
    return this.writeBytes(path, encodeText(content, encoding, path), options);
  }
  iterFiles(root: string): AsyncIterable<string> | Iterable<string> {
    return filesBelow(this, normalise(root).path);
  }
  async glob(pattern: string, options: GlobRoot = {}): Promise<readonly string[]> {
    const root = normalise(options.root ?? "/").path;
    return globFiles(this.iterFiles(root), root, pattern);
  }

  async readLines(path: string, { signal, ...request }: PageRequest & Signalled): Promise<Page> {
    const { bytes, version, stat } = (await this.read(path, { signal })) as VersionedBytes;
    const page = await engine().reading.readPage(bytes, request, path, { signal });
    return Object.assign(page, { version, mtime: stat.mtime });
  }
  async hash(path: string, options: Signalled = {}): Promise<FileHash> {
    const { bytes, version } = (await this.read(path, options)) as VersionedBytes;
    return Object.freeze({ hash: engine().sha256(bytes), version });
  }
  async grep(root: string, query: SearchQuery & Signalled): Promise<SearchResult> {
    return (await derived()).grepByWalk(this, root, query);
  }
  async find(root: string, query: FindQuery & Signalled): Promise<FindResult> {
    return (await derived()).findByWalk(this, root, query);
  }
  async findFiles(root: string, query: Omit<FuzzyQuery, "rank"> & Signalled): Promise<FuzzyResult> {
    return (await derived()).rankFiles(this, root, query);
  }
  async listTree(root: string, request: TreeRequest): Promise<TreePage> {
    return (await derived()).walkedTree(this, root, request);
  }
  async rename(from: string, _to: string, _options?: MoveOptions): Promise<WriteResult> {
    throw unsupportedError(from, "moves");
  }
  async copyFile(from: string, to: string, options: MoveOptions & Signalled = {}): Promise<WriteResult> {
    return (await derived()).copyContent(this, from, to, options);
  }
  async lstat(path: string): Promise<FsStat> {
    return this.stat(path);
  }
  async readLink(path: string): Promise<string> {
    throw unsupportedError(path, "symbolic links");
  }
  async symlink(_target: string, path: string): Promise<void> {
    throw unsupportedError(path, "symbolic links");
  }
  async realpath(path: string): Promise<string> {
    return path;
  }
  async chmod(path: string, _mode: number): Promise<void> {
    throw unsupportedError(path, "permission bits");
  }
  async removeTree(path: string, options: Signalled = {}): Promise<TreeCounts> {
    return (await derived()).removeEntries(this, path, options);
  }
  async copyTree(from: string, to: string, options: CopyTreeOptions = {}): Promise<TreeCounts> {
    return (await derived()).copyTree(this, from, to, options);
  }
  asidePath(path: string): string {
    throw backendError("UNSUPPORTED_OPERATION", path, undefined, { details: { reason: "aside" } });
  }
  async sweep(_path: string): Promise<void> {}
  grantSecrets(_paths: readonly string[]): void {}
  trusted(): Files {
    return this;
  }
  close(): MaybePromise<void> {}
  async lock(_path: string, _options: LockOptions): Promise<LockHandle> {
    return { release: () => {} };
  }
  async gitExclude(_directory: string): Promise<Uint8Array | undefined> {
    return undefined;
  }
  async otherNames(_path: string): Promise<readonly string[]> {
    return [];
  }
}

/** Returns files of some methods: the primitive ones, and those that they have in their own way. */
export function assembledFiles(methods: Partial<Files>, abilities: Partial<FileAbilities>): Files & Able {
  const Complete = CompleteFiles as unknown as new (abilities: Partial<FileAbilities>) => CompleteFiles;
  return Object.assign(new Complete(abilities), methods);
}
