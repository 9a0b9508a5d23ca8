/** The functions of the engine under their names, which call the engine in use, and their types. */
import { engine } from "./current.ts";
import type { Engine } from "./engine.ts";
import type { ReadThreads } from "./read.ts";

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

/** Like {@link inspect}, but large contents are inspected on another thread where threads exist. */
export const inspectAsync: ReadThreads["inspect"] = (...args) => engine().reading.inspect(...args);

/**
 * Reads a page of bytes in memory.
 *
 * @example readPage(new TextEncoder().encode("a\nb\n"), { startLine: -1 }).content; // "b\n"
 */
export const readPage: Engine["readPage"] = (...args) => engine().readPage(...args);

/**
 * Like {@link readPage}, but on another thread where threads exist, so that megabytes do not block the event
 * loop.
 */
export const readPageAsync: ReadThreads["readPage"] = (...args) => engine().reading.readPage(...args);

/** Decodes bytes to text: in the detected encoding, or in the named one, which then must fit. */
export const decodeText: Engine["decodeText"] = (...args) => engine().decodeText(...args);

/** Like {@link decodeText}, but large contents are decoded on another thread where threads exist. */
export const decodeTextAsync: ReadThreads["decodeText"] = (...args) => engine().reading.decodeText(...args);

/** Encodes text. A character that the encoding does not contain is an error, never replaced. */
export const encodeText: Engine["encodeText"] = (...args) => engine().encodeText(...args);

/** Like {@link encodeText}, but large texts are encoded on another thread where threads exist. */
export const encodeTextAsync: ReadThreads["encodeText"] = (...args) => engine().reading.encodeText(...args);

/**
 * Returns the anchors of all lines of a text as one string, six characters for each line; see `anchors` of a
 * page.
 */
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
 * @example rankPaths("usbhub", ["drivers/usb/hub.c", "fs/inode.c"]).files[0]?.path; // "drivers/usb/hub.c"
 */
export const rankPaths: Engine["ranking"]["paths"] = (...args) => engine().ranking.paths(...args);

/**
 * Finds the matches of a query in a text, line by line.
 *
 * @example grepText("a\nbc\n", { pattern: "c" }).matches; // [{ line: 2, column: 2, text: "bc" }]
 */
export const grepText: Engine["grepText"] = (...args) => engine().grepText(...args);

/**
 * Like {@link grepText}, but in a worker where workers exist (see `filewright/workers`), so that large texts
 * do not block the caller.
 */
export const grepTextAsync: Engine["grepTextAsync"] = (...args) => engine().grepTextAsync(...args);

/** Compiles a query, so that it can be applied to many texts. */
export const compileQuery: Engine["compileQuery"] = (...args) => engine().compileQuery(...args);

/**
 * Ignore rules with git's semantics, for custom walks.
 *
 * @example
 * const content = new TextEncoder().encode("*.log\n");
 * ignoreRules().enter("", [{ place: 0, content }], false).ignored("a.log", false); // true
 */
export const ignoreRules: Engine["ignoreRules"] = () => engine().ignoreRules();
