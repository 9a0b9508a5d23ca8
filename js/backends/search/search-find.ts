/** Searches for names over any backend, with the results of the native search of a disk. */
import type { Files } from "../files.ts";
import { type CursorPosition, decodeCursor, encodeCursor } from "../../engine/wire/cursor.ts";
import type { FindQuery, FindResult } from "../../engine/search.ts";
import { utf8Length } from "../../engine/wire/bytes.ts";
import type { FsEntry } from "../backend.ts";
import { STEPS_PER_YIELD_CHECK, Yielder, sortYielding } from "../../engine/yielder.ts";
import { childOf, compareCodePoints } from "../paths.ts";
import { positiveLimit, globsOf, type Signalled } from "./search-grep.ts";
import { type FindCounts, type SearchPlace, SearchWalk } from "./search-walk.ts";

const DAY_MS = 86_400_000;

/** An entry that a search for names found. */
export interface FoundEntry {
  readonly path: string;
  /** The time of its last change; -1 with the order `path`. */
  readonly time: number;
}

/** Finds entries below a directory by name, by their listings. Paths in results are relative to `root`. */
export async function findByWalk(
  backend: Files,
  root: string,
  query: FindQuery & Signalled,
  place: SearchPlace = {},
): Promise<FindResult> {
  const { pattern, type = "file", sort = "path" } = query;
  const page = new FindPage(query);
  const globs = globsOf(pattern, query);
  const kinds: readonly string[] = type === "any" ? ["file", "dir", "symlink"] : [type];
  const wants = (path: string, entry: FsEntry) =>
    kinds.includes(entry.type) && globs.matches(path, entry.type === "dir");
  // Sizes and times cost a call for each entry, and only an order by time needs them.
  const facts = sort !== "path";
  const request = { query, globs, wants, from: "", facts };
  const walk = new SearchWalk(backend, root, request);
  let complete = true;
  for await (const { path, entry } of walk.entries(place.top)) {
    if (await page.isOver()) {
      complete = false;
      break;
    }
    const time =
      sort === "path" ? -1 : Math.floor(entry.mtime ?? (await timeOf(backend, childOf(root, path))));
    page.add({ path, time });
  }
  return page.result(await walk.findCounts(complete), complete);
}

/** The page of a search for names, chosen from all entries that it found. */
export class FindPage {
  readonly #query: FindQuery & Signalled;
  readonly #yielder: Yielder;
  readonly #after: CursorPosition | undefined;
  /** The time from which changes are recent. */
  readonly #since: number;
  readonly #limit: number;
  readonly #found: FoundEntry[] = [];

  /** @throws INVALID_ARGUMENT for a bad limit or cursor */
  constructor(query: FindQuery & Signalled) {
    this.#query = query;
    this.#limit = positiveLimit("limit", query.limit);
    this.#after = query.cursor === undefined ? undefined : decodeCursor("find", query.cursor);
    this.#since = this.#after?.since ?? Math.max(0, Date.now() - (query.recencyMs ?? DAY_MS));
    this.#yielder = new Yielder(query);
  }

  /** Returns true when the time limit is reached. @throws CANCELLED */
  async isOver(): Promise<boolean> {
    await this.#yielder.yieldIfDue();
    return this.#yielder.isOver;
  }

  /** Adds an entry. Entries come in path order. */
  add(entry: FoundEntry): void {
    this.#found.push(entry);
  }

  /**
   * Returns the page, given what the search counted besides the entries. `continues` is true when more entries exist
   * after those that were added.
   */
  async result(counts: FindCounts, complete: boolean, continues = false): Promise<FindResult> {
    const { sort = "path", maxTextBytes } = this.#query;
    const [found, after, since, yielder] = [this.#found, this.#after, this.#since, this.#yielder];
    // Entries that are not recent are ordered by path alone.
    const age = ({ time }: FoundEntry) =>
      sort === "mtime" || (sort === "recent" && time >= since) ? time : -1;
    const compare = (a: FoundEntry, b: FoundEntry) => age(b) - age(a) || compareCodePoints(a.path, b.path);
    const all = sort === "path" ? found : await sortYielding(found, compare, yielder);
    const last = after === undefined ? undefined : { path: after.path, time: after.number };
    const rest = last === undefined ? all : all.filter((entry) => compare(entry, last) > 0);
    const most = positiveLimit("maxTextBytes", maxTextBytes);
    const page: FoundEntry[] = [];
    for (let bytes = 0; page.length < Math.min(this.#limit, rest.length) && bytes < most; ) {
      const next = rest[page.length] as FoundEntry;
      page.push(next);
      bytes += utf8Length(next.path) + 1;
      if (page.length % STEPS_PER_YIELD_CHECK === 0) await yielder.yieldIfDue();
    }
    const end = page.at(-1);
    const truncated = continues || rest.length > page.length;
    return {
      paths: page.map(({ path }) => path),
      total: found.length,
      ...counts,
      complete,
      truncated,
      ...(truncated &&
        end !== undefined && {
          nextCursor: encodeCursor("find", { path: end.path, number: end.time, since }),
        }),
    };
  }
}

/** Returns the time of the last change of an entry, in milliseconds since 1970. A link is not followed. */
export async function timeOf(backend: Files, path: string): Promise<number> {
  const stat = await backend.lstat(path);
  return stat.mtime;
}
