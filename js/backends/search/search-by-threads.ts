/**
 * Searches the files of a walk by threads that read them themselves. The walk runs ahead of the results, which are
 * taken in its order, so the answers are those of a search without threads.
 */
import type { FsBackend } from "../backend.ts";
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
import { WALK_AHEAD_FILES } from "./search-held.ts";
import type { SearchWalk, WalkEntry } from "./search-walk.ts";

/** The number of files up to which a tree is searched without threads. */
const MAX_FILES_WITHOUT_THREADS = 128;
/** The number of files of the first request, and of the largest. */
const [FIRST_REQUEST_FILES, MAX_REQUEST_FILES] = [128, 1024];
/** The number of files after which the time limit is checked. */
const FILES_PER_CLOCK_CHECK = 64;

/** The counts of a walk that belong to a result. */
type Counts = Pick<WalkCounts, "ignored" | "unreadable">;

/** What a search by threads needs. */
export interface ThreadSearchPlace {
  readonly backend: FsBackend;
  readonly walk: SearchWalk;
  readonly top: string | undefined;
  readonly threads: ThreadSearch;
}

interface WalkedFile {
  readonly file: WalkEntry;
  readonly counts: Counts;
}

interface Request {
  readonly files: readonly WalkedFile[];
  readonly found: Promise<SearchedFiles | Error>;
}

/** Searches the files of a walk and returns its counts. @throws CANCELLED */
export async function searchByThreads(search: GrepSearch, place: ThreadSearchPlace): Promise<Counts> {
  const { backend, walk, top, threads } = place;
  const walked = countedFiles(walk, top);
  const ahead: WalkedFile[] = [];
  const requests: Request[] = [];
  let size = FIRST_REQUEST_FILES;
  let isWalking = true;
  const more = async (): Promise<boolean> => {
    const next = isWalking ? await walked.next() : { done: true as const };
    if (next.done === true) isWalking = false;
    else for (const file of next.value.run) ahead.push({ file, counts: next.value.counts });
    return isWalking;
  };
  while (ahead.length < MAX_FILES_WITHOUT_THREADS && (await more()));
  if (!isWalking) {
    await searchFiles(
      search,
      backend,
      ahead.map(({ file }) => file),
    );
    return walk.counts;
  }
  while (isWalking || ahead.length > 0 || requests.length > 0) {
    while (requests.length < threads.requests && (isWalking || ahead.length > 0)) {
      while (ahead.length < size && (await more()));
      const files = ahead.splice(0, size);
      if (files.length === 0) break;
      const paths = files.map(({ file }) => file.path);
      const found = threads.run(paths, search.threadQuery(), search.signal);
      requests.push({ files, found: found.catch((error: Error) => error) });
      size = Math.min(2 * size, MAX_REQUEST_FILES);
    }
    const first = requests.shift();
    if (first === undefined) break;
    const stopped = await takeFiles(search, backend, first);
    if (stopped === undefined) continue;
    // The counts of a result include the walk up to a few files after the last one.
    const asked = [...first.files.slice(stopped), ...requests.flatMap(({ files }) => files)];
    while (asked.length + ahead.length < WALK_AHEAD_FILES && (await more()));
    await walked.return(undefined);
    return [...asked, ...ahead][WALK_AHEAD_FILES - 1]?.counts ?? walk.counts;
  }
  return walk.counts;
}

/** Yields the files of a walk in groups, each with the counts of the walk at that moment. */
async function* countedFiles(
  walk: SearchWalk,
  top: string | undefined,
): AsyncGenerator<{ readonly run: readonly WalkEntry[]; readonly counts: Counts }> {
  let counts: Counts = { ignored: 0, unreadable: 0 };
  for await (const run of walk.runs(top)) {
    const { ignored, unreadable } = walk.counts;
    if (ignored !== counts.ignored || unreadable !== counts.unreadable) counts = { ignored, unreadable };
    yield { run, counts };
  }
}

/** Takes the results of a request, file by file. Returns the place of the file at which the search has ended. */
async function takeFiles(
  search: GrepSearch,
  backend: FsBackend,
  { files, found }: Request,
): Promise<number | undefined> {
  const answer = await found;
  if (answer instanceof Error) throw answer;
  const { states, hits } = answer;
  let hit = 0;
  for (const [place, { file }] of files.entries()) {
    const { path } = file;
    const packed = states[place] === WITH_HITS ? hits[hit++] : undefined;
    // The first lines of the file at a cursor are left out, which threads do not do.
    const state = search.continuesIn(path) ? ASK_BACKEND : states[place];
    if (state === ASK_BACKEND) {
      if (!(await searchOne(search, backend, file))) return place;
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
