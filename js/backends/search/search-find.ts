/** Searches for names over any backend, with the results of the native search of a disk. */
import { decodeCursor, encodeCursor } from "../../engine/wire/cursor.ts";
import type { FindQuery, FindResult } from "../../engine/search.ts";
import { utf8Length } from "../../engine/wire/bytes.ts";
import type { FsBackend, FsEntry } from "../backend.ts";
import { STEPS_PER_YIELD_CHECK, Yielder, sortYielding } from "../../engine/yielder.ts";
import { childOf, compareCodePoints } from "../paths.ts";
import { positiveLimit, globsOf, type Signalled } from "./search-grep.ts";
import { type SearchPlace, SearchWalk } from "./search-walk.ts";

const DAY_MS = 86_400_000;

interface FoundEntry {
  readonly path: string;
  readonly time: number;
}

/**
 * Finds entries below a directory by name. Paths in results are relative to
 * `root`. A backend that can search itself does so.
 */
export async function findBackend(
  backend: FsBackend,
  root: string,
  query: FindQuery & Signalled,
  place: SearchPlace = {},
): Promise<FindResult> {
  if (backend.find !== undefined) return backend.find(root, query);
  const { pattern, type = "file", sort = "path", recencyMs = DAY_MS, cursor } = query;
  const limit = positiveLimit("limit", query.limit);
  const after = cursor === undefined ? undefined : decodeCursor("find", cursor);
  const since = after?.since ?? Math.max(0, Date.now() - recencyMs);
  const globs = globsOf(pattern, query);
  const kinds: readonly string[] = type === "any" ? ["file", "dir", "symlink"] : [type];
  const wants = (path: string, entry: FsEntry) =>
    kinds.includes(entry.type) && globs.matches(path, entry.type === "dir");
  const walk = new SearchWalk(backend, root, { query, globs, wants, countIgnored: true, from: "" });
  const yielder = new Yielder(query);
  const found: FoundEntry[] = [];
  let complete = true;
  for await (const { path, entry } of walk.entries(place.top)) {
    await yielder.yieldIfDue();
    if (yielder.isOver) {
      complete = false;
      break;
    }
    const time =
      sort === "path" ? -1 : Math.floor(entry.mtime ?? (await timeOf(backend, childOf(root, path))));
    found.push({ path, time });
  }
  // Entries that are not recent are ordered by path alone.
  const age = ({ time }: FoundEntry) =>
    sort === "mtime" || (sort === "recent" && time >= since) ? time : -1;
  const compare = (a: FoundEntry, b: FoundEntry) => age(b) - age(a) || compareCodePoints(a.path, b.path);
  const all = sort === "path" ? found : await sortYielding(found, compare, yielder);
  const last = after === undefined ? undefined : { path: after.path, time: after.number };
  const rest = last === undefined ? all : all.filter((entry) => compare(entry, last) > 0);
  const most = positiveLimit("maxTextBytes", query.maxTextBytes);
  const page: FoundEntry[] = [];
  for (let bytes = 0; page.length < Math.min(limit, rest.length) && bytes < most; ) {
    const next = rest[page.length] as FoundEntry;
    page.push(next);
    bytes += utf8Length(next.path) + 1;
    if (page.length % STEPS_PER_YIELD_CHECK === 0) await yielder.yieldIfDue();
  }
  const end = page.at(-1);
  const truncated = rest.length > page.length;
  return {
    paths: page.map(({ path }) => path),
    total: found.length,
    ignored: walk.counts.ignored,
    unreadable: walk.counts.unreadable,
    truncated,
    complete,
    ...(truncated &&
      end !== undefined && {
        nextCursor: encodeCursor("find", { path: end.path, number: end.time, since }),
      }),
  };
}

/** Returns the time of the last change of an entry, in milliseconds since 1970. A link is not followed. */
export async function timeOf(backend: FsBackend, path: string): Promise<number> {
  const stat = await (backend.lstat?.(path) ?? backend.stat(path));
  return stat.mtime;
}
