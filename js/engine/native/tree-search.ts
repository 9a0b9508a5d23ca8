/** Searches of a tree on disk, by the native engine: on threads of its own, in parallel and cancellable. */
import { runCancellable, throwTranslated } from "../threads.ts";
import { Yielder } from "../yielder.ts";
import { decodeCursor, encodeCursor } from "../wire/cursor.ts";
import { fileTypeGlobs } from "../file-types.ts";
import type { CancelToken, NativeRoots, PackedBatch } from "../generated/binding.ts";
import { hasSeveralPatterns, decodeLines, decodeMatch } from "../wire/hits.ts";
import type {
  CodeSearchQuery,
  CodeSearchResult,
  Counting,
  FileCount,
  FindQuery,
  FindResult,
  FuzzyQuery,
  FuzzyResult,
  IndexStatus,
  IndexUse,
  SearchMatch,
  SearchQuery,
  SearchResult,
} from "../search-types.ts";
import {
  decodeCodeFound,
  decodeFindHead,
  decodeIndexStatus,
  decodeSearchHead,
} from "../generated/records.ts";
import { type Packed, Unpacker } from "../wire/unpack.ts";

/** Searches of a tree on disk. Paths are absolute. */
export interface TreeSearch {
  grep(
    path: string,
    query: SearchQuery & Counting & { readonly signal?: AbortSignal | undefined },
  ): Promise<SearchResult>;
  find(path: string, query: FindQuery & { readonly signal?: AbortSignal | undefined }): Promise<FindResult>;
  /** Builds the index of a directory, and returns its status when it is complete. */
  warm(path: string, respectIgnore: boolean, signal?: AbortSignal | undefined): Promise<IndexStatus>;
  /** Frees the memory of all indexes. */
  dispose(): void;
  indexStatus(path: string): Promise<IndexStatus | undefined>;
  /** Fuzzy path search: finds files by some of the letters of their paths. */
  findFiles(
    path: string,
    query: Omit<FuzzyQuery, "rank"> & { readonly signal?: AbortSignal | undefined },
  ): Promise<FuzzyResult>;
  /** Finds the blocks of files below some directories that fit a question best. */
  searchCode(
    paths: readonly string[],
    query: CodeSearchQuery & { readonly signal?: AbortSignal | undefined },
    index: IndexUse | undefined,
  ): Promise<CodeSearchResult>;
}

/** Wraps the roots of the native engine. `Cancel` is the class of that engine's cancel tokens. */
export function makeTreeSearch(roots: NativeRoots, Cancel: new () => CancelToken): TreeSearch {
  return {
    async grep(path, { signal, onCounts, ...query }) {
      const options = JSON.stringify(toGrepOptions(query));
      const packed = await runCancellable(signal, Cancel, (token) =>
        withCountReports(token, onCounts, roots.grep(path, options, token)),
      );
      return query.maxTextBytes === undefined
        ? decodeSearchLazily(packed, query)
        : decodeSearchInSlices(packed, query, new Yielder({ signal }));
    },
    async find(path, { signal, ...query }) {
      const { options, recentFrom } = toFindOptions(query);
      const json = JSON.stringify(options);
      return decodeFindResult(
        await runCancellable(signal, Cancel, (token) => roots.find(path, json, token)),
        recentFrom,
      );
    },
    async findFiles(path, { signal, ...query }) {
      const options = JSON.stringify(query);
      const packed = await runCancellable(signal, Cancel, (token) => roots.findFiles(path, options, token));
      const from = new Unpacker(packed);
      const total = from.num();
      const files = Array.from({ length: from.num() }, () => {
        const score = from.num();
        return { path: from.str(), score };
      });
      return { files, total };
    },
    async searchCode([path = "", ...also], { signal, ...query }, index) {
      const options = JSON.stringify({ ...query, also, index });
      const packed = await runCancellable(signal, Cancel, (token) => roots.searchCode(path, options, token));
      return decodeCodeFound(new Unpacker(packed));
    },
    async warm(path, respectIgnore, signal) {
      return toIndexStatus(
        await runCancellable(signal, Cancel, (token) => roots.warm(path, respectIgnore, token)),
      );
    },
    dispose: () => roots.disposeIndexes(),
    indexStatus: (path) =>
      roots.indexStatus(path).then((packed) => {
        return packed.nums.length === 0 ? undefined : toIndexStatus(packed);
      }, throwTranslated),
  };
}

/** The time between two progress reports of a search, in milliseconds. */
const COUNT_REPORT_INTERVAL_MS = 100;

/**
 * Calls `onCounts` with the counts of a running search until it ends, and returns its result. The counts are
 * read from the cancel token of the search.
 */
async function withCountReports<T>(
  token: CancelToken | undefined,
  onCounts: Counting["onCounts"],
  search: Promise<T>,
): Promise<T> {
  if (token === undefined || onCounts === undefined) return search;
  const timer = setInterval(() => {
    const [files = 0, matches = 0] = token.counted();
    onCounts({ files, matches });
  }, COUNT_REPORT_INTERVAL_MS);
  try {
    return await search;
  } finally {
    clearInterval(timer);
  }
}

function toIndexStatus(packed: Packed): IndexStatus {
  return Object.freeze(decodeIndexStatus(new Unpacker(packed)));
}

/** Converts the options of a search of contents to those of the engine. */
function toGrepOptions(query: SearchQuery): Record<string, unknown> {
  const { cursor, fileTypes, ...rest } = query;
  const from = cursor === undefined ? undefined : decodeCursor("grep", cursor);
  return { ...rest, types: fileTypeGlobs(fileTypes), fromPath: from?.path, fromLine: from?.number };
}

/**
 * Decodes the packed result of `grep` in `crates/fs/src/search`, and lets other tasks run in between. @throws
 * CANCELLED
 */
async function decodeSearchInSlices(
  packed: readonly PackedBatch[],
  query: SearchQuery,
  yielder: Yielder,
): Promise<SearchResult> {
  const found: DecodedHits = { matches: [], counts: [] };
  const { shape, result } = decodeSearchTotals(packed[0] as Packed, query);
  for (const _ of decodeHits(packed.slice(1), shape, found)) await yielder.yieldIfDue();
  return { ...result, ...found };
}

/**
 * Decodes the packed result of `grep` in `crates/fs/src/search`; the matches only when they are first
 * accessed.
 */
function decodeSearchLazily(packed: readonly PackedBatch[], query: SearchQuery): SearchResult {
  const { shape, result } = decodeSearchTotals(packed[0] as Packed, query);
  // A million hits take longer to decode than to find, so they are decoded on first access.
  let batches: readonly PackedBatch[] | undefined = packed.slice(1);
  const found: DecodedHits = { matches: [], counts: [] };
  const hits = (): DecodedHits => {
    for (const _ of decodeHits(batches ?? [], shape, found));
    batches = undefined;
    return found;
  };
  return {
    ...result,
    get matches() {
      return hits().matches;
    },
    get counts() {
      return hits().counts;
    },
  };
}

function decodeSearchTotals(
  packed: Packed,
  query: SearchQuery,
): { readonly shape: HitShape; readonly result: Omit<SearchResult, "matches" | "counts"> } {
  const { incompleteReason, nextPath, nextLine, context, ...totals } = decodeSearchHead(new Unpacker(packed));
  const content = (query.output ?? "content") === "content";
  const shape = { content, context, attributed: hasSeveralPatterns(query) };
  const result = {
    ...totals,
    complete: incompleteReason === null,
    ...(incompleteReason !== null && { incompleteReason }),
    ...(nextPath !== null && { nextCursor: encodeCursor("grep", { path: nextPath, number: nextLine }) }),
  };
  return { shape, result };
}

/** The matches and counts that have been decoded so far. */
interface DecodedHits {
  readonly matches: SearchMatch[];
  readonly counts: FileCount[];
}

interface HitShape {
  readonly content: boolean;
  readonly context: boolean;
  readonly attributed: boolean;
}

/** The number of lines, or of files, that are decoded before other tasks may run. */
const LINES_PER_SLICE = 500;

/**
 * Decodes the matches into `found`, and yields after every {@link LINES_PER_SLICE}. The last file may have
 * fewer matches than its count says, because a limit ended the list.
 */
function* decodeHits(batches: readonly PackedBatch[], shape: HitShape, found: DecodedHits): Generator<void> {
  const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  for (const { nums, text } of batches) {
    const batch = { nums, text: typeof text === "string" ? text : utf8.decode(text) };
    const { content, context, attributed } = shape;
    if (content && !context && !attributed) yield* decodePlainHits(batch, found);
    else yield* decodeHitsWithContext(batch, shape, found);
  }
}

function* decodeHitsWithContext(batch: Packed, shape: HitShape, found: DecodedHits): Generator<void> {
  const from = new Unpacker(batch);
  let slice = 0;
  for (let files = from.num(); files > 0; files--) {
    const path = from.str();
    const count = from.num();
    found.counts.push({ path, count });
    slice++;
    for (let left = shape.content ? count : 0; left > 0 && !from.isAtEnd; left--) {
      const match = decodeMatch(from, shape, { path });
      found.matches.push(match);
      slice += 1 + (match.before?.length ?? 0) + (match.after?.length ?? 0);
      if (slice < LINES_PER_SLICE) continue;
      slice = 0;
      yield;
    }
    if (slice < LINES_PER_SLICE) continue;
    slice = 0;
    yield;
  }
}

/**
 * Decodes a batch of matches without context lines. It reads the numbers directly instead of using an
 * `Unpacker`, because there may be a million matches.
 */
function* decodePlainHits({ nums, text }: Packed, found: DecodedHits): Generator<void> {
  const { matches, counts } = found;
  let at = 0;
  let from = 0;
  const num = (offset: number): number => nums[at + offset] as number;
  const take = (length: number): string => {
    const begin = from;
    from += length;
    return text.slice(begin, from);
  };
  const restOf = (length: number): string[] => Array.from({ length }, () => take(nums[at++] as number));
  at = 1;
  for (let files = nums[0] as number; files > 0; files--) {
    const path = take(num(0));
    const count = num(1);
    at += 2;
    counts.push({ path, count });
    for (let left = count; left > 0 && at < nums.length; left--) {
      const line = num(0);
      const endLine = num(1);
      const cut = num(3) === 1;
      const whole = { path, line, column: num(2), text: take(num(4)) };
      const match = cut ? { ...whole, cut: true as const } : whole;
      at += 5;
      matches.push(endLine > line ? { ...match, endLine, rest: restOf(endLine - line) } : match);
      if (matches.length % LINES_PER_SLICE === 0) yield;
    }
  }
}

const MS_PER_DAY = 86_400_000;

/**
 * Converts the options of a search for names to those of the engine. `recentFrom` is the time, in
 * milliseconds since 1970, from which a change counts as recent.
 */
function toFindOptions(query: FindQuery): { options: Record<string, unknown>; recentFrom: number } {
  const { cursor, caseSensitive, recencyMs, ...rest } = query;
  const after = cursor === undefined ? undefined : decodeCursor("find", cursor);
  // The time comes from the cursor, so that all pages of a search use the same one.
  const recentFrom = after?.since ?? Math.max(0, Date.now() - (recencyMs ?? MS_PER_DAY));
  const time = after === undefined || after.number < 0 ? undefined : after.number;
  const options = { ...rest, globCase: caseSensitive, recentFrom, afterPath: after?.path, afterTime: time };
  return { options, recentFrom };
}

/** Decodes the result of `find` in `crates/fs/src/search/find.rs`. */
function decodeFindResult(packed: Packed, recentFrom: number): FindResult {
  const from = new Unpacker(packed);
  const { lastTime, ...totals } = decodeFindHead(from);
  // Paths are decoded on first access, because there may be tens of thousands.
  let found: readonly string[] | undefined;
  const all = (): readonly string[] => {
    found ??= decodeLines(from);
    return found;
  };
  const last = totals.truncated ? all().at(-1) : undefined;
  return {
    get paths() {
      return all();
    },
    ...totals,
    ...(last !== undefined && {
      nextCursor: encodeCursor("find", { path: last, number: lastTime, since: recentFrom }),
    }),
  };
}
