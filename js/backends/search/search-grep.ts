/**
 * The state of a content search, independent of how files are read: its counts, its limits and its
 * result.
 */
import { engine } from "../../engine/current.ts";
import { decodeCursor, encodeCursor } from "../../engine/wire/cursor.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { utf8Length } from "../../engine/wire/bytes.ts";
import type {
  CompiledQuery,
  FileCount,
  Freshness,
  IncompleteReason,
  PathGlobs,
  SearchMatch,
  SearchQuery,
  SearchResult,
  SentQuery,
  TextHits,
  TextMatch,
} from "../../engine/search.ts";
import { STEPS_PER_YIELD_CHECK, Yielder } from "../../engine/yielder.ts";

/** A query that can be cancelled. */
export interface Signalled {
  readonly signal?: AbortSignal | undefined;
}

/** The counts of a walk besides its files: entries that could not be read, and ignored ones. */
export interface SearchCounts {
  readonly unreadable: number;
  readonly ignored: number;
}

const NO_COUNTS: SearchCounts = Object.freeze({ unreadable: 0, ignored: 0 });
const MAX_FILE_BYTES = 100 * 1024 * 1024;
const WHOLE_FILE = Number.MAX_SAFE_INTEGER;
/**
 * The bytes that each row of a result counts besides its text; the same as `Limits::ROW_BYTES` of
 * `crates/core/src/search`.
 */
const ROW_BYTES = 4;

/** One search of contents, with its results so far. */
export class GrepSearch {
  readonly compiled: CompiledQuery | SentQuery;
  /** The maximum size of a searched file, in bytes. Larger files are counted and skipped. */
  readonly maxFileBytes: number;
  readonly from: GrepPosition;
  readonly #query: SearchQuery & Signalled;
  readonly #yielder: Yielder;
  readonly #prefetcher = new HitPrefetcher();
  readonly #content: boolean;
  readonly #maxResults: number;
  readonly #found: FoundHits[] = [];
  /** The number of searched files. */
  searched = 0;
  /** The number of binary files, which were skipped. */
  binary = 0;
  /** The number of files that were skipped because they are larger than {@link GrepSearch.maxFileBytes}. */
  large = 0;
  #units = 0;
  /** The bytes that further hits may add to the result. */
  #textLeft: number;
  #moreMatches = 0;
  #moreFiles = 0;
  #unreadable = 0;
  #stoppedAt: GrepPosition | undefined;

  constructor(query: SearchQuery & Signalled) {
    this.from = query.cursor === undefined ? { path: "", number: 0 } : decodeCursor("grep", query.cursor);
    this.#query = query;
    this.#maxResults = positiveLimit("maxResults", query.maxResults);
    this.#textLeft = positiveLimit("maxTextBytes", query.maxTextBytes);
    this.maxFileBytes = query.maxFileBytes ?? MAX_FILE_BYTES;
    const output = query.output ?? "content";
    if (!["content", "files", "count"].includes(output)) {
      throw argument("output", "output must be one of content, files, count");
    }
    this.#content = output === "content";
    this.compiled = engine().sentQuery(query) ?? engine().compileQuery(query);
    this.#yielder = new Yielder(query);
  }

  /**
   * Compiles the query in a worker, if workers do that. @throws INVALID_REGEX, INVALID_ARGUMENT, LIMIT_EXCEEDED,
   * CANCELLED
   */
  async compiles(): Promise<void> {
    if ("searchAll" in this.compiled) await this.compiled.searchAll([], { count: true }, this.#query.signal);
  }

  /** Returns true when the time limit is reached, before a file is searched. @throws CANCELLED */
  async isOver(path: string): Promise<boolean> {
    await this.#yielder.yieldIfDue();
    if (!this.#yielder.isOver) return false;
    this.#stoppedAt = { path, number: 0 };
    return true;
  }

  /** Ends the search after a file as if its time was over: what comes after it is not known. */
  endAfter(path: string): void {
    this.endAt({ path, number: WHOLE_FILE });
  }

  /** Ends the search at a position as if its time was over. */
  endAt(position: GrepPosition): void {
    this.#stoppedAt ??= position;
  }

  /** Counts hits that another search found beyond the limit of the text, in so many files. */
  more(total: number, files: number): void {
    this.#moreFiles += files;
    this.#moreMatches += total;
    this.#units += this.#content ? total : files;
  }

  /** The signal that cancels the search. */
  get signal(): AbortSignal | undefined {
    return this.#query.signal;
  }

  /** Returns true when there are more results than requested. */
  get isFull(): boolean {
    return this.#units > this.#maxResults;
  }

  /** Counts a file that could not be read, unless it was removed after it was listed. */
  failed(error: Error): void {
    if (!(error instanceof FilewrightError && error.code === "NOT_FOUND")) this.#unreadable++;
  }

  /**
   * Searches a file: in a worker when it is large and workers exist, otherwise at once.
   *
   * @param following contents that will be searched next, as long as the search continues
   */
  file(
    path: string,
    content: Uint8Array,
    following: () => Iterable<Uint8Array> = () => [],
  ): Promise<void> | undefined {
    const { before, after, context, maxLineChars, signal } = this.#query;
    const skipLines = path === this.from.path ? Math.min(this.from.number, WHOLE_FILE) : 0;
    const pathBytes = utf8Length(path);
    const limits = {
      before,
      after,
      context,
      maxLineChars,
      skipLines,
      pathBytes,
      maxTextBytes: this.#textLeft,
    };
    const perFile = this.#perFile;
    const asked = { ...limits, ...perFile, count: !this.#content };
    if ("searchAll" in this.compiled) {
      const found = this.#prefetcher.take(content, skipLines > 0 ? () => [] : following, (contents) =>
        (this.compiled as SentQuery).searchAll(contents, asked, signal),
      );
      return found.then((hits) => this.#take(path, hits));
    }
    const { later, laterFrom } = this.compiled;
    if (later !== undefined && content.length >= laterFrom)
      return later(content, asked, signal).then((hits) => this.#take(path, hits));
    const hits = this.compiled[this.#content ? "search" : "count"](content, { ...limits, ...perFile });
    return this.#take(path, hits);
  }

  /** The limit of the matches of one file. One match above the limit of the result shows that there are more. */
  get #perFile(): { readonly maxPerFile?: number } {
    const { maxPerFile } = this.#query;
    const most = Math.min(maxPerFile ?? WHOLE_FILE, this.#content ? this.#maxResults + 1 : WHOLE_FILE);
    return most === WHOLE_FILE ? {} : { maxPerFile: most };
  }

  #take(path: string, hits: TextHits): Promise<void> | undefined {
    if (hits.binary) this.binary++;
    else this.searched++;
    return this.addHits(path, hits);
  }

  /** Adds the hits of a file that was searched elsewhere. Files come in path order. */
  addHits(path: string, hits: TextHits): Promise<void> | undefined {
    if (hits.total === 0) return undefined;
    if (this.#content && this.#textLeft !== WHOLE_FILE) return this.#takeWithinText(path, hits);
    this.#add(path, hits);
    return undefined;
  }

  #add(path: string, hits: TextHits): void {
    this.#found.push({ path, hits });
    this.#units += this.#content ? hits.total : 1;
  }

  /**
   * Takes the hits that the remaining text budget allows. Hits that were searched before may exceed it,
   * because other files have used it since.
   */
  async #takeWithinText(path: string, hits: TextHits): Promise<void> {
    const { matches } = hits;
    const rowBytes = utf8Length(path) + ROW_BYTES;
    let given = 0;
    for (; given < matches.length && this.#textLeft > 0; given++) {
      const { text, rest = [] } = matches[given] as TextMatch;
      const lines = [text, ...rest].reduce((sum, line) => sum + utf8Length(line), 0);
      this.#textLeft = Math.max(0, this.#textLeft - rowBytes - lines);
      if (given % STEPS_PER_YIELD_CHECK === STEPS_PER_YIELD_CHECK - 1) await this.#yielder.yieldIfDue();
    }
    this.#add(path, given === matches.length ? hits : { ...hits, matches: matches.slice(0, given) });
  }

  /** Returns the result, given the counts of a walk. @throws CANCELLED */
  async result(walked: SearchCounts = NO_COUNTS, fresh: Freshness = "scan"): Promise<SearchResult> {
    const page = await this.#page();
    const { reason, next, truncated } = this.#endOf(page);
    return {
      matches: page.matches,
      counts: page.counts,
      totalMatches: this.#found.reduce((sum, { hits }) => sum + hits.total, this.#moreMatches),
      filesWithMatches: page.filesWithMatches + this.#moreFiles,
      filesSearched: this.searched,
      skippedBinary: this.binary,
      skippedLarge: this.large,
      unreadable: this.#unreadable + walked.unreadable,
      ignored: walked.ignored,
      truncated,
      fresh,
      complete: reason === undefined,
      ...(reason !== undefined && { incompleteReason: reason }),
      ...(next !== undefined && { nextCursor: encodeCursor("grep", next) }),
    };
  }

  /** Takes of the hits what the limits allow, in the order of the files. @throws CANCELLED */
  async #page(): Promise<GrepPage> {
    const page: GrepPage = {
      matches: [],
      counts: [],
      filesWithMatches: 0,
      last: undefined,
      isCut: false,
      isOver: false,
    };
    let left = this.#maxResults;
    for (const [index, { path, hits }] of this.#found.entries()) {
      if (index % STEPS_PER_YIELD_CHECK === 0) await this.#yielder.yieldIfDue();
      const units = this.#content ? Math.min(hits.total, left) : Math.min(left, 1);
      const kept = this.#content ? units : units * hits.total;
      left -= units;
      if (kept > 0) page.filesWithMatches++;
      const given = this.#content ? Math.min(kept, hits.matches.length) : this.#textLeft > 0 ? kept : 0;
      if (given > 0 && !page.isCut) {
        page.counts.push({ path, count: kept });
        page.last = await this.#give(page, { path, hits }, given);
      }
      page.isCut ||= given < kept;
      page.isOver = kept < hits.total;
      if (page.isOver) break;
    }
    return page;
  }

  /** Gives the first matches of a file, or its path, and returns the position after them. @throws CANCELLED */
  async #give(page: GrepPage, { path, hits }: FoundHits, given: number): Promise<GrepPosition> {
    if (!this.#content) {
      // The text budget counts the path of a file and its line end.
      this.#textLeft = Math.max(0, this.#textLeft - utf8Length(path) - 1);
      return { path, number: WHOLE_FILE };
    }
    for (const match of hits.matches.slice(0, given))
      if (page.matches.push({ path, ...match }) % STEPS_PER_YIELD_CHECK === 0)
        await this.#yielder.yieldIfDue();
    return { path, number: hits.matches[given - 1]?.line ?? 0 };
  }

  /** Returns why a result is incomplete, if it is, and where the next one begins. */
  #endOf({ last, isCut, isOver }: GrepPage): ResultEnd {
    const isPerFile = this.#found.some(({ hits }) => hits.more) && this.#query.maxPerFile !== undefined;
    const stop = this.#stoppedAt;
    const reason = stop !== undefined ? "timeout" : isPerFile ? "max_per_file" : undefined;
    const truncated = isOver || isCut || this.#moreMatches > 0;
    if (!truncated) return { reason, next: stop, truncated };
    return { reason: isOver || this.isFull ? "max_results" : reason, next: last, truncated };
  }
}

/** A position in a result: a file, and the number of its last line that was given. */
interface GrepPosition {
  readonly path: string;
  readonly number: number;
}

/** The hits of a file. */
interface FoundHits {
  readonly path: string;
  readonly hits: TextHits;
}

/** The part of the hits that one result gives. */
interface GrepPage {
  readonly matches: SearchMatch[];
  readonly counts: FileCount[];
  filesWithMatches: number;
  /** The position after the last hit that is given. */
  last: GrepPosition | undefined;
  /** True once the text budget has cut the result. */
  isCut: boolean;
  /** True once there are more hits than were asked for. */
  isOver: boolean;
}

/** How a result ends. */
interface ResultEnd {
  readonly reason: IncompleteReason | undefined;
  readonly next: GrepPosition | undefined;
  readonly truncated: boolean;
}

/** Compiles the globs of a query. @throws INVALID_GLOB, LIMIT_EXCEEDED */
export function globsOf(
  patterns: string | readonly string[] | undefined,
  query: { readonly exclude?: readonly string[] | undefined; readonly caseSensitive?: boolean | undefined },
): PathGlobs {
  return engine().glob(patterns ?? [], { exclude: query.exclude, caseSensitive: query.caseSensitive });
}

/** Returns a limit of at least 1; the largest number when none is given. @throws INVALID_ARGUMENT */
export function positiveLimit(name: string, value: number | undefined): number {
  if (value === undefined) return WHOLE_FILE;
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw argument(name, `${name} must be a whole number of at least 1`);
}

function argument(name: string, message: string): FilewrightError {
  return new FilewrightError("INVALID_ARGUMENT", message, { details: { argument: name } });
}

/** The maximum size of one message to a worker, in bytes: copying it takes a millisecond or two. */
const MAX_BATCH_BYTES = 1 << 20;
/** The maximum number of contents in one message to a worker. */
const MAX_CONTENTS = 256;

/**
 * Searches several contents with one message to the search worker, because one message for each content would take
 * longer than the search. The caller takes the hits of one content after the other.
 */
class HitPrefetcher {
  readonly #hits = new Map<Uint8Array, TextHits>();

  /**
   * Returns the hits of a content. When they are not fetched yet, the following contents are searched with
   * it.
   */
  async take(
    content: Uint8Array,
    following: () => Iterable<Uint8Array>,
    search: (contents: readonly Uint8Array[]) => Promise<readonly TextHits[]>,
  ): Promise<TextHits> {
    if (!this.#hits.has(content)) {
      const contents = batchContents(content, following());
      const found = await search(contents);
      contents.forEach((one, at) => void this.#hits.set(one, found[at] as TextHits));
    }
    const hits = this.#hits.get(content) as TextHits;
    this.#hits.delete(content);
    return hits;
  }
}

/** Returns the contents of one message: `first`, and following ones up to the limits. */
function batchContents(first: Uint8Array, following: Iterable<Uint8Array>): readonly Uint8Array[] {
  const contents = [first];
  let bytes = first.length;
  for (const content of following) {
    bytes += content.length;
    if (bytes > MAX_BATCH_BYTES || contents.length === MAX_CONTENTS) break;
    contents.push(content);
  }
  return contents;
}
