/**
 * What both bindings export. Functions that may be missing exist only in bindings with threads.
 *
 * Written by `npm run wire` from crates/core/src/exports; not to be edited.
 */
import type { Packed } from "../wire/unpack.ts";
import type { CancelToken } from "./binding.ts";

/** A new text, and the packed facts about it. */
export interface PackedPlan extends Packed {
  readonly bytes: Uint8Array;
  /** The state of the hash of the unchanged beginning, from which `sha256From` continues. */
  readonly hashing?: object | null;
}

/** The files that a patch has changed: the facts as JSON, and the new contents. */
export interface PackedPatch {
  readonly facts: string;
  readonly contents: readonly Uint8Array[];
}

/** What both bindings export, as crates/core/src/exports/texts.rs declares it. */
export interface TextExports {
  /** Returns the SHA-256 of a content. */
  sha256(bytes: Uint8Array): string;
  /** Like `sha256`, on another thread. */
  sha256Async?(bytes: Uint8Array, signal?: AbortSignal): Promise<string>;
  /**
   * Returns the text of a line diff. Writes its numbers into `totals`, which the caller reuses,
   * because allocating an object for them would take a good part of the time of a small diff.
   */
  diff(before: Uint8Array, after: Uint8Array, totals: Uint32Array, flags: number, context: number, nameBefore: string | undefined, nameAfter: string | undefined, lineLimit: number, byteLimit: number): string;
  /** Resolves to the numbers and the text of a line diff. */
  diffAsync?(before: Uint8Array, after: Uint8Array, flags: number, context: number, nameBefore: string | undefined, nameAfter: string | undefined, lineLimit: number, byteLimit: number, signal?: AbortSignal): Promise<Packed>;
  /** Finds the hunks between two contents in an encoding. The result is a list of `HunkRange`. */
  hunksBetween(before: Uint8Array, after: Uint8Array, encoding: string): Packed;
  /**
   * Returns the content after some hunks of the change between two contents. `chosen` has the number
   * of each chosen hunk, the number of its chosen rows, and these rows, in ascending order; no rows
   * stand for the whole hunk.
   */
  composeHunks(before: Uint8Array, after: Uint8Array, encoding: string, chosen: number[]): Uint8Array;
  /** Like `composeHunks`, on another thread. */
  composeHunksAsync?(before: Uint8Array, after: Uint8Array, encoding: string, chosen: number[], signal?: AbortSignal): Promise<Uint8Array>;
  /** Compares two texts within their lines: by characters, or by words. */
  diffParts(before: string, after: string, chars: boolean): Packed;
  /** Applies the edits of a call to a text. `call` is JSON. The facts are a `PlanFacts`. */
  planEdits(text: Uint8Array, call: string): PackedPlan;
  /** Like `planEdits`, on another thread. */
  planEditsAsync?(text: Uint8Array, call: string, signal?: AbortSignal): Promise<PackedPlan>;
  /** Parses a patch. Returns JSON, and `call` is JSON. */
  parsePatch(text: string, call: string): string;
  /** Like `parsePatch`, on another thread. */
  parsePatchAsync?(text: string, call: string, signal?: AbortSignal): Promise<string>;
  /** Applies a patch to files. `names` and `contents` are in the same order; `call` is JSON. */
  applyPatch(names: string[], contents: (Uint8Array | null)[], text: string, call: string): PackedPatch;
  /** Like `applyPatch`, on another thread. */
  applyPatchAsync?(names: string[], contents: (Uint8Array | null)[], text: string, call: string, signal?: AbortSignal): Promise<PackedPatch>;
  /** Merges two texts that were both made from `base`. The facts are a list of `MergeConflict`. */
  merge3(base: Uint8Array, ours: Uint8Array, theirs: Uint8Array, flags: number, labels: string[]): PackedPlan;
  /** Like `merge3`, on another thread. */
  merge3Async?(base: Uint8Array, ours: Uint8Array, theirs: Uint8Array, flags: number, labels: string[], signal?: AbortSignal): Promise<PackedPlan>;
}

/**
 * The compiled path rules of a policy. Paths are text, because in the backends that use it names
 * are always valid UTF-8.
 */
export interface AccessRules {
  /**
   * Returns why a glob of a deny list or a rule, or a place, can match nothing below the roots, as
   * the end of a sentence; empty for one that can. Without roots it may match anywhere.
   */
  objection(glob: string, isPlace: boolean): string;
  /** Returns which rules apply to a path: the bits of `PathRules::flags`. */
  judge(path: string): number;
  /**
   * Returns one byte for each of the names, which are joined by `/`: 1 if the entry of that name
   * in the directory is denied, otherwise 0.
   */
  deniedNames(directory: string, names: string): Uint8Array;
}

/** The base of the paths that callers write for a Windows disk. */
export interface WindowsPaths {
  /**
   * Returns a path in the form `/C:/repo/a.ts`, with `/` at its end if it can only name a
   * directory; refuses one that means something else than its text.
   */
  resolve(typed: string): string;
}

/** A compiled query for searching contents. */
export interface SearchQuery {
  /** Searches a content. `limits` is JSON. */
  search(content: Uint8Array, limits: string): Packed;
  /** Like `search`, on another thread. */
  searchAsync?(content: Uint8Array, limits: string, interrupted?: CancelToken): Promise<Packed>;
}

/** An index of contents that JavaScript passes, each identified by a number. */
export interface HeldIndex {
  /**
   * Indexes a content and returns its number; -1 if it is binary and has no matches, -2 if it
   * cannot be indexed, so that every query must read it.
   */
  sign(content: Uint8Array): number;
  /** Returns one bit for each number, set if that content can have a match; null if all can. */
  candidates(query: SearchQuery): Uint8Array | null | undefined;
  /** Like `candidates`, for the options of a query that is compiled in a worker and not here. */
  candidatesOf(options: string): Uint8Array | null | undefined;
  /** Returns the memory use in bytes. */
  bytes(): number;
}

/** Contents whose terms are counted once, for many ranked searches. */
export interface CountedContents {
  /**
   * Counts the terms of a content. `path` is relative to the start of a search. Returns its number,
   * from 0 on; -1 for a content that is not ranked.
   */
  add(path: string, content: Uint8Array): number;
  /** Returns the memory use in bytes. */
  bytes(): number;
}

/** A ranked search of contents that JavaScript passes. */
export interface CodeRanking {
  /**
   * Adds the content of a file. `path` is relative to the directory with the index `root`. Reports
   * whether the file is searched: a binary one is not.
   */
  add(root: number, path: string, content: Uint8Array): boolean;
  /** Adds a content that is counted already, by its number. Reports whether it is searched. */
  addKnown(root: number, contents: CountedContents, number: number): boolean;
  /**
   * Ranks the added files. Returns a packed list: the number of the file of each of the best
   * blocks, in the order in which the searched files were added, from 0 on.
   */
  rank(): Packed;
  /**
   * Returns the block at an index of the ranking with its lines in the content of its file, a
   * packed `CodeBlock`; without a number if the content has changed.
   */
  show(index: number, content: Uint8Array): Packed;
}

/** A compiled list of globs that paths must match or must not match. */
export interface PathGlobs {
  /** Reports whether the globs match a path. */
  matches(path: string, isDir: boolean): boolean;
  /** Reports whether a glob excludes a path. */
  excluded(path: string, isDir: boolean): boolean;
  /** Reports whether an entry below a directory can match. */
  mayContain(path: string): boolean;
}

/** The ignore rules that apply in one directory: its own and those of the directories above it. */
export interface IgnoreStack {
  /**
   * Returns the rules for a directory below. `files` are the contents of its ignore files, and
   * `places` the index of each in the list of names of ignore files. `border` says that the
   * directory contains `.git`.
   */
  enter(directory: string, places: number[], files: Uint8Array[], border: boolean): IgnoreStack;
  /** Reports whether the rules exclude an entry of the directory. */
  ignored(path: string, isDir: boolean): boolean;
}

/** What both bindings export, as crates/core/src/exports/files.rs declares it. */
export interface FileExports {
  /**
   * Detects the kind and the encoding of a content. `complete` is false if only its beginning is
   * given.
   */
  inspect(bytes: Uint8Array, name: string, complete: boolean): Packed;
  /** Like `inspect`, on another thread. */
  inspectAsync?(bytes: Uint8Array, name: string, complete: boolean, signal?: AbortSignal): Promise<Packed>;
  /** Returns a page of a content, a packed `Page`. `request` is JSON. */
  readPage(bytes: Uint8Array, name: string, request: string): Packed;
  /** Like `readPage`, on another thread. */
  readPageAsync?(bytes: Uint8Array, name: string, request: string, signal?: AbortSignal): Promise<Packed>;
  /**
   * Returns the hashes of the lines of a content; null for one that is not text, and for too many
   * lines.
   */
  lineHashes(bytes: Uint8Array): string | null | undefined;
  /** Like `lineHashes`, on another thread. */
  lineHashesAsync?(bytes: Uint8Array, signal?: AbortSignal): Promise<string | null | undefined>;
  /**
   * Decodes a content to a packed `DecodedText`. Not named `decodeText`, because the JavaScript
   * that wasm-bindgen generates has a function of that name.
   */
  decodeBytes(bytes: Uint8Array, label: string): Packed;
  /** Like `decodeBytes`, on another thread. */
  decodeBytesAsync?(bytes: Uint8Array, label: string, signal?: AbortSignal): Promise<Packed>;
  /** Encodes a text. */
  encodeText(text: string, label: string, bom: boolean): Uint8Array;
  /** Like `encodeText`, on another thread. */
  encodeTextAsync?(text: string, label: string, bom: boolean, signal?: AbortSignal): Promise<Uint8Array>;
  /** Finds the definitions of a text in UTF-8, a packed `Outline`. `name` is the name of its file. */
  outline(text: Uint8Array, name: string): Packed;
  /** Like `outline`, on another thread. */
  outlineAsync?(text: Uint8Array, name: string, signal?: AbortSignal): Promise<Packed>;
  /** Reports whether the name of a file tells a language whose definitions can be found. */
  isOutlined(name: string): boolean;
  /** Returns the anchors of all lines of a text, joined. */
  lineAnchors(text: string): string;
  /** Returns the paths that best match a fuzzy query. In `paths`, each path ends in a NUL. */
  rankPaths(paths: string, options: string): Packed;
  /** Returns the table of protected and secret paths: decision, pattern and reason, one row per line. */
  placeTable(): string;
  /** Reports whether a file whose first bytes are `head` contains a private key. */
  holdsSecretContent(head: Uint8Array): boolean;
  /** Returns a root on a Windows disk in the form `/C:/repo`. Relative ones start from `cwd`. */
  windowsRoot(given: string, cwd: string): string;
  /**
   * Returns the path in a small file of git that consists of `key` and one path: `gitdir: ` in a `.git`
   * file, nothing in `commondir` and `gitdir`.
   */
  gitPathIn(content: Uint8Array, key: string): string | null | undefined;
  /** Compiles the rules. With `foldCase`, deny globs ignore letter case. */
  readonly AccessRules: new (cwd: string, roots: string[], deny: string[], protect: boolean, secrets: boolean, places: string[], foldCase: boolean) => AccessRules;
  /** Parses the working directory and the roots, in the form `/C:/repo`. */
  readonly WindowsPaths: new (cwd: string, roots: string[]) => WindowsPaths;
  /** Compiles a query. `options` is JSON. */
  readonly SearchQuery: new (options: string) => SearchQuery;
  /** Creates an empty index. */
  readonly HeldIndex: new () => HeldIndex;
  /** Creates an empty list. */
  readonly CountedContents: new () => CountedContents;
  /** Parses the query. `options` is JSON. */
  readonly CodeRanking: new (options: string) => CodeRanking;
  /** Compiles globs. `options` is JSON. */
  readonly PathGlobs: new (options: string) => PathGlobs;
  /** Creates a stack without rules. */
  readonly IgnoreStack: new () => IgnoreStack;
}
