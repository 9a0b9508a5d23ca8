// What the native addon exports, as napi declares it; written by `npm run build`, not to be edited.

/**
 * The compiled path rules of a policy. Paths are text, because in the backends that use it names
 * are always valid UTF-8.
 */
export declare class AccessRules {
  /** Compiles the rules. With `fold_case`, deny globs ignore letter case. */
  constructor(cwd: string, roots: Array<string>, deny: Array<string>, protect: boolean, secrets: boolean, places: Array<string>, foldCase: boolean)
  /**
   * Returns why a glob of a deny list or a rule, or a place, can match nothing below the roots, as
   * the end of a sentence; empty for one that can. Without roots it may match anywhere.
   */
  objection(glob: string, isPlace: boolean): string
  /** Returns which rules apply to a path: the bits of `PathRules::flags`. */
  judge(path: string): number
  /**
   * Returns one byte for each of the names, which are joined by `/`: 1 if the entry of that name
   * in the directory is denied, otherwise 0.
   */
  deniedNames(directory: string, names: string): Uint8Array
}

/** The flag by which JavaScript cancels a call, and the counts of a running search. */
export declare class CancelToken {
  constructor()
  cancel(): void
  /**
   * Returns two numbers: the files that the search with this token has searched so far, and the
   * matches found in them.
   */
  counted(): Array<number>
}

/** A ranked search of contents that JavaScript passes. */
export declare class CodeRanking {
  /** Parses the query. `options` is JSON. */
  constructor(options: string)
  /**
   * Adds the content of a file. `path` is relative to the directory with the index `root`. Reports
   * whether the file is searched: a binary one is not.
   */
  add(root: number, path: string, content: Uint8Array): boolean
  /** Adds a content that is counted already, by its number. Reports whether it is searched. */
  addKnown(root: number, contents: CountedContents, number: number): boolean
  /**
   * Ranks the added files. Returns a packed list: the number of the file of each of the best
   * blocks, in the order in which the searched files were added, from 0 on.
   */
  rank(): PackedResult
  /**
   * Returns the block at an index of the ranking with its lines in the content of its file, a
   * packed `CodeBlock`; without a number if the content has changed.
   */
  show(index: number, content: Uint8Array): PackedResult
}

/** Contents whose terms are counted once, for many ranked searches. */
export declare class CountedContents {
  /** Creates an empty list. */
  constructor()
  /**
   * Counts the terms of a content. `path` is relative to the start of a search. Returns its number,
   * from 0 on; -1 for a content that is not ranked.
   */
  add(path: string, content: Uint8Array): number
  /** Returns the memory use in bytes. */
  bytes(): number
}

/** An index of contents that JavaScript passes, each identified by a number. */
export declare class HeldIndex {
  /** Creates an empty index. */
  constructor()
  /**
   * Indexes a content and returns its number; -1 if it is binary and has no matches, -2 if it
   * cannot be indexed, so that every query must read it.
   */
  sign(content: Uint8Array): number
  /** Returns one bit for each number, set if that content can have a match; null if all can. */
  candidates(query: SearchQuery): Uint8Array | null
  /** Like `candidates`, for the options of a query that is compiled in a worker and not here. */
  candidatesOf(options: string): Uint8Array | null
  /** Returns the memory use in bytes. */
  bytes(): number
}

/** The ignore rules that apply in one directory: its own and those of the directories above it. */
export declare class IgnoreStack {
  /** Creates a stack without rules. */
  constructor()
  /**
   * Returns the rules for a directory below. `files` are the contents of its ignore files, and
   * `places` the index of each in the list of names of ignore files. `border` says that the
   * directory contains `.git`.
   */
  enter(directory: string, places: Array<number>, files: Array<Uint8Array>, border: boolean): IgnoreStack
  /** Reports whether the rules exclude an entry of the directory. */
  ignored(path: string, isDir: boolean): boolean
}

/** A held lock; released by `release`, or when it is garbage-collected. */
export declare class NativeLock {
  release(): void
}

/**
 * The locks in one directory of lock files. Its descriptor is closed by `close`, or when it is
 * garbage-collected.
 */
export declare class NativeLocks {
  constructor(stateDir: string)
  /**
   * Returns the lock of a real path, or null if another holder has it. Does not wait, because a
   * waiting thread of the pool could be the one that the holder needs to release it.
   */
  tryLock(real: string): NativeLock | null
  /** Closes the directory. Held locks stay held. */
  close(): void
}

/** The files of the records of one writer. `close` ends their use. */
export declare class NativeRecordFiles {
  /** Returns the files named `writer` in a directory, whose records have MACs by `key`. */
  constructor(folder: string, writer: string, key: Uint8Array)
  /** Begins a record, and returns its number. The file is there once the change is made. */
  begin(): number
  /**
   * Ends a record, later and on another thread: moves its file to a path in the history, or
   * removes it.
   */
  end(number: number, kept?: string | undefined | null): void
  /**
   * Takes records that the history forgets, to use their files again. Returns those that were
   * not taken.
   */
  reuse(paths: Array<string>): Array<string>
  /** Puts away all ended records now. */
  settle(): void
  /** Puts away all ended records, and removes the files that were made ahead. */
  close(): void
}

/** A set of roots, through which every access to the disk goes. */
export declare class NativeRoots {
  /** Returns the resolver in use as JSON: `{ resolver, reason? }`. */
  capabilities(): string
  /**
   * Returns how far the kernel enforces the roots, in three lines: `enforced`, `partial` or `none`;
   * the version of Landlock, 0 without it; the reason if it is less than requested, otherwise empty.
   */
  enforcement(): string
  /** Allows the content of these secrets to be read. Replaces all earlier grants. */
  grantSecrets(paths: Array<string>): void
  /**
   * Sets the state directory in which indexes are saved. Must be called by a thread that Landlock
   * does not restrict.
   */
  keepIndexes(stateDir: string): void
  /** Reports whether an entry exists. */
  exists(path: string): Promise<boolean>
  /** Resolves to a packed `PathStat`. */
  stat(path: string, follow: boolean): Promise<PackedResult>
  /** Resolves to the content of a file. */
  readBytes(path: string): Promise<Uint8Array>
  /**
   * Resolves to the content of `info/exclude` of the repository outside the roots of which a
   * directory is a linked worktree; null without one.
   */
  gitExclude(path: string): Promise<Uint8Array | null>
  /**
   * Resolves to a range of a file with its metadata, and to the metadata alone if the file still has
   * the version `if_none_match`.
   */
  read(path: string, start: number, end: number, maxBytes: number, ifNoneMatch?: string | undefined | null, cancel?: CancelToken | undefined | null): Promise<ReadResult>
  /** Resolves to a page of a file, a packed `FilePage`. */
  readPage(path: string, request: string, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  /** Resolves to a packed `FileHash`: the SHA-256 of a file with its metadata. */
  hashFile(path: string, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  /**
   * Resolves to a page of the entries of a directory. `after` is the name of the last entry of the
   * previous page, and `after_dir` says whether it was a directory.
   */
  listDir(path: string, facts: boolean, limit: number, after: string | undefined | null, afterDir: boolean, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  /**
   * Resolves to a page of the entries of a tree. `options` is the JSON that `TreeOptions::from_json`
   * parses.
   */
  listTree(path: string, options: string, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  /** Resolves to the target of a link. */
  readLink(path: string): Promise<string>
  /** Resolves to the path of an entry without links. */
  realpath(path: string): Promise<string>
  /**
   * Resolves to the other names (hard links) of a file below the roots, as paths without links, each
   * after a NUL.
   */
  otherNames(path: string): Promise<string>
  /**
   * Writes a file, or adds to it. Resolves to a packed `WrittenFile`. `flags` are `ChangeFlags`, and
   * `durability` is the index of one.
   */
  writeBytes(path: string, bytes: Uint8Array, ifVersion: string | undefined | null, flags: number, mode: number, durability: number, aside?: string | undefined | null, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  /** Resolves to true if the directory was created, and to false if it existed already. */
  mkdir(path: string, parents: boolean, existOk: boolean, durability: number): Promise<boolean>
  /** Removes a file, a link or an empty directory, or renames it to `aside`. */
  delete(path: string, ifVersion: string | undefined | null, aside: string | undefined | null, durability: number): Promise<undefined>
  /**
   * Removes an entry and everything below it, or renames it to `aside`. Resolves to packed
   * `TreeCounts`.
   */
  removeTree(path: string, aside: string | undefined | null, durability: number, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  /** Moves a file that was set aside at `path` to the absolute path `kept` in a private directory. */
  putAway(path: string, kept: string, durable: boolean): Promise<undefined>
  /**
   * Moves a file that had this version back from the absolute path `kept`. The file that is at `path`
   * is renamed to `aside`; without that name none may be there.
   */
  bringBack(path: string, kept: string, version: string, aside?: string | undefined | null): Promise<undefined>
  /**
   * Resolves to the version of the entry under its new name; null after a move to another file
   * system, or if another program has replaced the entry already.
   */
  rename(from: string, to: string, flags: number, durability: number, ifVersion?: string | undefined | null, ifTarget?: string | undefined | null, aside?: string | undefined | null, cancel?: CancelToken | undefined | null): Promise<string | null>
  /** Copies a file. Resolves to a packed `WrittenFile`. */
  copyFile(from: string, to: string, flags: number, durability: number, ifVersion?: string | undefined | null, aside?: string | undefined | null, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  /** Copies a tree. Resolves to packed `TreeCounts`. */
  copyTree(from: string, to: string, flags: number, durability: number, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  /** Sets the permission bits of an entry. */
  chmod(path: string, mode: number): Promise<undefined>
  /** Removes temporary files that dead processes left in a directory. */
  sweep(path: string): Promise<undefined>
  /** Creates a symbolic link. */
  symlink(target: string, path: string): Promise<undefined>
  /** Searches the contents of files below a path. Resolves to batches of packed results. */
  grep(path: string, options: string, cancel?: CancelToken | undefined | null): Promise<Array<PackedBatch>>
  /** Finds entries below a directory by name. */
  find(path: string, options: string, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  /** Finds files below a directory by a fuzzy match of their paths. */
  findFiles(path: string, options: string, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  /** Finds the blocks of files below a directory that fit a question best. */
  searchCode(path: string, options: string, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  /** Builds an index of a directory, if there is none. Resolves to a packed `IndexStatus`. */
  warm(path: string, respectIgnore: boolean, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  /**
   * Resolves to the packed status of the index that contains a path, without any number if there is
   * none.
   */
  indexStatus(path: string): Promise<PackedResult>
  /** Opens the roots of a policy, which is JSON. */
  constructor(policy: string)
  /**
   * Releases descriptors, watches, indexes and threads, as soon as the running calls have
   * finished. Later calls fail with `UNSUPPORTED_OPERATION`.
   */
  close(): void
  /**
   * Returns the same roots and threads with secrets as ordinary files, for reads by the host
   * itself.
   */
  withoutSecretFilter(): NativeRoots
  /** Closes all indexes. Later searches may create new ones. */
  disposeIndexes(): void
  /**
   * Makes a list of changes together with its record. Resolves to a packed `MadeList`.
   *
   * `list` and `contents` are those of [`ListedChange::parse_list`], with the flags and the
   * durability of all writes. The record is the one that `files` has begun as `number`. Its file
   * is made before, on a thread that Landlock does not restrict, unless it was made ahead.
   * `lines` are those of [`RecordTexts::from_lines`], and the moment of the commit is after
   * `last`.
   */
  commit(list: string, contents: Array<Uint8Array>, flags: number, durability: number, files: NativeRecordFiles, number: number, lines: string, last: number, durable: boolean, cancel?: CancelToken | undefined | null): Promise<PackedResult>
  /**
   * Resolves to the real path of a file and to its content, in one job: what `realpath` and
   * `read` resolve to, or their errors.
   */
  readLocated(path: string, maxBytes: number, cancel?: CancelToken | undefined | null): Promise<LocatedResult>
}

/** A compiled list of globs that paths must match or must not match. */
export declare class PathGlobs {
  /** Compiles globs. `options` is JSON. */
  constructor(options: string)
  /** Reports whether the globs match a path. */
  matches(path: string, isDir: boolean): boolean
  /** Reports whether a glob excludes a path. */
  excluded(path: string, isDir: boolean): boolean
  /** Reports whether an entry below a directory can match. */
  mayContain(path: string): boolean
}

/** A compiled query for searching contents. */
export declare class SearchQuery {
  /** Compiles a query. `options` is JSON. */
  constructor(options: string)
  /** Searches a content. `limits` is JSON. */
  search(content: Uint8Array, limits: string): PackedResult
  /** Like `search`, on another thread. */
  searchAsync(content: Uint8Array, limits: string, interrupted?: CancelToken | undefined | null): Promise<PackedResult>
}

/** The base of the paths that callers write for a Windows disk. */
export declare class WindowsPaths {
  /** Parses the working directory and the roots, in the form `/C:/repo`. */
  constructor(cwd: string, roots: Array<string>)
  /**
   * Returns a path in the form `/C:/repo/a.ts`, with `/` at its end if it can only name a
   * directory; refuses one that means something else than its text.
   */
  resolve(typed: string): string
}

/** Applies a patch to files. `names` and `contents` are in the same order; `call` is JSON. */
export declare function applyPatch(names: Array<string>, contents: Array<Uint8Array | null>, text: string, call: string): PatchResult

/** Like `apply_patch`, on another thread. */
export declare function applyPatchAsync(names: Array<string>, contents: Array<Uint8Array | null>, text: string, call: string): Promise<PatchResult>

/**
 * Returns a new name to which an entry can be renamed in its directory, to be kept until a change
 * is final.
 */
export declare function asideName(): string

/**
 * Returns the content after some hunks of the change between two contents. `chosen` has the number
 * of each chosen hunk, the number of its chosen rows, and these rows, in ascending order; no rows
 * stand for the whole hunk.
 */
export declare function composeHunks(before: Uint8Array, after: Uint8Array, encoding: string, chosen: Array<number>): Uint8Array

/** Like `compose_hunks`, on another thread. */
export declare function composeHunksAsync(before: Uint8Array, after: Uint8Array, encoding: string, chosen: Array<number>): Promise<Uint8Array>

/** Returns `a` followed by `b`, in memory that the addon has allocated. */
export declare function concat(a: Uint8Array, b: Uint8Array): Uint8Array

/**
 * Decodes a content to a packed `DecodedText`. Not named `decode_text`, because the JavaScript
 * that wasm-bindgen generates has a function of that name.
 */
export declare function decodeBytes(bytes: Uint8Array, label: string): PackedResult

/** Like `decode_bytes`, on another thread. */
export declare function decodeBytesAsync(bytes: Uint8Array, label: string): Promise<PackedResult>

/**
 * Returns the text of a line diff. Writes its numbers into `totals`, which the caller reuses,
 * because allocating an object for them would take a good part of the time of a small diff.
 */
export declare function diff(before: Uint8Array, after: Uint8Array, totals: Uint32Array, flags: number, context: number, nameBefore: string | undefined | null, nameAfter: string | undefined | null, lineLimit: number, byteLimit: number): string

/** Resolves to the numbers and the text of a line diff. */
export declare function diffAsync(before: Uint8Array, after: Uint8Array, flags: number, context: number, nameBefore: string | undefined | null, nameAfter: string | undefined | null, lineLimit: number, byteLimit: number): Promise<PackedResult>

/** Compares two texts within their lines: by characters, or by words. */
export declare function diffParts(before: string, after: string, chars: boolean): PackedResult

/** Encodes a text. */
export declare function encodeText(text: string, label: string, bom: boolean): Uint8Array

/** Like `encode_text`, on another thread. */
export declare function encodeTextAsync(text: string, label: string, bom: boolean): Promise<Uint8Array>

/**
 * Returns the path in a small file of git that consists of `key` and one path: `gitdir: ` in a `.git`
 * file, nothing in `commondir` and `gitdir`.
 */
export declare function gitPathIn(content: Uint8Array, key: string): string | null

/** Reports whether a file whose first bytes are `head` contains a private key. */
export declare function holdsSecretContent(head: Uint8Array): boolean

/** Finds the hunks between two contents in an encoding. The result is a list of `HunkRange`. */
export declare function hunksBetween(before: Uint8Array, after: Uint8Array, encoding: string): PackedResult

/**
 * Detects the kind and the encoding of a content. `complete` is false if only its beginning is
 * given.
 */
export declare function inspect(bytes: Uint8Array, name: string, complete: boolean): PackedResult

/** Like `inspect`, on another thread. */
export declare function inspectAsync(bytes: Uint8Array, name: string, complete: boolean): Promise<PackedResult>

/** Reports whether the name of a file tells a language whose definitions can be found. */
export declare function isOutlined(name: string): boolean

/** Returns the anchors of all lines of a text, joined. */
export declare function lineAnchors(text: string): string

/**
 * Returns the hashes of the lines of a content; null for one that is not text, and for too many
 * lines.
 */
export declare function lineHashes(bytes: Uint8Array): string | null

/** Like `line_hashes`, on another thread. */
export declare function lineHashesAsync(bytes: Uint8Array): Promise<string | null>

/**
 * The real path of a file, and its content with its packed `EntryStat`; or an error in place of
 * each, as JSON.
 */
export interface LocatedResult {
  real?: string
  realError?: string
  bytes?: Uint8Array
  error?: string
  nums: Float64Array
  text: string
}

/** Merges two texts that were both made from `base`. The facts are a list of `MergeConflict`. */
export declare function merge3(base: Uint8Array, ours: Uint8Array, theirs: Uint8Array, flags: number, labels: Array<string>): PlanResult

/** Like `merge3`, on another thread. */
export declare function merge3Async(base: Uint8Array, ours: Uint8Array, theirs: Uint8Array, flags: number, labels: Array<string>): Promise<PlanResult>

/** Finds the definitions of a text in UTF-8, a packed `Outline`. `name` is the name of its file. */
export declare function outline(text: Uint8Array, name: string): PackedResult

/** Like `outline`, on another thread. */
export declare function outlineAsync(text: Uint8Array, name: string): Promise<PackedResult>

/**
 * Like [`PackedResult`], but a text of at least 64 KiB crosses as bytes, so that it is only
 * decoded if JavaScript reads it.
 */
export interface PackedBatch {
  nums: Float64Array | number[]
  text: string | Uint8Array
}

/** A `Packed` result as a JavaScript object: `{ nums, text }`. */
export interface PackedResult {
  nums: Float64Array | number[]
  text: string
}

/** Parses a patch. Returns JSON, and `call` is JSON. */
export declare function parsePatch(text: string, call: string): string

/** Like `parse_patch`, on another thread. */
export declare function parsePatchAsync(text: string, call: string): Promise<string>

/** The files that a patch has changed: the facts as JSON, and the new contents. */
export interface PatchResult {
  facts: string
  contents: Array<Uint8Array>
}

/** Returns the table of protected and secret paths: decision, pattern and reason, one row per line. */
export declare function placeTable(): string

/** Applies the edits of a call to a text. `call` is JSON. The facts are a `PlanFacts`. */
export declare function planEdits(text: Uint8Array, call: string): PlanResult

/** Like `plan_edits`, on another thread. */
export declare function planEditsAsync(text: Uint8Array, call: string): Promise<PlanResult>

/** Like `plan_edits_async`, and hashes the part of the result that equals the old text meanwhile. */
export declare function planEditsHashed(text: Uint8Array, call: string): Promise<PlanResult>

/** A new text, and the packed facts about it. */
export interface PlanResult {
  bytes: Uint8Array
  nums: Float64Array
  text: string
  /** The state of a hash of the first part of `bytes`, which `sha256_from` continues. */
  hashing?: object
}

/** Returns the paths that best match a fuzzy query. In `paths`, each path ends in a NUL. */
export declare function rankPaths(paths: string, options: string): PackedResult

/** Returns a page of a content, a packed `Page`. `request` is JSON. */
export declare function readPage(bytes: Uint8Array, name: string, request: string): PackedResult

/** Like `read_page`, on another thread. */
export declare function readPageAsync(bytes: Uint8Array, name: string, request: string): Promise<PackedResult>

/**
 * The content of a file with its packed `EntryStat`. `bytes` is absent if the version that the
 * caller knows is still current.
 */
export interface ReadResult {
  bytes?: Uint8Array
  nums: Float64Array
  text: string
}

/**
 * Attempts an operation under the restrictions of a command. Resolves to the name of its error, or
 * to null if it succeeds.
 */
export declare function sandboxProbe(spec: string, kind: string, path?: string | undefined | null): Promise<string | null>

/**
 * Resolves to the text of a regular file below a root. Empty if it is longer than `most` bytes,
 * cannot be opened or is not a regular file; null if nothing exists. `path` is in hexadecimal.
 */
export declare function sandboxRead(root: string, path: string, most: number): Promise<string | null>

/** Removes an entry that a command created below a root. `path` is in hexadecimal. */
export declare function sandboxRemove(root: string, path: string): Promise<undefined>

/**
 * Replaces the entry at a path below a root, whatever its type, by a file with this text. `path`
 * is in hexadecimal.
 */
export declare function sandboxReplace(root: string, path: string, text: string): Promise<undefined>

/** Runs a command to its end. Resolves to a packed `SandboxedCommand`. */
export declare function sandboxRun(spec: string, command: string, cancel?: CancelToken | undefined | null): Promise<PackedResult>

/**
 * Finds the files that a command may not see or change. Resolves to the JSON that `scan.rs` of the
 * crate `filewright-sandbox` describes.
 */
export declare function sandboxScan(spec: string): Promise<string>

/**
 * Returns what the kernel would restrict for a command with these permissions: 1 or 0 for files,
 * network, signals and forks, then the version of Landlock.
 */
export declare function sandboxStatus(spec: string): Array<number>

/** Returns the names of the system calls that can be forbidden. */
export declare function sandboxSyscalls(): Array<string>

/** Returns the SHA-256 of a content. */
export declare function sha256(bytes: Uint8Array): string

/** Like `sha256`, on another thread. */
export declare function sha256Async(bytes: Uint8Array): Promise<string>

/** Hashes the bytes that `begun` does not cover: a hash that `plan_edits_hashed` started. */
export declare function sha256From(bytes: Uint8Array, begun: object): Promise<string>

/**
 * Returns the version of the package that the addon belongs to, with which the loader compares that
 * of the package it runs in.
 */
export declare function version(): string

/** Returns a root on a Windows disk in the form `/C:/repo`. Relative ones start from `cwd`. */
export declare function windowsRoot(given: string, cwd: string): string
