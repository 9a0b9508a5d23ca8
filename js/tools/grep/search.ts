/** The search behind `grep`, where a preset leaves out lines too. */
import type { FsBackend } from "../../backends/backend.ts";
import { grepBackend } from "../../backends/search/search.ts";
import { engine } from "../../engine/current.ts";
import type { Counting, SearchMatch, SearchQuery, SearchResult } from "../../engine/search-types.ts";
import { encodeCursor } from "../../engine/wire/cursor.ts";
import { utf8Length } from "../lib/text.ts";

/** A query of contents that can be cancelled and tells its counts. */
type Query = SearchQuery & Counting & { readonly signal?: AbortSignal | undefined };

/** The least number of matches that are looked at together. */
const MIN_PAGE = 1000;

/** Searches below a directory, without the lines that match `excludeLines`. */
export async function grepLines(
  fs: FsBackend,
  root: string,
  query: Query,
  excludeLines: string | undefined,
): Promise<SearchResult> {
  if (excludeLines === undefined) return grepBackend(fs, root, query);
  const began = performance.now();
  const included = new IncludedMatches(query);
  let [searched, binary, pages] = [0, 0, 0];
  let { cursor } = query;
  for (;;) {
    const page = await grepBackend(fs, root, {
      ...query,
      cursor,
      maxResults: Math.max(MIN_PAGE, query.maxResults ?? MIN_PAGE),
      maxPerFile: undefined,
      timeoutMs: query.timeoutMs && Math.max(1, Math.ceil(query.timeoutMs - (performance.now() - began))),
    });
    searched += page.filesSearched;
    binary += page.skippedBinary;
    pages += 1;
    included.add(page.matches, excludeLines);
    const isLast = included.isFull || page.nextCursor === undefined || page.incompleteReason === "timeout";
    // Each page begins in the file that the one before ended in.
    if (isLast)
      return included.result({ ...page, filesSearched: searched - (pages - 1), skippedBinary: binary });
    cursor = page.nextCursor;
  }
}

/** The matches that are given, as many as the query has room for. */
class IncludedMatches {
  readonly #matches: SearchMatch[] = [];
  readonly #perFile = new Map<string, number>();
  readonly #query: Query;
  #bytes = 0;
  #skipsOfFile = false;
  /** True when there are more matches than the query has room for. */
  isFull = false;

  constructor(query: Query) {
    this.#query = query;
  }

  /** Adds the matches of a page but for the excluded ones. @throws INVALID_REGEX */
  add(matches: readonly SearchMatch[], excludeLines: string): void {
    const { maxResults = Infinity, maxPerFile = Infinity, maxTextBytes = Infinity } = this.#query;
    const lines = matches.map(({ text }) => text.replaceAll("\n", " ")).join("\n");
    const out = new Set(
      engine()
        .grepText(lines, { pattern: excludeLines })
        .matches.map(({ line }) => line),
    );
    for (const [index, match] of matches.entries()) {
      if (out.has(index + 1)) continue;
      const ofFile = this.#perFile.get(match.path) ?? 0;
      if (ofFile >= maxPerFile) {
        this.#skipsOfFile = true;
        continue;
      }
      if (this.#matches.length >= maxResults || this.#bytes >= maxTextBytes) {
        this.isFull = true;
        return;
      }
      this.#perFile.set(match.path, ofFile + 1);
      this.#matches.push(match);
      this.#bytes += utf8Length(match.path) + utf8Length(match.text);
    }
  }

  /** Returns the result; `last` has the facts of the search, and the end of it. */
  result(last: SearchResult): SearchResult {
    const matches = this.#matches;
    const counts = [...this.#perFile].map(([path, count]) => ({ path, count }));
    const { nextCursor: _, incompleteReason: ended, ...rest } = last;
    const reason = this.isFull
      ? "max_results"
      : ended === "timeout"
        ? ended
        : this.#skipsOfFile
          ? "max_per_file"
          : undefined;
    const end = this.isFull ? matches.at(-1) : undefined;
    const isTruncated = reason !== undefined;
    return {
      ...rest,
      matches,
      counts,
      totalMatches: matches.length,
      filesWithMatches: counts.length,
      truncated: isTruncated,
      complete: !isTruncated,
      ...(reason === undefined ? {} : { incompleteReason: reason }),
      ...(end === undefined
        ? {}
        : { nextCursor: encodeCursor("grep", { path: end.path, number: end.line }) }),
    };
  }
}
