/**
 * Searches the files of a walk by threads that read them themselves. The walk runs ahead of the results, which are
 * taken in its order, so the answers are those of a search without threads.
 */
import type { FsBackend } from "../backend.ts";
import { childOf } from "../paths.ts";
import type { WalkCounts } from "../walk/walk.ts";
import {
  ASK_BACKEND,
  BINARY_FILE,
  LARGE_FILE,
  type SearchedFiles,
  type ThreadSearch,
  WITH_HITS,
} from "./file-searcher.ts";
import { searchOne, searchFiles } from "./search-files.ts";
import type { GrepSearch } from "./search-grep.ts";
import { WALK_AHEAD_FILES } from "./cached-walk.ts";
import type { SearchedFile, SearchWalk } from "./search-walk.ts";

/** The number of files up to which a tree is searched without threads. */
const MAX_FILES_WITHOUT_THREADS = 128;
/** The number of files of the first request, and of the largest. */
const [FIRST_REQUEST_FILES, MAX_REQUEST_FILES] = [128, 1024];
/** The number of files after which the time limit is checked. */
const FILES_PER_CLOCK_CHECK = 64;

/** The counts of a walk that belong to a result. */
type Counts = Pick<WalkCounts, "ignored" | "unreadable">;

/** The dependencies of a search by threads. */
export interface ThreadSearchPlace {
  readonly backend: FsBackend;
  /** The directory that is searched. */
  readonly root: string;
  readonly walk: SearchWalk;
  readonly top: string | undefined;
  readonly threads: ThreadSearch;
}

/**
 * Walked files: the path of each, and the counts of the walk when it was met. Nothing else of an entry is kept, so that
 * what a walk makes for each entry is gone before it costs a collection of garbage.
 */
interface WalkedFiles {
  readonly paths: string[];
  readonly counts: Counts[];
}

interface Request extends WalkedFiles {
  readonly found: Promise<SearchedFiles | Error>;
}

/** Searches the files of a walk and returns its counts. @throws CANCELLED */
export async function searchByThreads(search: GrepSearch, place: ThreadSearchPlace): Promise<Counts> {
  const { walk, top, threads } = place;
  const walked = countedFiles(walk, top);
  const ahead: WalkedFiles = { paths: [], counts: [] };
  const requests: Request[] = [];
  let size = FIRST_REQUEST_FILES;
  let answered = 0;
  let isWalking = true;
  const more = async (): Promise<boolean> => {
    const next = isWalking ? await walked.next() : { done: true as const };
    if (next.done === true) isWalking = false;
    else {
      for (const { path } of next.value.run) {
        ahead.paths.push(path);
        ahead.counts.push(next.value.counts);
      }
    }
    return isWalking;
  };
  while (ahead.paths.length < MAX_FILES_WITHOUT_THREADS && (await more()));
  if (!isWalking) {
    const files = ahead.paths.map((path) => fileAt(place, path));
    await searchFiles(search, place.backend, files);
    return walk.counts;
  }
  while (isWalking || ahead.paths.length > 0 || requests.length > 0) {
    // A search that may end at once has little work ahead; a long one so much that the threads never wait.
    const most = Math.min(Math.max(threads.requests, answered), threads.maxRequests);
    while (requests.length < most && (isWalking || ahead.paths.length > 0)) {
      while (ahead.paths.length < size && (await more()));
      const [paths, counts] = [ahead.paths.splice(0, size), ahead.counts.splice(0, size)];
      if (paths.length === 0) break;
      const found = threads.run(paths, search.threadQuery(), search.signal);
      requests.push({ paths, counts, found: found.catch((error: Error) => error) });
      size = Math.min(2 * size, MAX_REQUEST_FILES);
    }
    const first = requests.shift();
    if (first === undefined) break;
    answered++;
    const stopped = await takeFiles(search, place, first);
    if (stopped === undefined) continue;
    // The counts of a result include the walk up to a few files after the last one.
    const asked = [...first.counts.slice(stopped), ...requests.flatMap(({ counts }) => counts)];
    while (asked.length + ahead.counts.length < WALK_AHEAD_FILES && (await more()));
    await walked.return(undefined);
    return [...asked, ...ahead.counts][WALK_AHEAD_FILES - 1] ?? walk.counts;
  }
  return walk.counts;
}

/** Yields the files of a walk in groups, each with the counts of the walk at that moment. */
async function* countedFiles(
  walk: SearchWalk,
  top: string | undefined,
): AsyncGenerator<{ readonly run: readonly { readonly path: string }[]; readonly counts: Counts }> {
  let counts: Counts = { ignored: 0, unreadable: 0 };
  for await (const run of walk.runs(top)) {
    const { ignored, unreadable } = walk.counts;
    if (ignored !== counts.ignored || unreadable !== counts.unreadable) counts = { ignored, unreadable };
    yield { run, counts };
  }
}

/** Returns a walked file whose content the caller reads itself. */
function fileAt({ root }: ThreadSearchPlace, path: string): SearchedFile {
  return { path, entry: { path: childOf(root, path) } };
}

/** Takes the results of a request, file by file. Returns the place of the file at which the search has ended. */
async function takeFiles(
  search: GrepSearch,
  searched: ThreadSearchPlace,
  { paths, found }: Request,
): Promise<number | undefined> {
  const answer = await found;
  if (answer instanceof Error) throw answer;
  const { states, hits } = answer;
  let hit = 0;
  for (let place = 0; place < paths.length; place++) {
    const path = paths[place] as string;
    const packed = states[place] === WITH_HITS ? hits[hit++] : undefined;
    // The first lines of the file at a cursor are left out, which threads do not do.
    const state = search.continuesIn(path) ? ASK_BACKEND : states[place];
    if (state === ASK_BACKEND) {
      if (!(await searchOne(search, searched.backend, fileAt(searched, path)))) return place;
      continue;
    }
    if (place % FILES_PER_CLOCK_CHECK === 0 && (await search.isOver(path))) return place;
    if (state === BINARY_FILE) search.binary++;
    else if (state === LARGE_FILE) search.large++;
    else if (packed !== undefined) await search.take(path, packed);
    else search.searched++;
    if (search.isFull) return place;
  }
  return undefined;
}
