/** The engine's functions by name, on whichever engine is in use, and their types. */
import { engine } from "./current.ts";
import type { Engine } from "./engine.ts";

export * from "./text/text-functions.ts";
export type { Engine } from "./engine.ts";
export type {
  DecodedText,
  Eol,
  FileKind,
  InspectOptions,
  Inspection,
  LineNumbers,
  LongLine,
  Page,
  PageRequest,
} from "./read.ts";
export type { RankedPath, RankedPaths, RankOptions } from "./rank.ts";
export type {
  CompiledQuery,
  ContentLimits,
  Counting,
  FileCount,
  FindQuery,
  FindResult,
  Freshness,
  FuzzyQuery,
  FuzzyResult,
  GlobOptions,
  IgnoreFile,
  IgnoreRules,
  IncompleteReason,
  IndexStatus,
  IndexUse,
  PathGlobs,
  SearchCounts,
  SearchMatch,
  SearchQuery,
  SearchResult,
  TextHits,
  TextLimits,
  TextMatch,
  TextQuery,
  WalkQuery,
} from "./search.ts";

/** Detects the type of a file by its content: kind, MIME type, encoding, line endings. */
export const inspect: Engine["inspect"] = (...args) => engine().inspect(...args);

/**
 * Reads a page of bytes in memory.
 *
 * @example readPage(new TextEncoder().encode("a
 * b
 * "), { startLine: -1 }).content; // "b
 * "
 */
export const readPage: Engine["readPage"] = (...args) => engine().readPage(...args);

/** The same on another thread, where threads exist: for megabytes. */
export const readPageAsync: Engine["readPageAsync"] = (...args) => engine().readPageAsync(...args);

/** Decodes bytes in the detected encoding, or strictly in the named one. */
export const decodeText: Engine["decodeText"] = (...args) => engine().decodeText(...args);

/** Encodes text; a character that the encoding lacks is refused. */
export const encodeText: Engine["encodeText"] = (...args) => engine().encodeText(...args);

/** Returns six characters for each line of a text, as in pages with `anchors`. */
export const lineAnchors: Engine["lineAnchors"] = (...args) => engine().lineAnchors(...args);

/**
 * Compiles globs, by ripgrep's rule: a pattern without a slash matches at any depth.
 *
 * @example glob("src/**\/*.ts").matches("src/a/b.ts"); // true
 */
export const glob: Engine["glob"] = (...args) => engine().glob(...args);

/**
 * Fuzzy path search: ranks paths by some of their letters, best first.
 *
 * @example rankPaths("usbhub", ["drivers/usb/hub.c", "fs/inode.c"]).files[0]?.path; //
 * "drivers/usb/hub.c"
 */
export const rankPaths: Engine["rankPaths"] = (...args) => engine().rankPaths(...args);

/**
 * Searches a text, line by line.
 *
 * @example grepText("a\nbc\n", { pattern: "c" }).matches; // [{ line: 2, column: 2, text: "bc" }]
 */
export const grepText: Engine["grepText"] = (...args) => engine().grepText(...args);

/** The same in a worker, where workers exist, see `filewright/workers`: for large texts. */
export const grepTextAsync: Engine["grepTextAsync"] = (...args) => engine().grepTextAsync(...args);

/** Compiles a query once, to search many texts. */
export const compileQuery: Engine["compileQuery"] = (...args) => engine().compileQuery(...args);

/**
 * Ignore rules with git's semantics, for custom walks.
 *
 * @example
 * const content = new TextEncoder().encode("*.log
 * ");
 * ignoreRules().enter("", [{ place: 0, content }], false).ignored("a.log", false); // true
 */
export const ignoreRules: Engine["ignoreRules"] = () => engine().ignoreRules();
