/**
 * Yields matches one by one, on demand.
 *
 * A stream continues from cursor to cursor: nothing is searched before it is needed, stopping
 * early costs no more than a page, and no search is open between two pages. A change between two
 * pages is visible in the second.
 */
import type { FsBackend } from "../backend.ts";
import { asFiles } from "../host-files.ts";
import type { IncompleteReason, SearchMatch, SearchQuery } from "../../engine/search-types.ts";

/** The query of a stream of matches. */
export interface GrepEachQuery extends Omit<SearchQuery, "output" | "maxPerFile" | "maxTextBytes"> {
  readonly signal?: AbortSignal | undefined;
}

/** How a stream ended. */
export interface GrepEachEnd {
  /** True when everything was searched to its end. */
  readonly complete: boolean;
  readonly incompleteReason?: IncompleteReason;
  /** The cursor at which to continue. */
  readonly nextCursor?: string;
}

const FIRST_PAGE = 100;
const MAX_PAGE = 10_000;

/**
 * Yields the matches below a directory or in a file, in path order. `maxResults` ends the stream;
 * its return value says whether there is more.
 *
 * @example
 * for await (const { path, line, text } of grepEach(backend, "/repo", { pattern: "TODO" })) {
 *   if (path.startsWith("src/")) console.log(`${path}:${line}: ${text}`);
 * }
 */
export async function* grepEach(
  backend: FsBackend,
  root: string,
  query: GrepEachQuery,
): AsyncGenerator<SearchMatch, GrepEachEnd, undefined> {
  const most = query.maxResults ?? Number.POSITIVE_INFINITY;
  const begun = Date.now();
  const files = asFiles(backend);
  let { cursor } = query;
  let given = 0;
  for (let page = FIRST_PAGE; ; page = Math.min(page * 4, MAX_PAGE)) {
    const timeoutMs =
      query.timeoutMs === undefined ? undefined : Math.max(1, query.timeoutMs - (Date.now() - begun));
    const maxResults = Math.min(page, most - given);
    const found = await files.grep(root, { ...query, maxResults, timeoutMs, cursor });
    yield* found.matches;
    given += found.matches.length;
    const { complete, incompleteReason, nextCursor } = found;
    const goesOn = incompleteReason === "max_results" && nextCursor !== undefined && given < most;
    if (!goesOn) {
      return {
        complete,
        ...(incompleteReason !== undefined && { incompleteReason }),
        ...(nextCursor !== undefined && { nextCursor }),
      };
    }
    cursor = nextCursor;
  }
}
