/**
 * Globs, ignore rules and queries over bytes: objects that every backend uses.
 *
 * Searching a tree on disk is one call of the native engine: `tree-search.ts`.
 */
import { type CancelToken, runCancellable, asEngineCall } from "./threads.ts";
import { Yielder } from "./yielder.ts";
import { checkAborted, fromEngine, type Signalled } from "./errors.ts";
import { isExpensiveQuery, isCheapToParse, QueryCache } from "./queries.ts";
import { hasSeveralPatterns, decodeTextHits, decodeTextHitsYielding } from "./wire/hits.ts";
import type { FileExports, IgnoreStack, SearchQuery as RawQuery } from "./generated/exports.ts";
import type { TextHits, TextLimits, TextQuery } from "./search-types.ts";
import type { Packed } from "./wire/unpack.ts";
import { toUtf8 } from "./wire/bytes.ts";

export type * from "./search-types.ts";

/**
 * The size in bytes from which a content is searched in a worker: a smaller one is searched faster than it is
 * sent.
 */
export const MIN_WORKER_SEARCH_BYTES: number = 32 * 1024;

/**
 * The size in bytes from which a content is searched on a thread of the native engine, whose searches are
 * fast.
 */
const MIN_NATIVE_THREAD_SEARCH_BYTES = 256 * 1024;

/** Limits of a search in one content, including limits of the text that is returned. */
export interface ContentLimits extends TextLimits {
  /** Matches up to this line are left out, because an earlier page returned them. */
  readonly skipLines?: number | undefined;
  /**
   * The maximum size in bytes of the returned rows (path, line number and text). Further matches are counted
   * but not returned.
   */
  readonly maxTextBytes?: number | undefined;
  /** The length in bytes of the path with which each row begins. */
  readonly pathBytes?: number | undefined;
}

/** A compiled query. */
export interface CompiledQuery {
  /** Searches the content of a file. A byte order mark selects the encoding. */
  search(content: Uint8Array, limits?: ContentLimits): TextHits;
  /** Counts the matching lines and returns no matches. */
  count(content: Uint8Array, limits?: ContentLimits): TextHits;
  /** Searches or counts in a worker or on a thread; absent where there are none. @throws CANCELLED */
  later?(
    content: Uint8Array,
    limits: ContentLimits & { readonly count: boolean },
    signal?: AbortSignal,
  ): Promise<TextHits>;
  /** The size in bytes below which `search` is faster than `later`. */
  readonly laterFrom: number;
}

/** A compiled query as this file makes it, with that of the engine for an index of contents. */
interface EngineQuery extends CompiledQuery {
  readonly raw: RawQuery;
}

/** A query that is compiled in workers only, because compiling it would block the event loop. */
export interface SentQuery {
  /**
   * Searches contents, all with the same limits. An empty list only checks that the query
   * compiles. @throws CANCELLED
   */
  searchAll(
    contents: readonly Uint8Array[],
    limits: ContentLimits & { readonly count: boolean },
    signal?: AbortSignal,
  ): Promise<readonly TextHits[]>;
  /** The argument of `SearchQuery` as JSON, for an index of contents; undefined where it takes long to parse. */
  readonly options: string | undefined;
}

/**
 * An index of contents in memory, which says which contents a query can match. It refers to contents by
 * number.
 */
export interface HeldIndex {
  /**
   * Adds a content and returns its number, from 0 on; -1 if it is binary, -2 if the index cannot exclude it,
   * so that every query must read it.
   */
  sign(content: Uint8Array): number;
  /** Returns the contents that can match a query, as one bit for each number. Undefined when all can. */
  candidates(query: CompiledQuery | SentQuery): Uint8Array | undefined;
  /** Returns the size of the index in bytes. */
  bytes(): number;
}

/** Compiled globs. Paths are relative, `/`-separated. */
export interface PathGlobs {
  /** Returns true when the path matches a pattern, and no pattern excludes it or a directory above it. */
  matches(path: string, isDir?: boolean): boolean;
  /** Returns true when a pattern excludes the path. A walk can skip such a directory. */
  excluded(path: string, isDir?: boolean): boolean;
  /** Returns true when an entry below the directory can match, so that a walk must enter it. */
  mayContain(directory: string): boolean;
}

/** Options of a compilation of globs. */
export interface GlobOptions {
  readonly exclude?: readonly string[] | undefined;
  /** Default true. */
  readonly caseSensitive?: boolean | undefined;
}

/**
 * The ignore rules that apply in one directory: those of its own ignore files and of all directories up to
 * the root of the walk. Immutable.
 */
export interface IgnoreRules {
  /**
   * Returns the rules for a subdirectory. `files` are its ignore files, each with the index of its name in
   * the list of ignore files. `border` is true when the directory contains `.git`, so that git's ignore files
   * above it do not apply below it.
   */
  enter(directory: string, files: readonly IgnoreFile[], border: boolean): IgnoreRules;
  /**
   * Returns true when the rules exclude an entry of the directory. `path` is relative to the root of the
   * walk.
   */
  ignored(path: string, isDir: boolean): boolean;
}

/** An ignore file of a directory. */
export interface IgnoreFile {
  readonly place: number;
  readonly content: Uint8Array;
}

/** The exports of a binding that searches need. */
export interface SearchBinding extends FileExports {
  /** The class of tokens that cancel a call on another thread; exists only in the native engine. */
  readonly CancelToken?: new () => CancelToken;
  /** Searches on another thread; exists only in bindings with workers. */
  searchAsync?(options: string, content: Uint8Array, limits: string, signal?: AbortSignal): Promise<Packed>;
  /** Searches several contents in one call; exists only in bindings with workers. */
  searchAllAsync?(
    options: string,
    contents: readonly Uint8Array[],
    limits: string,
    signal?: AbortSignal,
  ): Promise<readonly Packed[]>;
}

/** The functions of the engine for searches, globs and ignore rules. */
export interface SearchEngine {
  /**
   * Compiles globs, by ripgrep's rule: a pattern without a slash matches at any depth.
   * @throws INVALID_GLOB, LIMIT_EXCEEDED
   */
  glob(patterns: string | readonly string[], options?: GlobOptions): PathGlobs;
  /** Compiles a query. @throws INVALID_REGEX, INVALID_ARGUMENT, LIMIT_EXCEEDED */
  compileQuery(query: TextQuery): CompiledQuery;
  /**
   * Returns the query in a form that workers compile; undefined when there are no workers, or it compiles
   * fast.
   */
  sentQuery(query: TextQuery): SentQuery | undefined;
  /** Searches a text. @throws INVALID_REGEX, INVALID_ARGUMENT, LIMIT_EXCEEDED */
  grepText(text: string | Uint8Array, query: TextQuery & TextLimits): TextHits;
  /**
   * Like {@link SearchEngine.grepText}, but in a worker or on a thread, so that large texts do not block the
   * caller. @throws also CANCELLED
   */
  grepTextAsync(text: string | Uint8Array, query: TextQuery & TextLimits & Signalled): Promise<TextHits>;
  /** Returns ignore rules that exclude nothing, for the root of a walk. */
  ignoreRules(): IgnoreRules;
  /** Returns an empty index of contents. */
  heldIndex(): HeldIndex;
}

/** The globs that no pattern limits. */
const ALL_PATHS: PathGlobs = Object.freeze({
  matches: () => true,
  excluded: () => false,
  mayContain: () => true,
});

/** Returns the function that compiles queries, and keeps those of the last searches. */
function queryCompilerOf(binding: SearchBinding): SearchEngine["compileQuery"] {
  const kept = new QueryCache<EngineQuery>();
  const { searchAsync, CancelToken } = binding;
  return (query) => {
    const options = queryOptionsJson(query);
    const known = kept.get(options);
    if (known !== undefined) return known;
    const attributed = hasSeveralPatterns(query);
    const raw = asEngineCall(() => new binding.SearchQuery(options));
    const run = (content: Uint8Array, limits: TextLimits, count: boolean) =>
      asEngineCall(() =>
        decodeTextHits(raw.search(content, JSON.stringify({ ...limits, count })), attributed),
      );
    const compiled: { -readonly [K in keyof EngineQuery]: EngineQuery[K] } = {
      search: (content, limits = {}) => run(content, limits, false),
      count: (content, limits = {}) => run(content, limits, true),
      laterFrom: MIN_WORKER_SEARCH_BYTES,
      raw,
    };
    if (raw.searchAsync !== undefined && CancelToken !== undefined) {
      compiled.laterFrom = MIN_NATIVE_THREAD_SEARCH_BYTES;
      compiled.later = async (content, limits, signal) => {
        const asked = JSON.stringify(limits);
        const search = (token?: CancelToken) => raw.searchAsync?.(content, asked, token) as Promise<Packed>;
        const packed = await runCancellable(signal, CancelToken, search);
        return decodeTextHitsYielding(packed, attributed, new Yielder({ signal }));
      };
    } else if (searchAsync !== undefined) {
      compiled.later = async (content, limits, signal) => {
        try {
          const packed = await searchAsync(options, content, JSON.stringify(limits), signal);
          return await decodeTextHitsYielding(packed, attributed, new Yielder({ signal }));
        } catch (error) {
          throw fromEngine(error);
        }
      };
    }
    kept.add(options, raw, compiled);
    return compiled;
  };
}

/** Returns the functions of the engine for searches, globs and ignore rules, which call the given binding. */
export function makeSearchEngine(binding: SearchBinding): SearchEngine {
  const { searchAsync, searchAllAsync } = binding;
  const compileQuery = queryCompilerOf(binding);
  return {
    glob(patterns, options = {}) {
      const { exclude, caseSensitive } = options;
      // Without a pattern every path matches, and no call of the engine for each need say so.
      if (Array.isArray(patterns) && patterns.length === 0 && (exclude === undefined || exclude.length === 0))
        return ALL_PATHS;
      const json = JSON.stringify({ patterns, exclude, caseSensitive });
      const raw = asEngineCall(() => new binding.PathGlobs(json));
      return {
        matches: (path, isDir = false) => raw.matches(path, isDir),
        excluded: (path, isDir = false) => raw.excluded(path, isDir),
        mayContain: (directory) => raw.mayContain(directory),
      };
    },
    compileQuery,
    sentQuery(query) {
      if (searchAllAsync === undefined || !isExpensiveQuery(query)) return undefined;
      const [options, attributed] = [queryOptionsJson(query), hasSeveralPatterns(query)];
      return {
        options: isCheapToParse(query) ? options : undefined,
        async searchAll(contents, limits, signal) {
          try {
            const found = await searchAllAsync(options, contents, JSON.stringify(limits), signal);
            const yielder = new Yielder({ signal });
            const hits: TextHits[] = [];
            for (const packed of found) hits.push(await decodeTextHitsYielding(packed, attributed, yielder));
            return hits;
          } catch (error) {
            throw fromEngine(error);
          }
        },
      };
    },
    grepText: (text, query) => compileQuery(query).search(toUtf8(text), textLimitsOf(query)),
    async grepTextAsync(text, query) {
      checkAborted(query.signal);
      const [content, limits] = [toUtf8(text), textLimitsOf(query)];
      if (searchAsync === undefined || content.length < MIN_WORKER_SEARCH_BYTES) {
        const { search, later, laterFrom } = compileQuery(query);
        if (later === undefined || content.length < laterFrom) return search(content, limits);
        return later(content, { ...limits, count: false }, query.signal);
      }
      // The query is compiled in the worker, because compiling it could block the event loop.
      try {
        const asked = JSON.stringify({ ...limits, count: false });
        const packed = await searchAsync(queryOptionsJson(query), content, asked, query.signal);
        return await decodeTextHitsYielding(packed, hasSeveralPatterns(query), new Yielder(query));
      } catch (error) {
        throw fromEngine(error);
      }
    },
    ignoreRules: () => toIgnoreRules(new binding.IgnoreStack()),
    heldIndex() {
      const raw = new binding.HeldIndex();
      return {
        sign: (content) => raw.sign(content),
        candidates(query) {
          if ("search" in query) return raw.candidates((query as EngineQuery).raw) ?? undefined;
          const { options } = query;
          return options === undefined ? undefined : (raw.candidatesOf?.(options) ?? undefined);
        },
        bytes: () => raw.bytes(),
      };
    },
  };
}

/** Converts the options of a query to JSON, as the engine expects them. */
function queryOptionsJson({ pattern, patterns, regex, case: letters, word, multiline }: TextQuery): string {
  return JSON.stringify({ pattern, patterns, regex, case: letters, word, multiline });
}

function textLimitsOf({ before, after, context, maxPerFile, maxLineChars }: TextLimits): TextLimits {
  return { before, after, context, maxPerFile, maxLineChars };
}

function toIgnoreRules(raw: IgnoreStack): IgnoreRules {
  return {
    enter(directory, files, border) {
      if (files.length === 0 && !border) return this;
      const places = files.map((file) => file.place);
      const contents = files.map((file) => file.content);
      return toIgnoreRules(raw.enter(directory, places, contents, border));
    },
    ignored: (path, isDir) => raw.ignored(path, isDir),
  };
}
