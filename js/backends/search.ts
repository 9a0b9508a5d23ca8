/**
 * Searches over any backend, through `listDir` and `readBytes` and the engine's
 * matchers: the same answers as the native search gives on a disk.
 */
import { engine } from "../engine/current.ts";
import { decodeCursor, encodeCursor } from "../engine/cursor.ts";
import { FilewrightError } from "../engine/errors.ts";
import { fileTypeGlobs } from "../engine/file-types.ts";
import type {
  CompiledQuery,
  FileCount,
  FindQuery,
  FindResult,
  IncompleteReason,
  PathGlobs,
  SearchMatch,
  SearchQuery,
  SearchResult,
  TextHits,
} from "../engine/search.ts";
import type { FsBackend, FsEntry } from "./backend.ts";
import { failure } from "./failure.ts";
import { childOf, compareCodePoints } from "./paths.ts";
import { Pace, SearchWalk, type WalkEntry } from "./search-walk.ts";

interface Signalled {
  readonly signal?: AbortSignal | undefined;
}

/** What a caller knows beyond the query. */
export interface SearchPlace {
  /** Ignore files count from this directory on; default: the repository's top. */
  readonly top?: string | undefined;
}

const MAX_FILE_BYTES = 100 * 1024 * 1024;
/** How many files are read ahead. */
const WINDOW = 8;
const WHOLE_FILE = Number.MAX_SAFE_INTEGER;

/**
 * Searches contents below a directory, or in one file. Paths in results are
 * relative to `root`; where it is a file, its path is empty. A backend that can
 * search itself does so.
 */
export async function grepBackend(
  backend: FsBackend,
  root: string,
  query: SearchQuery & Signalled,
  place: SearchPlace = {},
): Promise<SearchResult> {
  if (backend.grep !== undefined) return backend.grep(root, query);
  const search = new Search(query);
  const stat = await backend.stat(root);
  if (stat.type === "other") throw failure("NOT_REGULAR_FILE", root);
  if (!stat.isDir) {
    await search.named(backend, root, stat.size);
    return search.result();
  }
  const globs = globsOf(query.glob, query);
  const types = fileTypeGlobs(query.fileTypes);
  const typed = types.length > 0 ? engine().glob(types, { caseSensitive: false }) : undefined;
  const wants = (path: string, entry: FsEntry) =>
    entry.type === "file" && globs.matches(path) && typed?.matches(path) !== false;
  const walk = new SearchWalk(backend, root, {
    query,
    globs,
    wants,
    countIgnored: false,
    from: search.from.path,
  });
  await search.tree(backend, walk, place.top);
  return search.result(walk);
}

interface Ahead {
  readonly file: WalkEntry;
  readonly content: Promise<Uint8Array | Error>;
}

/** One search and what it has found so far. */
class Search {
  readonly from: { readonly path: string; readonly number: number };
  readonly #query: SearchQuery & Signalled;
  readonly #compiled: CompiledQuery;
  readonly #pace: Pace;
  readonly #content: boolean;
  readonly #maxResults: number;
  readonly #maxFileBytes: number;
  readonly #found: { readonly path: string; readonly hits: TextHits }[] = [];
  #units = 0;
  #searched = 0;
  #binary = 0;
  #large = 0;
  #unreadable = 0;
  #stoppedAt: string | undefined;

  constructor(query: SearchQuery & Signalled) {
    this.from = query.cursor === undefined ? { path: "", number: 0 } : decodeCursor("grep", query.cursor);
    this.#query = query;
    this.#maxResults = atLeastOne("maxResults", query.maxResults);
    this.#maxFileBytes = query.maxFileBytes ?? MAX_FILE_BYTES;
    const output = query.output ?? "content";
    if (!["content", "files", "count"].includes(output)) {
      throw argument("output", "output must be one of content, files, count");
    }
    this.#content = output === "content";
    this.#compiled = engine().compileQuery(query);
    this.#pace = new Pace(query);
  }

  /** Searches the file that was named. */
  async named(backend: FsBackend, path: string, size: number): Promise<void> {
    if (size > this.#maxFileBytes) {
      const message = `the file has ${size} bytes, more than ${this.#maxFileBytes} are not searched`;
      throw failure("TOO_LARGE", path, message, { details: { size, limit: this.#maxFileBytes } });
    }
    this.#search("", await backend.readBytes(path));
  }

  /** Searches the files of a walk, reading some ahead. */
  async tree(backend: FsBackend, walk: SearchWalk, top: string | undefined): Promise<void> {
    const ahead: Ahead[] = [];
    for await (const file of walk.entries(top)) {
      if ((file.entry.size ?? 0) > this.#maxFileBytes) {
        this.#large++;
        continue;
      }
      ahead.push({ file, content: readOrError(backend, file.entry.path) });
      const next = ahead.length >= WINDOW ? ahead.shift() : undefined;
      if (next !== undefined && !(await this.#file(next))) return;
    }
    for (const next of ahead) if (!(await this.#file(next))) return;
  }

  /** Searches one file; false when the search is at its end. */
  async #file({ file, content }: Ahead): Promise<boolean> {
    if (await this.#pace.isOver()) {
      this.#stoppedAt = file.path;
      return false;
    }
    const bytes = await content;
    if (bytes instanceof Error) {
      // What went away since it was listed is not missed.
      if (!(bytes instanceof FilewrightError && bytes.code === "NOT_FOUND")) this.#unreadable++;
    } else if (bytes.length > this.#maxFileBytes) this.#large++;
    else this.#search(file.path, bytes);
    return this.#units <= this.#maxResults;
  }

  #search(path: string, content: Uint8Array): void {
    const { before, after, context, maxPerFile, maxLineChars } = this.#query;
    const skipLines = path === this.from.path ? Math.min(this.from.number, WHOLE_FILE) : 0;
    const limits = { before, after, context, maxLineChars, skipLines };
    // One more than wanted tells that there is more.
    const most = Math.min(maxPerFile ?? WHOLE_FILE, this.#content ? this.#maxResults + 1 : WHOLE_FILE);
    const perFile = most === WHOLE_FILE ? {} : { maxPerFile: most };
    const hits = this.#compiled[this.#content ? "search" : "count"](content, { ...limits, ...perFile });
    if (hits.binary) this.#binary++;
    else this.#searched++;
    if (hits.total === 0) return;
    this.#found.push({ path, hits });
    this.#units += this.#content ? hits.total : 1;
  }

  result(walk?: SearchWalk): SearchResult {
    const matches: SearchMatch[] = [];
    const counts: FileCount[] = [];
    const reached = this.#found.some(({ hits }) => hits.more) && this.#query.maxPerFile !== undefined;
    let reason: IncompleteReason | undefined = reached ? "max_per_file" : undefined;
    let next = this.#stoppedAt === undefined ? undefined : { path: this.#stoppedAt, number: 0 };
    if (next !== undefined) reason = "timeout";
    let left = this.#maxResults;
    let truncated = false;
    let last: { readonly path: string; readonly number: number } | undefined;
    for (const { path, hits } of this.#found) {
      const kept = this.#content ? Math.min(hits.total, left) : Math.min(left, 1) * hits.total;
      left -= this.#content ? kept : Math.min(left, 1);
      if (kept > 0) {
        counts.push({ path, count: kept });
        for (const match of hits.matches.slice(0, kept)) matches.push({ path, ...match });
        last = { path, number: this.#content ? (hits.matches[kept - 1]?.line ?? 0) : WHOLE_FILE };
      }
      if (kept < hits.total) {
        truncated = true;
        reason = "max_results";
        next = last;
        break;
      }
    }
    return {
      matches,
      counts,
      totalMatches: this.#found.reduce((sum, { hits }) => sum + hits.total, 0),
      filesWithMatches: counts.length,
      filesSearched: this.#searched,
      skippedBinary: this.#binary,
      skippedLarge: this.#large,
      unreadable: this.#unreadable + (walk?.counts.unreadable ?? 0),
      ignored: walk?.counts.ignored ?? 0,
      truncated,
      fresh: "scan",
      complete: reason === undefined,
      ...(reason !== undefined && { incompleteReason: reason }),
      ...(next !== undefined && { nextCursor: encodeCursor("grep", next) }),
    };
  }
}

/** Reads a file; what it fails with is a value, for whoever gets to it. */
async function readOrError(backend: FsBackend, path: string): Promise<Uint8Array | Error> {
  try {
    return await backend.readBytes(path);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function globsOf(
  patterns: string | readonly string[] | undefined,
  query: { readonly exclude?: readonly string[] | undefined; readonly caseSensitive?: boolean | undefined },
): PathGlobs {
  return engine().glob(patterns ?? [], { exclude: query.exclude, caseSensitive: query.caseSensitive });
}

function atLeastOne(name: string, value: number | undefined): number {
  if (value === undefined) return WHOLE_FILE;
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw argument(name, `${name} must be a whole number of at least 1`);
}

function argument(name: string, message: string): FilewrightError {
  return new FilewrightError("INVALID_ARGUMENT", message, { details: { argument: name } });
}

const DAY_MS = 86_400_000;

interface Found {
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
  const limit = atLeastOne("limit", query.limit);
  const after = cursor === undefined ? undefined : decodeCursor("find", cursor);
  const since = after?.since ?? Math.max(0, Date.now() - recencyMs);
  const globs = globsOf(pattern, query);
  const kinds: readonly string[] = type === "any" ? ["file", "dir", "symlink"] : [type];
  const wants = (path: string, entry: FsEntry) =>
    kinds.includes(entry.type) && globs.matches(path, entry.type === "dir");
  const walk = new SearchWalk(backend, root, { query, globs, wants, countIgnored: true, from: "" });
  const pace = new Pace(query);
  const found: Found[] = [];
  let complete = true;
  for await (const { path, entry } of walk.entries(place.top)) {
    if (await pace.isOver()) {
      complete = false;
      break;
    }
    const time =
      sort === "path" ? -1 : Math.floor(entry.mtime ?? (await timeOf(backend, childOf(root, path))));
    found.push({ path, time });
  }
  // What does not count as recent is ordered by path alone.
  const age = ({ time }: Found) => (sort === "mtime" || (sort === "recent" && time >= since) ? time : -1);
  const compare = (a: Found, b: Found) => age(b) - age(a) || compareCodePoints(a.path, b.path);
  if (sort !== "path") found.sort(compare);
  const last = after === undefined ? undefined : { path: after.path, time: after.number };
  const rest = last === undefined ? found : found.filter((entry) => compare(entry, last) > 0);
  const page = rest.slice(0, limit);
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

/** When an entry changed, in milliseconds since 1970; links are not followed. */
export async function timeOf(backend: FsBackend, path: string): Promise<number> {
  const stat = await (backend.lstat?.(path) ?? backend.stat(path));
  return stat.mtime;
}
