/**
 * Patches and merges.
 *
 * Accepts every form of patch that people and models write: unified diffs, git's extended form, and
 * `*** Begin Patch`. A patch is applied to all of its files or, if one fails, to none.
 */
import { checkAborted, FilewrightError, fromEngine, type Signalled } from "../errors.ts";
import { onThread, untilAborted, asEngineCall } from "../threads.ts";
import { forEachYielding, STEPS_PER_YIELD_CHECK, Yielder } from "../yielder.ts";
import type { PackedPatch, TextExports } from "../generated/exports.ts";
import { decodeMergeConflict, type MergeConflict } from "../generated/records.ts";
import { type Packed, Unpacker } from "../wire/unpack.ts";
import { toUtf8 } from "../wire/bytes.ts";

/** The operation of a patch on a file. */
export type PatchOperation = "update" | "create" | "delete" | "rename" | "copy";

/** One hunk of a patch, as it was parsed. */
export interface PatchHunk {
  /** The first line of the old file, from 1; null when the header has no numbers. */
  readonly oldStart: number | null;
  readonly oldLines: number;
  readonly newStart: number | null;
  readonly newLines: number;
  /** Lines, each of which must come before the hunk in the file, the outermost first. */
  readonly anchors: readonly string[];
  /** True when the hunk must end at the end of the file. */
  readonly atEnd: boolean;
  /** The line of the patch (1-based) at which the hunk begins. */
  readonly line: number;
  /** The lines of the hunk, each with its marker: a space, `+` or `-`. */
  readonly lines: readonly string[];
}

/** The part of a patch about one file. */
export interface PatchFile {
  /** The old name; null for a new file. */
  readonly oldPath: string | null;
  /** The new name; null for a deleted file. Both names are null when the patch contains none. */
  readonly newPath: string | null;
  readonly operation: PatchOperation;
  /** git's new mode, such as `0o100644`; null when the patch has none. */
  readonly mode: number | null;
  readonly binary: boolean;
  /** The line of the patch (1-based) at which the file begins. */
  readonly line: number;
  readonly added: number;
  readonly removed: number;
  readonly hunks: readonly PatchHunk[];
}

/** A parsed patch. */
export interface ParsedPatch {
  readonly files: readonly PatchFile[];
  /** Every path the patch reads or writes, once. */
  readonly paths: readonly string[];
  /** Sentences about defects of the patch that were repaired. */
  readonly warnings: readonly string[];
}

/** How a patch is read. */
export interface ParseOptions {
  /**
   * The number of leading directories to remove from every name. Default: `a/` and `b/` are removed where
   * both names have them.
   */
  readonly strip?: number | undefined;
  /** The name of the only file of the patch, instead of the names in it. */
  readonly path?: string | undefined;
  /** Parse the patch with both sides exchanged, so that applying it undoes it. Default false. */
  readonly reverse?: boolean | undefined;
}

/** How a patch is applied. */
export interface ApplyOptions extends ParseOptions {
  /**
   * The number of outermost context lines that may be ignored on each side, 0 to 3. Default 2.
   * With 0 only line endings and trailing whitespace may differ.
   */
  readonly fuzz?: number | undefined;
  /** Other names for files of the patch: a name in the patch → the name to use. */
  readonly same?: Readonly<Record<string, string>> | undefined;
}

/** The location of an applied hunk. */
export interface PlacedHunk {
  /** The first line that the hunk replaced, from 1. */
  readonly line: number;
  /** The distance in lines from the line that its header names; negative when it is further up. */
  readonly offset: number;
  readonly how: "exact" | "whitespace" | "fuzzy" | "fuzz";
}

/** The result of a patch for one file. */
export interface PatchedFile {
  readonly path: string;
  /** The old name of a renamed or copied file. */
  readonly from: string | null;
  readonly operation: PatchOperation;
  /** Permission bits, when the patch sets them. */
  readonly mode: number | null;
  /** The new content; null for a deleted file. */
  readonly bytes: Uint8Array | null;
  readonly added: number;
  readonly removed: number;
  /** The largest distance, in lines, of a hunk from the line that its header names. */
  readonly offset: number;
  readonly hunks: readonly PlacedHunk[];
}

/**
 * The patch to send instead of a refused one: `details.retry` of the error, or an item of its
 * `details.retries` where several places can be meant.
 */
export interface CorrectedPatch {
  readonly patch: string;
}

/** Contents of files by their paths. */
export type FileContents =
  | Readonly<Record<string, string | Uint8Array>>
  | ReadonlyMap<string, string | Uint8Array>;

/** How texts are merged. */
export interface MergeOptions {
  /** The form of conflict markers, as in git. Default `merge`. */
  readonly style?: "merge" | "diff3" | "zdiff3" | undefined;
  /**
   * Merge changes of adjacent lines that different sides made, instead of reporting a conflict. Default
   * false.
   */
  readonly adjacent?: boolean | undefined;
  /** The names that follow the conflict markers. */
  readonly labels?: { readonly ours?: string; readonly base?: string; readonly theirs?: string } | undefined;
}

export type { LineRange, MergeConflict } from "../generated/records.ts";

/** A merged text. */
export interface MergeResult {
  readonly bytes: Uint8Array;
  /** The merged bytes as text. */
  readonly text: string;
  readonly conflicts: readonly MergeConflict[];
}

/** The functions of the engine for patches and merges. */
export interface PatchEngine {
  /** Parses a patch. @throws FilewrightError PATCH_FAILED where there is none */
  parsePatch(patch: string, options?: ParseOptions): ParsedPatch;
  /**
   * Computes the new contents of the files of a patch; nothing is written. @throws FilewrightError
   * PATCH_FAILED when a hunk cannot be applied
   */
  applyPatch(files: FileContents, patch: string, options?: ApplyOptions): readonly PatchedFile[];
  /**
   * Like {@link PatchEngine.applyPatch}, but on another thread where threads exist, so that large files do
   * not block the caller.
   */
  applyPatchAsync(
    files: FileContents,
    patch: string,
    options?: ApplyOptions & Signalled,
  ): Promise<readonly PatchedFile[]>;
  /** Merges two changed versions of a text, given their common origin. */
  merge3(
    base: string | Uint8Array,
    ours: string | Uint8Array,
    theirs: string | Uint8Array,
    options?: MergeOptions,
  ): MergeResult;
}

/** Functions for patches and merges whose large inputs are worked on by another thread, where there are threads. */
export interface PatchThreads {
  /**
   * Does the same as {@link PatchEngine.parsePatch}, but the lists of hunks are empty. @throws PATCH_FAILED, CANCELLED
   */
  outlineOfPatch(patch: string, options?: ParseOptions & Signalled): Promise<ParsedPatch>;
  /** Does the same as {@link PatchEngine.merge3}. */
  merge3(
    base: string | Uint8Array,
    ours: string | Uint8Array,
    theirs: string | Uint8Array,
    options?: MergeOptions,
  ): Promise<MergeResult>;
}

const MARKER_STYLE_NUMBERS: Readonly<Record<string, number>> = { merge: 0, diff3: 1, zdiff3: 2 };
const ADJACENT_FLAG = 4;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Returns the functions of the engine for patches and merges, which call the given binding. */
export function makePatchEngine(binding: TextExports): PatchEngine {
  return {
    parsePatch(patch, options = {}) {
      return asEngineCall(
        () => JSON.parse(binding.parsePatch(patch, JSON.stringify(options))) as ParsedPatch,
      );
    },
    applyPatch(files, patch, options = {}) {
      const [names, contents] = namesAndContents(files);
      return asEngineCall(() =>
        decodePatchedFiles(binding.applyPatch(names, contents, patch, JSON.stringify(options))),
      );
    },
    async applyPatchAsync(files, patch, { signal, ...options } = {}) {
      checkAborted(signal);
      const [names, contents] = namesAndContents(files);
      const call = JSON.stringify(options);
      try {
        if (binding.applyPatchAsync === undefined)
          return decodePatchedFiles(binding.applyPatch(names, contents, patch, call));
        const applied = binding.applyPatchAsync(names, contents, patch, call, signal);
        return await decodePatchedFilesYielding(await untilAborted(signal, applied), signal);
      } catch (error) {
        throw fromEngine(error);
      }
    },
    merge3(base, ours, theirs, options = {}) {
      const args = mergeArguments([base, ours, theirs], options);
      return asEngineCall(() => decodeMerge(binding.merge3(...args)));
    },
  };
}

/** Returns the functions for patches and merges that use the threads of the given binding. */
export function makePatchThreads(binding: TextExports): PatchThreads {
  return {
    async outlineOfPatch(patch, { signal, ...options } = {}) {
      const call = JSON.stringify({ ...options, hunks: false });
      const parsed = await onThread(
        { size: patch.length, signal },
        () => binding.parsePatch(patch, call),
        binding.parsePatchAsync && (() => binding.parsePatchAsync?.(patch, call, signal)),
      );
      return parseOutline(parsed, new Yielder({ signal }));
    },
    async merge3(base, ours, theirs, options = {}) {
      const args = mergeArguments([base, ours, theirs], options);
      const merged = await onThread(
        { size: args[0].length + args[1].length + args[2].length },
        () => binding.merge3(...args),
        binding.merge3Async && (() => binding.merge3Async?.(...args)),
      );
      return decodeMerge(merged);
    },
  };
}

/** Returns the arguments of a merge for a binding. @throws INVALID_ARGUMENT for an unknown style */
function mergeArguments(
  texts: readonly [string | Uint8Array, string | Uint8Array, string | Uint8Array],
  options: MergeOptions,
): Parameters<TextExports["merge3"]> {
  const style = MARKER_STYLE_NUMBERS[options.style ?? "merge"];
  if (style === undefined) {
    throw new FilewrightError("INVALID_ARGUMENT", `unknown merge style "${options.style}"`, {
      hint: "use merge, diff3 or zdiff3",
      details: { argument: "style" },
    });
  }
  const { ours = "", base = "", theirs = "" } = options.labels ?? {};
  const flags = style | (options.adjacent ? ADJACENT_FLAG : 0);
  const [first, second, third] = texts;
  return [toUtf8(first), toUtf8(second), toUtf8(third), flags, [ours, base, theirs]];
}

function namesAndContents(files: FileContents): [names: string[], contents: Uint8Array[]] {
  const entries = files instanceof Map ? [...files] : Object.entries(files);
  return [entries.map(([name]) => name), entries.map(([, content]) => toUtf8(content))];
}

/** The number of characters of JSON after which the event loop can run: it takes a millisecond to parse. */
const CHARACTERS_PER_PIECE = 64 * 1024;
/**
 * The end of one file and the beginning of the next in a list of files (`crates/core/src/patch/json.rs`), whose members
 * are sorted. No string contains it: a quote in a string is escaped, and what follows the quote at its end is no name.
 */
const BETWEEN_FILES = `},{"added":`;
/** What precedes and follows the files in the outline of a patch. No string contains the second, for the same reason. */
const [BEFORE_FILES, AFTER_FILES] = [`{"files":`, `],"paths":`] as const;

/** Parses the JSON of a list of files, with pauses between pieces of it. */
async function parseList<T>(json: string, yielder: Yielder): Promise<T[]> {
  const files: T[] = [];
  for (let from = 1; from < json.length; ) {
    const between = json.indexOf(BETWEEN_FILES, from + CHARACTERS_PER_PIECE);
    const end = between < 0 ? json.length - 1 : between + 1;
    for (const file of JSON.parse(`[${json.slice(from, end)}]`) as T[]) files.push(file);
    from = end + 1;
    await yielder.yieldIfDue();
  }
  return files;
}

/** Parses the outline of a patch, with pauses between pieces of a long one. */
async function parseOutline(json: string, yielder: Yielder): Promise<ParsedPatch> {
  const end = json.indexOf(AFTER_FILES) + 1;
  if (json.length <= CHARACTERS_PER_PIECE || end === 0 || !json.startsWith(BEFORE_FILES))
    return JSON.parse(json) as ParsedPatch;
  const files = await parseList<ParsedPatch["files"][number]>(json.slice(BEFORE_FILES.length, end), yielder);
  const rest = JSON.parse(`${BEFORE_FILES}[]${json.slice(end)}`) as ParsedPatch;
  return { ...rest, files };
}

/** Decodes the result of a patch: the facts of `crates/core/src/patch/json.rs`, and the contents. */
function decodePatchedFiles({ facts, contents }: PackedPatch): PatchedFile[] {
  const files = JSON.parse(facts) as Omit<PatchedFile, "bytes">[];
  return files.map((file, index) => withContent(file, contents[index]));
}

/** Does the same as {@link decodePatchedFiles}, with pauses between many files. */
async function decodePatchedFilesYielding(
  { facts, contents }: PackedPatch,
  signal: AbortSignal | undefined,
): Promise<PatchedFile[]> {
  const yielder = new Yielder({ signal });
  // The contents of many files have taken long to arrive.
  if (contents.length > STEPS_PER_YIELD_CHECK) await yielder.yieldNow();
  const files = await parseList<Omit<PatchedFile, "bytes">>(facts, yielder);
  const decoded: PatchedFile[] = [];
  await forEachYielding(files, yielder, (file) => decoded.push(withContent(file, contents[decoded.length])));
  return decoded;
}

function withContent(file: Omit<PatchedFile, "bytes">, bytes: Uint8Array | undefined): PatchedFile {
  return { ...file, bytes: file.operation === "delete" ? null : (bytes ?? null) };
}

/** Decodes the result of a merge. */
function decodeMerge(packed: Packed & { readonly bytes: Uint8Array }): MergeResult {
  const { bytes } = packed;
  const from = new Unpacker(packed);
  const conflicts = from.list(() => decodeMergeConflict(from));
  return { bytes, text: decoder.decode(bytes), conflicts };
}
