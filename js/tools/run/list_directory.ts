/** The listing of `list_directory`. It is loaded with its first call. */
import type { FsEntry, FsStat, MaybePromise } from "../../backends/backend.ts";
import { STEPS_PER_YIELD_CHECK, Yielder } from "../../engine/yielder.ts";
import { walkRuns } from "../../backends/walk/drive.ts";
import { TreeWalk, type WalkRequest } from "../../backends/walk/walk.ts";
import { compareCodePoints, isWithin, relativeTo } from "../../backends/paths.ts";
import type { TreePage } from "../../backends/entry.ts";
import { engine } from "../../engine/current.ts";
import { decodeCursor, encodeCursor } from "../../engine/wire/cursor.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { closedRootsNote, coveredRoots } from "../every-root.ts";
import { globsInForm } from "../../backends/windows-globs.ts";
import { excludeGlobNotes, leftOutNote } from "../render/left-out.ts";
import { shownLinkTarget } from "../render/link-target.ts";
import type { LeftOutEntry } from "../lib/left-out-entry.ts";
import { formatIsoTime, maxAnswerBytes, utf8Length } from "../lib/text.ts";
import { unfollowedNote, unlistedLinks } from "../render/unfollowed.ts";
import type { ListDirectoryData, ListedEntry } from "../generated/types.ts";
import type { CheckedArgs } from "../generated/internal.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { skipReasonOf } from "../lib/skip-reason.ts";
import type { Answer, Call } from "../lib/tool.ts";
import { unignoredPaths } from "../lib/walks.ts";

type Args = CheckedArgs["list_directory"];

/** Answers a call of `list_directory`. */
export async function run(args: Args, call: Call): Promise<Answer<ListDirectoryData>> {
  const page = new ListingPage(args, call);
  const covered = await coveredRoots(args.path, call);
  for (const { path, index } of covered.roots) await page.addRoot(path, index > 0);
  const warnings = [...page.notes(), closedRootsNote(covered, "listed"), ...excludeGlobNotes(args.ignore)];
  const known = warnings.filter((note) => note !== undefined);
  return known.length === 0 ? { data: page.data() } : { warnings: known, data: page.data() };
}

/** A page of a listing, which the roots fill one after the other. */
class ListingPage {
  readonly #args: Args;
  readonly #call: Call;
  readonly #path: string;
  /** The number of entries on earlier pages. */
  readonly #from: number;
  readonly #entries: ListedEntry[] = [];
  readonly #links: string[] = [];
  readonly #closed: LeftOutEntry[] = [];
  #total = 0;
  /** True when the page ends within a root: the next page continues there, and the later roots follow. */
  #isCut = false;

  constructor(args: Args, call: Call) {
    this.#args = args;
    this.#call = call;
    this.#path = call.reader.display(call.locations[0]!.path);
    this.#from = offsetOf(args, this.#path);
  }

  /** Adds the entries of a root, as far as there is room. Another root is listed as an entry itself before them. */
  async addRoot(root: string, isOther: boolean): Promise<void> {
    const { depth, limit } = this.#args;
    const heading = isOther ? 1 : 0;
    const skipped = Math.max(0, this.#from - this.#total);
    if (heading > skipped && !this.#isCut && this.#entries.length < limit)
      this.#entries.push(headingOf(root, this.#call));
    const room = this.#isCut ? 0 : limit - this.#entries.length;
    const first = Math.max(0, skipped - heading);
    const page = await pageOf({ ...this.#args, limit: Math.max(1, room) }, root, first, this.#call);
    this.#call.seen.noteListed(page.entries.map((entry) => entry.path));
    this.#total += heading + page.total;
    if (room <= 0) return;
    this.#isCut = first + page.entries.length < page.total;
    // Only entries that need further facts are awaited, because each await costs more than the conversion.
    for (const entry of page.entries)
      this.#entries.push(
        isComplete(entry, this.#call) ? shown(entry, {}, this.#call) : await listed(entry, this.#call),
      );
    this.#links.push(...(await unlistedLinks(page.entries, root, depth, this.#call)));
    if (depth > 1) this.#closed.push(...(await unreadableIn(page.entries, root, depth, this.#call)));
  }

  notes(): readonly (string | undefined)[] {
    const closed = leftOutNote(this.#closed.length, "listed", this.#closed[0]);
    return [closed, unfollowedNote(this.#links, this.#call)];
  }

  data(): ListDirectoryData {
    const next = this.#from + this.#entries.length;
    const truncated = next < this.#total;
    return withoutUndefined({
      path: this.#path,
      entries: this.#entries,
      total: this.#total,
      truncated,
      next_cursor: truncated ? cursorAfter(this.#path, next) : undefined,
    });
  }
}

/** Returns the entry that stands for another root. Its content follows it. */
function headingOf(root: string, call: Call): ListedEntry {
  const path = call.reader.display(root);
  return { name: path, path, type: "dir" };
}

/**
 * The maximum number of directories of a page that appear empty and are therefore opened once more, to find
 * out whether they are unreadable.
 */
const MAX_REREAD_DIRECTORIES = 1000;

/**
 * Returns the unreadable directories of a page, at most `MAX_REREAD_DIRECTORIES` examined. A listing
 * shows them as empty. Those at the last level are left out, because their content was not requested.
 */
async function unreadableIn(
  page: readonly FsEntry[],
  root: string,
  depth: number,
  call: Call,
): Promise<readonly LeftOutEntry[]> {
  const isEmpty = (entry: FsEntry, index: number): boolean => {
    const next = page[index + 1];
    return entry.type === "dir" && !(next !== undefined && isWithin(next.path, entry.path));
  };
  const levelOf = ({ path }: FsEntry): number => (relativeTo(path, root) as string).split("/").length;
  const closed: LeftOutEntry[] = [];
  const examined = page.filter((entry, index) => isEmpty(entry, index) && levelOf(entry) < depth);
  for (const { path } of examined.slice(0, MAX_REREAD_DIRECTORIES)) {
    const reason = await unreadableReason(path, call);
    if (reason !== undefined) closed.push({ path: call.reader.display(path), reason });
  }
  return closed;
}

/** Returns why a directory cannot be read; undefined for one that can, or has vanished. */
async function unreadableReason(path: string, call: Call): Promise<string | undefined> {
  try {
    await call.fs.listDir(path, { facts: false });
  } catch (error) {
    if (!(error instanceof FilewrightError) || error.code === "CANCELLED") throw error;
    if (error.code !== "NOT_FOUND" && error.code !== "NOT_DIRECTORY") return skipReasonOf(error);
  }
  return undefined;
}

export function cursorAfter(shownPath: string, entries: number): string {
  return encodeCursor("list", { path: shownPath, number: entries });
}

/**
 * Returns the number of entries that precede this page, from the cursor; 0 without one. @throws
 * FilewrightError INVALID_ARGUMENT
 */
export function offsetOf({ cursor }: Args, shownPath: string): number {
  if (cursor === undefined) return 0;
  const { path: of, number } = decodeCursor("list", cursor);
  if (of === shownPath && number >= 0) return number;
  throw new FilewrightError(
    "INVALID_ARGUMENT",
    "Invalid argument 'cursor': it is another directory's; leave it out to begin anew.",
    { complete: true, details: { argument: "cursor" } },
  );
}

/**
 * Returns one page of the requested entries. With an order by size or time, the facts of all entries are read
 * first.
 */
async function pageOf(args: Args, root: string, from: number, call: Call): Promise<TreePage> {
  const { depth, hidden, ignore, respect_ignore, sort, order: direction, limit } = args;
  const maxTextBytes = maxAnswerBytes(call.settings.limits);
  // For bare names of one directory, a plain listing is faster than a page of a tree.
  const bare = depth === 1 && call.reader.brief && !respect_ignore;
  if (bare || sort === "size" || sort === "mtime") {
    const all = await collect(args, root, call);
    return { entries: pageFrom(all, from, limit, maxTextBytes), total: all.length };
  }
  return call.fs.listTree(root, {
    depth,
    hidden,
    exclude: ignoredGlobs(ignore, call),
    respectIgnore: respect_ignore,
    ignoreFiles: call.settings.ignoreFiles,
    sort,
    order: direction,
    from,
    limit,
    maxTextBytes,
    facts: !call.reader.brief,
    signal: call.signal,
  });
}

/**
 * Returns the entries from index `from` on, at most as many as an answer can show: every entry takes at least
 * one line with its name.
 */
function pageFrom(
  all: readonly FsEntry[],
  from: number,
  limit: number,
  maxTextBytes: number,
): readonly FsEntry[] {
  let to = from;
  for (let bytes = 0; to < Math.min(all.length, from + limit) && bytes < maxTextBytes; to++)
    bytes += utf8Length((all[to] as FsEntry).name) + 1;
  return all.slice(from, to);
}

/** Returns the globs of a call in the form of its paths. */
function ignoredGlobs(globs: readonly string[], { reach: { summary: access } }: Call): readonly string[] {
  return globs.flatMap((glob) => globsInForm(glob, access.paths));
}

/** Collects every requested entry, each directory followed by its content. */
async function collect(args: Args, root: string, call: Call): Promise<readonly FsEntry[]> {
  const { fs } = call;
  const sorted = args.sort === "size" || args.sort === "mtime";
  const facts = sorted || !call.reader.brief;
  const walk = new TreeWalk<FsEntry>(root, {
    unreadable: "count",
    temporary: false,
    hidden: args.hidden,
    skipGit: args.respect_ignore,
    // A search knows ignore files that a walk does not, such as those of the user.
    ...selectionOf(args, call, args.respect_ignore ? await unignoredPaths(call, root) : undefined),
    depth: args.depth,
    compare: order(args),
  });
  const source = {
    list: (directory: string) => {
      if (call.signal?.aborted === true) throw new FilewrightError("CANCELLED", "cancelled");
      const entries = fs.listDir(directory, { facts });
      return sorted ? withFacts(entries, call) : entries;
    },
  };
  const found: FsEntry[] = [];
  const yielder = new Yielder({ signal: call.signal });
  for await (const run of walkRuns(walk, source, yielder))
    for (const { entry } of run)
      if (found.push(entry) % STEPS_PER_YIELD_CHECK === 0) await yielder.yieldIfDue();
  return found;
}

/** Returns what a walk leaves out: by globs, and all but the `kept` paths where these are known. */
function selectionOf(
  { ignore }: Args,
  call: Call,
  kept: ReadonlySet<string> | undefined,
): Pick<WalkRequest<FsEntry>, "globs" | "wants" | "enters"> {
  const globs = ignore.length === 0 ? undefined : engine().glob([], { exclude: ignoredGlobs(ignore, call) });
  if (kept === undefined) return { globs, wants: undefined, enters: undefined };
  return {
    globs,
    // Special files are kept: searches do not return them, and ignore files do not apply to them.
    wants: (path, entry) =>
      globs?.excluded(path, entry.isDir) !== true && (entry.type === "other" || kept.has(entry.path)),
    enters: (entry) => kept.has(entry.path),
  };
}

async function withFacts(entries: MaybePromise<readonly FsEntry[]>, call: Call): Promise<readonly FsEntry[]> {
  const known: FsEntry[] = [];
  for (const entry of await entries) {
    if (entry.size !== undefined && entry.mtime !== undefined) known.push(entry);
    else {
      const { size, mtime } = await factsOf(entry, call);
      known.push(withoutUndefined({ ...entry, size: size ?? entry.size, mtime: mtime ?? entry.mtime }));
    }
  }
  return known;
}

async function factsOf(
  entry: FsEntry,
  call: Call,
): Promise<Partial<Pick<FsStat, "size" | "mtime" | "target">>> {
  try {
    return await call.fs.lstat(entry.path);
  } catch {
    return {}; // It has vanished since it was listed.
  }
}

function order({ sort, order: direction }: Args): (a: FsEntry, b: FsEntry) => number {
  const sign = direction === "desc" ? -1 : 1;
  const byName = (a: FsEntry, b: FsEntry): number => compareCodePoints(a.name, b.name);
  switch (sort) {
    case "name":
      return (a, b) => sign * byName(a, b);
    case "size":
      return (a, b) => sign * ((a.size ?? 0) - (b.size ?? 0)) || byName(a, b);
    case "mtime":
      return (a, b) => sign * ((a.mtime ?? 0) - (b.mtime ?? 0)) || byName(a, b);
    case "type":
      return (a, b) => sign * (Number(b.isDir) - Number(a.isDir) || byName(a, b));
  }
}

function hasFacts(entry: FsEntry, call: Call): boolean {
  return call.reader.brief || (entry.size !== undefined && entry.mtime !== undefined);
}

function isComplete(entry: FsEntry, call: Call): boolean {
  return hasFacts(entry, call) && entry.type !== "symlink";
}

async function listed(entry: FsEntry, call: Call): Promise<ListedEntry> {
  const facts = hasFacts(entry, call) ? {} : await factsOf(entry, call);
  if (entry.type !== "symlink") return shown(entry, facts, call);
  const target = await shownLinkTarget(call, entry.path, entry.target ?? facts.target);
  return target === undefined ? shown(entry, facts, call) : { ...shown(entry, facts, call), target };
}

/**
 * Converts an entry to data, but without the target of a link. `facts` supplies the size or time where the
 * entry lacks it.
 */
function shown(entry: FsEntry, facts: Partial<Pick<FsStat, "size" | "mtime">>, call: Call): ListedEntry {
  const size = entry.size ?? facts.size;
  const mtime = entry.mtime ?? facts.mtime;
  const { name, type } = entry;
  // Assigns the optional fields, because spreading is slow: a listing has thousands of entries.
  const data: { -readonly [K in keyof ListedEntry]: ListedEntry[K] } = {
    name,
    path: call.reader.display(entry.path),
    type,
  };
  if (size !== undefined) data.size = size;
  if (mtime !== undefined) data.modified = formatIsoTime(mtime);
  return data;
}
