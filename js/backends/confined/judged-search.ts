/**
 * Searches of a confined backend that its storage answers: for names, and for contents.
 *
 * A search of contents takes only the names of files from the storage. Each of them is judged, read and searched here,
 * so that lines, columns, totals and cursors are those of a walk, and no content is shown that may not be read.
 */
import { childOf, compareCodePoints } from "../paths.ts";
import type { FindQuery, FindResult, SearchQuery, SearchResult, WalkQuery } from "../../engine/search.ts";
import type { FsBackend } from "../backend.ts";
import { lstatOrNull } from "../fallback/fallback.ts";
import { globsOf, GrepSearch, type Signalled } from "../search/search-grep.ts";
import { FindPage } from "../search/search-find.ts";
import { fileFilterOf } from "../search/search.ts";
import { searchFiles } from "../search/search-files.ts";
import type { SearchedFile } from "../search/search-walk.ts";
import { denyExcludes, type JudgedPlace, listOf, pathsOfPages, PathJudge, recordOf } from "./judged.ts";

/** The number of files that the storage is asked for at once: enough for the wanted results, between these two. */
const [MIN_FILES_PER_PAGE, MAX_FILES_PER_PAGE] = [50, 1000];

/** The parts of a query that say where a storage looks. */
function placeQuery(query: WalkQuery, place: JudgedPlace): WalkQuery {
  const { exclude = [], hidden, respectIgnore, ignoreFiles, index } = query;
  return { exclude: [...exclude, ...denyExcludes(place)], hidden, respectIgnore, ignoreFiles, index };
}

/** Returns the time that is left of a query, in milliseconds; undefined without a limit. */
function timeLeft({ timeoutMs }: WalkQuery, began: number): number | undefined {
  return timeoutMs === undefined
    ? undefined
    : Math.max(1, Math.ceil(timeoutMs - (performance.now() - began)));
}

/**
 * Finds entries by name with the `find` of the storage.
 * @throws UnusableAnswer where the tree must be walked instead
 */
export async function judgedFind(place: JudgedPlace, query: FindQuery & Signalled): Promise<FindResult> {
  const { inner, real } = place;
  const { pattern, type = "file", caseSensitive, signal } = query;
  const page = new FindPage(query);
  const globs = globsOf(pattern, query);
  const judge = new PathJudge(place, query);
  const began = performance.now();
  const asked = placeQuery(query, place);
  const pages = pathsOfPages(async (cursor) => {
    const timeoutMs = timeLeft(query, began);
    const exclude = caseSensitive === false ? query.exclude : asked.exclude;
    const more = {
      ...asked,
      exclude,
      pattern,
      type,
      caseSensitive,
      sort: "path",
      timeoutMs,
      cursor,
      signal,
    } as const;
    const answer = recordOf(await inner.find?.(real, more));
    return { paths: listOf(answer["paths"]), answer };
  }, signal);
  let complete = true;
  for (let next = await pages.next(); ; next = await pages.next()) {
    if (next.done === true) {
      complete &&= next.value;
      break;
    }
    if (await page.isOver()) {
      complete = false;
      break;
    }
    const path = next.value;
    const matches =
      (type !== "dir" && globs.matches(path, false)) ||
      ((type === "dir" || type === "any") && globs.matches(path, true));
    if (matches && (await judge.visible(path)) !== undefined) page.add({ path, time: -1 });
  }
  // What else the storage counts may include what is denied.
  return page.result({ ignored: 0, unreadable: 0, complete });
}

/**
 * Searches the contents of the files that the `grep` of the storage names. `backend` is the confined one, which reads
 * them.
 * @throws UnusableAnswer where the tree must be walked instead
 */
export async function judgedGrep(
  place: JudgedPlace,
  backend: FsBackend,
  query: SearchQuery & Signalled,
): Promise<SearchResult> {
  const search = new GrepSearch(query);
  await search.compiles();
  const files = new NamedFiles(place, query, search);
  await searchFiles(search, backend, files.entries());
  if (files.last !== undefined) search.endAfter(files.last);
  return search.result();
}

/** The files that a storage names for a query, judged. */
class NamedFiles {
  /** The last named file, if the storage ran out of time after it. */
  last: string | undefined;
  readonly #place: JudgedPlace;
  readonly #query: SearchQuery & Signalled;
  readonly #search: GrepSearch;
  readonly #began = performance.now();

  constructor(place: JudgedPlace, query: SearchQuery & Signalled, search: GrepSearch) {
    this.#place = place;
    this.#query = query;
    this.#search = search;
  }

  async *entries(): AsyncGenerator<SearchedFile> {
    const { inner, asked } = this.#place;
    const judge = new PathJudge(this.#place, this.#query);
    const filter = fileFilterOf(this.#query);
    const { path: from } = this.#search.from;
    const pages = pathsOfPages((cursor) => this.#ask(cursor), this.#query.signal);
    let last = "";
    for (let next = await pages.next(); ; next = await pages.next()) {
      if (next.done === true) {
        if (!next.value) this.last = compareCodePoints(last, from) < 0 ? from : last;
        return;
      }
      last = next.value;
      if (compareCodePoints(last, from) < 0 || !filter.matches(last)) continue;
      const real = await judge.visible(last);
      if (real === undefined) continue;
      // A link is not followed. Without links a directory fails to be read, and is counted as unreadable.
      const stat = inner.lstat === undefined ? undefined : await lstatOrNull(inner, real);
      if (stat === null || (stat !== undefined && !stat.isFile)) continue;
      yield { path: last, entry: { path: childOf(asked, last), ...(stat && { size: stat.size }) } };
    }
  }

  async #ask(
    cursor: string | undefined,
  ): Promise<{ paths: readonly unknown[]; answer: Record<string, unknown> }> {
    const { pattern, patterns, regex, case: letters, word, multiline } = this.#query;
    const { glob, fileTypes, maxResults = MAX_FILES_PER_PAGE, maxFileBytes, strict, signal } = this.#query;
    const { inner, real } = this.#place;
    const answer = recordOf(
      await inner.grep?.(real, {
        ...placeQuery(this.#query, this.#place),
        ...{
          pattern,
          patterns,
          regex,
          case: letters,
          word,
          multiline,
          glob,
          fileTypes,
          maxFileBytes,
          strict,
        },
        output: "files",
        maxResults: Math.min(MAX_FILES_PER_PAGE, Math.max(MIN_FILES_PER_PAGE, maxResults + 1)),
        timeoutMs: timeLeft(this.#query, this.#began),
        cursor,
        signal,
      }),
    );
    return { paths: listOf(answer["counts"]).map((file) => recordOf(file)["path"]), answer };
  }
}
