/** The search behind `grep`, including that of a preset which excludes lines by a second regular expression. */
import type { Files } from "../../backends/files.ts";
import { engine } from "../../engine/current.ts";
import type { Counting, SearchMatch, SearchQuery, SearchResult } from "../../engine/search-types.ts";
import { encodeCursor } from "../../engine/wire/cursor.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { utf8Length } from "../lib/text.ts";

/** A query of contents that can be cancelled and can report its progress. */
type CancellableQuery = SearchQuery & Counting & { readonly signal?: AbortSignal | undefined };

/** The minimum number of matches that are requested at once, because many may be excluded. */
const MIN_MATCHES_PER_PAGE = 1000;

/** Searches below a directory and leaves out lines that match the regular expression `excludeLines`. */
export async function grepWithoutExcludedLines(
  fs: Files,
  root: string,
  query: CancellableQuery,
  excludeLines: string | undefined,
): Promise<SearchResult> {
  if (excludeLines === undefined) return fs.grep(root, query);
  const began = performance.now();
  const included = new IncludedMatches(query);
  let [searched, binary, pages] = [0, 0, 0];
  let { cursor } = query;
  for (;;) {
    const page = await fs.grep(root, {
      ...query,
      cursor,
      maxResults: Math.max(MIN_MATCHES_PER_PAGE, query.maxResults ?? MIN_MATCHES_PER_PAGE),
      maxPerFile: undefined,
      timeoutMs: query.timeoutMs && Math.max(1, Math.ceil(query.timeoutMs - (performance.now() - began))),
    });
    searched += page.filesSearched;
    binary += page.skippedBinary;
    pages += 1;
    included.add(page.matches, excludeLines);
    const isLast = included.isFull || page.nextCursor === undefined || page.incompleteReason === "timeout";
    // Each page begins in the file in which the one before ended, so that file is counted twice.
    if (isLast)
      return included.result({ ...page, filesSearched: searched - (pages - 1), skippedBinary: binary });
    cursor = page.nextCursor;
  }
}

/** Collects the matches that are not excluded, up to the limits of the query. */
class IncludedMatches {
  readonly #matches: SearchMatch[] = [];
  readonly #perFile = new Map<string, number>();
  readonly #query: CancellableQuery;
  #bytes = 0;
  #skipsOfFile = false;
  /** True when a match was found that exceeds the limits of the query. */
  isFull = false;

  constructor(query: CancellableQuery) {
    this.#query = query;
  }

  /**
   * Adds the matches of a page except the excluded ones, until a limit of the query is reached. @throws
   * INVALID_REGEX
   */
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

  /**
   * Returns the collected matches as a result. `last` is the result of the last page: it supplies the counts
   * of files, and the reason for an early end.
   */
  result(last: SearchResult): SearchResult {
    const matches = this.#matches;
    const counts = [...this.#perFile].map(([path, count]) => ({ path, count }));
    const { nextCursor: _, incompleteReason: ended, ...rest } = last;
    const reason: SearchResult["incompleteReason"] | undefined = this.isFull
      ? "max_results"
      : ended === "timeout"
        ? ended
        : this.#skipsOfFile
          ? "max_per_file"
          : undefined;
    const end = this.isFull ? matches.at(-1) : undefined;
    const isTruncated = reason !== undefined;
    return withoutUndefined({
      ...rest,
      matches,
      counts,
      totalMatches: matches.length,
      filesWithMatches: counts.length,
      truncated: isTruncated,
      complete: !isTruncated,
      incompleteReason: reason,
      nextCursor: end && encodeCursor("grep", { path: end.path, number: end.line }),
    });
  }
}
