// What the native addon exports, as napi declares it; written by `npm run build`, not to be edited.

/** Compiled rules. Paths are text here, because names are always valid UTF-8. */
export declare class AccessRules {
  constructor(cwd: string, roots: Array<string>, deny: Array<string>, protect: boolean, secrets: boolean, places: Array<string>)
  /** Returns the flags and rows of `PathRules::flags`. */
  judge(path: string): number
  /** Returns 1 or 0 for each name in a directory: whether it is denied. The names are joined by `/`. */
  deniedNames(directory: string, names: string): Uint8Array
}

export declare class CancelToken {
  constructor()
  cancel(): void
  /**
   * Returns the number of files and of matches in them that the search with this token has
   * counted so far.
   */
  counted(): Array<number>
}

/** An index of contents that JavaScript holds. */
export declare class HeldIndex {
  constructor()
  /** The number of a content; -1 if it is binary, -2 if every query must read it. */
  sign(content: Uint8Array): number
  /** One bit for each number, in bytes; nothing if all can match. */
  candidates(query: SearchQuery): Uint8Array | null
  /** The memory use in bytes. */
  bytes(): number
}

/** The ignore rules from the root of a walk down to one directory. */
export declare class IgnoreStack {
  constructor()
  /**
   * `places` and `files` are parallel: each file's index in the list of names of ignore files,
   * and its bytes.
   */
  enter(directory: string, places: Array<number>, files: Array<Uint8Array>, border: boolean): IgnoreStack
  ignored(path: string, isDir: boolean): boolean
}

/** A held lock; released by `release`, or when it is garbage-collected. */
export declare class NativeLock {
  release(): void
}

/** A directory of lock files. */
export declare class NativeLocks {
  constructor(stateDir: string)
  /**
   * The lock of a real path, or null while another holder has it. Never waits, because a waiting
   * thread of the pool could be the one that the holder needs.
   */
  tryLock(real: string): NativeLock | null
}

/** A set of roots. Other modules add their methods in their own files. */
export declare class NativeRoots {
  /** A page of a file: a `FilePage`. */
  readPage(path: string, request: string, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  constructor(policy: string)
  /**
   * Releases descriptors, watches, indexes and threads: running calls finish by themselves and
   * the last one releases its resources; later calls are refused.
   */
  close(): void
  /** Returns the resolver in use as JSON: `{ resolver, reason? }`. */
  capabilities(): string
  /**
   * Returns the enforcement by the kernel: `enforced`, `partial` or `none`, then the version of
   * Landlock, then the reason for less, one per line.
   */
  enforcement(): string
  /** Allows the content of these secrets to be read, and revokes earlier grants. */
  grantSecrets(paths: Array<string>): void
  /** Returns the same roots and threads for reads of the host itself, without the secret filter. */
  withoutSecretFilter(): NativeRoots
  exists(path: string): Promise<boolean>
  existsSync(path: string): boolean
  stat(path: string, follow: boolean): Promise<PackedResult>
  statSync(path: string, follow: boolean): PackedResult
  /** The whole file. */
  readBytes(path: string): Promise<Uint8Array>
  readBytesSync(path: string): Uint8Array
  /** A range of a file with its metadata. Negative numbers mean "not given". */
  read(path: string, start: number, end: number, maxBytes: number, ifNoneMatch?: string | undefined | null, cancel?: CancelToken | undefined | null): Promise<ReadResult>
  /** `sha256:` and 64 digits, with the metadata of that content. */
  hashFile(path: string, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  /**
   * One page of a directory; a negative limit means no limit. `after` is the name of the last
   * entry of the previous page, and `after_dir` whether it was a directory.
   */
  listDir(path: string, facts: boolean, limit: number, after: string | undefined | null, afterDir: boolean, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  listDirSync(path: string, facts: boolean): PackedResult
  /** A page of the entries of a tree; the options as JSON. */
  listTree(path: string, options: string, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  readLink(path: string): Promise<string>
  realpath(path: string): Promise<string>
  writeBytes(path: string, bytes: Uint8Array, ifVersion: string | undefined | null, flags: number, mode: number, durability: number, aside?: string | undefined | null, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  writeBytesSync(path: string, bytes: Uint8Array, ifVersion: string | undefined | null, flags: number, mode: number, durability: number): PackedResult
  /** Resolves to whether the directory was created, and did not exist already. */
  mkdir(path: string, parents: boolean, existOk: boolean): Promise<boolean>
  mkdirSync(path: string, parents: boolean, existOk: boolean): boolean
  delete(path: string, ifVersion?: string | undefined | null, aside?: string | undefined | null): Promise<undefined>
  deleteSync(path: string): void
  removeTree(path: string, aside?: string | undefined | null, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  /** The version of the entry under its new name, if it is known. */
  rename(from: string, to: string, flags: number, durability: number, ifVersion?: string | undefined | null, ifTarget?: string | undefined | null, aside?: string | undefined | null, cancel?: CancelToken | undefined | null): Promise<string | null>
  copyFile(from: string, to: string, flags: number, durability: number, ifVersion?: string | undefined | null, aside?: string | undefined | null, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  copyTree(from: string, to: string, flags: number, durability: number, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  chmod(path: string, mode: number): Promise<undefined>
  sweep(path: string): Promise<undefined>
  symlink(target: string, path: string): Promise<undefined>
  /** Searches contents below a path. */
  grep(path: string, options: string, cancel?: CancelToken | undefined | null): Promise<Array<PackedBatch>>
  /** Finds entries below a directory by name. */
  find(path: string, options: string, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  /** Finds files below a directory by a fuzzy match of their paths. */
  findFiles(path: string, options: string, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  /** Builds the index of a directory now. */
  warm(path: string, respectIgnore: boolean, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  /** Sets the state directory for saved indexes. Must be called before threads are restricted. */
  keepIndexes(stateDir: string): void
  /** Releases all indexes. */
  disposeIndexes(): void
  /** The status of the index that contains a path; no numbers without an index. */
  indexStatus(path: string): Promise<PackedResult>
}

/** A compiled list of globs. */
export declare class PathGlobs {
  constructor(options: string)
  matches(path: string, isDir: boolean): boolean
  excluded(path: string, isDir: boolean): boolean
  mayContain(path: string): boolean
}

/** A compiled query. */
export declare class SearchQuery {
  constructor(options: string)
  search(content: Uint8Array, limits: string): PackedResult
  /** The same off the event loop, for long contents. */
  searchAsync(content: Uint8Array, limits: string, cancel?: CancelToken | undefined | null): Promise<PackedResult>
}

export declare function applyPatch(names: Array<string>, contents: Array<Uint8Array | null>, text: string, call: string): PatchResult

export declare function applyPatchAsync(names: Array<string>, contents: Array<Uint8Array | null>, text: string, call: string): Promise<PatchResult>

/** A new name, in the same directory, for an entry that is moved aside. */
export declare function asideName(): string

/** Returns `a` followed by `b`, in memory of the addon. */
export declare function concat(a: Uint8Array, b: Uint8Array): Uint8Array

export declare function decodeBytes(bytes: Uint8Array, label: string): PackedResult

/**
 * Returns the text. The numbers go into memory that the caller reuses, because allocating objects
 * for them would cost a good part of a small diff.
 */
export declare function diff(before: Uint8Array, after: Uint8Array, totals: Uint32Array, flags: number, context: number, nameBefore: string | undefined | null, nameAfter: string | undefined | null, lineLimit: number, byteLimit: number): string

export declare function diffAsync(before: Uint8Array, after: Uint8Array, flags: number, context: number, nameBefore: string | undefined | null, nameAfter: string | undefined | null, lineLimit: number, byteLimit: number): Promise<PackedResult>

export declare function diffParts(before: string, after: string, chars: boolean): PackedResult

export declare function encodeText(text: string, label: string, bom: boolean): Uint8Array

/** Reports whether a file that begins with `head` holds a private key. */
export declare function holdsSecretContent(head: Uint8Array): boolean

export declare function inspect(bytes: Uint8Array, name: string, complete: boolean): PackedResult

export declare function lineAnchors(text: string): string

export declare function merge3(base: Uint8Array, ours: Uint8Array, theirs: Uint8Array, flags: number, labels: Array<string>): PlanResult

/**
 * Like [`PackedResult`], but a long text crosses as bytes, so that it is only copied if JavaScript
 * reads it.
 */
export interface PackedBatch {
  nums: Float64Array | number[]
  text: string | Uint8Array
}

/** `Packed` as JavaScript sees it: `{ nums, text }`. */
export interface PackedResult {
  nums: Float64Array | number[]
  text: string
}

export declare function parsePatch(text: string, call: string): string

export interface PatchResult {
  facts: string
  contents: Array<Uint8Array>
}

/** Returns the table of protected and secret paths: decision, pattern and reason, one row per line. */
export declare function placeTable(): string

export declare function planEdits(text: Uint8Array, call: string): PlanResult

export declare function planEditsAsync(text: Uint8Array, call: string): Promise<PlanResult>

/** The same, and starts the hash of the result. */
export declare function planEditsHashed(text: Uint8Array, call: string): Promise<PlanResult>

/** A plan: the new bytes and the `Packed` facts. */
export interface PlanResult {
  bytes: Uint8Array
  nums: Float64Array
  text: string
  /** The hash state of a prefix of `bytes`, for `sha256_from`. */
  hashing?: object
}

/** The paths that best match a fuzzy query. Each path ends in a NUL. */
export declare function rankPaths(paths: string, options: string): PackedResult

export declare function readPage(bytes: Uint8Array, name: string, request: string): PackedResult

export declare function readPageAsync(bytes: Uint8Array, name: string, request: string): Promise<PackedResult>

/** Content with its metadata; `bytes` is absent if the requested version is still current. */
export interface ReadResult {
  bytes?: Uint8Array
  nums: Float64Array
  text: string
}

/** Attempts an operation under the restrictions: the name of the error, or nothing. */
export declare function sandboxProbe(spec: string, kind: string, path?: string | undefined | null): Promise<string | null>

/**
 * The text of a regular file of at most so many bytes; empty for any other entry, and nothing
 * without an entry.
 */
export declare function sandboxRead(root: string, path: string, most: number): Promise<string | null>

/** Removes an entry that a command created, below a root; `path` in hexadecimal. */
export declare function sandboxRemove(root: string, path: string): Promise<undefined>

/** Replaces whatever entry exists by a file with this text. */
export declare function sandboxReplace(root: string, path: string, text: string): Promise<undefined>

/** Runs a command. Resolves to a `SandboxedCommand`. */
export declare function sandboxRun(spec: string, command: string, cancel?: CancelToken | undefined | null): Promise<PackedResult>

/** Finds the files that a command may not see or change: JSON. */
export declare function sandboxScan(spec: string): Promise<string>

/**
 * The restrictions that would apply to a command: whether files, network, signals and forks are
 * restricted, and the version of Landlock.
 */
export declare function sandboxStatus(spec: string): Array<number>

/** The names of the system calls that can be forbidden. */
export declare function sandboxSyscalls(): Array<string>

export declare function sha256(bytes: Uint8Array): string

/** For large contents: hashing a gigabyte takes a second. */
export declare function sha256Async(bytes: Uint8Array): Promise<string>

/** The same, continuing a hash that a plan started. */
export declare function sha256From(bytes: Uint8Array, begun: object): Promise<string>
