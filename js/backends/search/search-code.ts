/**
 * Ranked searches of contents: by the search of the files where they have one (the shortcut `searchCode`), and for all
 * others by a walk, with the same results.
 */
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { CodeSearchQuery, CodeSearchResult } from "../../engine/search-types.ts";
import { type CodeBlock, RANK_LIMITS } from "../../engine/generated/records.ts";
import type { CodeRanking } from "../../engine/rank.ts";
import { Yielder } from "../../engine/yielder.ts";
import { contentsOf, shortcutsOf } from "../abilities.ts";
import type { Files } from "../files.ts";
import { childOf } from "../paths.ts";
import { beginsBinary, HEAD_BYTES } from "./binary-head.ts";
import { WALK_AHEAD_FILES } from "./cached-walk.ts";
import type { ContentNumbers } from "./held.ts";
import { errorOf, readOrError } from "./search-files.ts";
import { globsOf, type Signalled } from "./search-grep.ts";
import { SearchWalk } from "./search-walk.ts";

/** The size in bytes up to which a file is ranked. */
const MAX_BYTES: number = RANK_LIMITS.maxRankedBytes;

/**
 * Finds the blocks of files below some directories, at most 256, that fit a question best. Paths are relative to the
 * directory whose index the block names. @throws INVALID_ARGUMENT, INVALID_GLOB, CANCELLED, and the errors of the
 * directories
 */
export async function searchCode(
  files: Files,
  roots: readonly string[],
  query: CodeSearchQuery & Signalled,
): Promise<CodeSearchResult> {
  return (await shortcutsOf(files).searchCode(roots, query)) ?? walkAndRank(files, roots, query);
}

/** A file that is read ahead. */
interface PendingFile {
  readonly root: number;
  readonly path: string;
  /** The absolute path. */
  readonly place: string;
  /** The size in bytes, where it is known. */
  readonly size: number | undefined;
}

/** What was read of a file: an error, its content, or the number of its content among those that are counted. */
type ReadForRanking = Uint8Array | Error | "large" | { readonly number: number } | undefined;

/** Reads files for a ranked search. */
type RankedReader = (file: PendingFile) => Promise<ReadForRanking>;

/**
 * The maximum number of attempts while files change between the ranking and the reading of what is shown. Blocks of files
 * that changed in the last one are left out.
 */
const MAX_ATTEMPTS = 3;

/** Reads every file below the directories and ranks their blocks. */
async function walkAndRank(
  backend: Files,
  roots: readonly string[],
  query: CodeSearchQuery & Signalled,
): Promise<CodeSearchResult> {
  const yielder = new Yielder(query);
  for (let attempt = 1; ; attempt++) {
    const { result, changed } = await rankOnce(backend, roots, query, yielder);
    if (changed === 0 || attempt === MAX_ATTEMPTS || yielder.isOver) return result;
  }
}

/** Does the same once. Returns also how many blocks were left out because their files have changed meanwhile. */
async function rankOnce(
  backend: Files,
  roots: readonly string[],
  query: CodeSearchQuery & Signalled,
  yielder: Yielder,
): Promise<{ readonly result: CodeSearchResult; readonly changed: number }> {
  const ranking = engine().ranking.code(query);
  const globs = globsOf(query.glob, {});
  const wants = (path: string, { type }: { readonly type: string }) => type === "file" && globs.matches(path);
  const terms = contentsOf(backend)?.signs.terms.begin();
  const read = readerOf(backend, terms?.numbers, query.signal);
  const ranked: PendingFile[] = [];
  const ahead: (readonly [PendingFile, Promise<ReadForRanking>])[] = [];
  const counts = { skippedLarge: 0, firstLarge: "", largeRoot: 0, unreadable: 0, complete: true };
  const add = (file: PendingFile, content: Uint8Array | { readonly number: number }): boolean => {
    if (content instanceof Uint8Array) return ranking.add(file.root, file.path, content);
    return terms !== undefined && ranking.addKnown(file.root, terms.contents, content.number);
  };
  const countLarge = ({ root, path }: PendingFile): void => {
    // Where tests alone are asked for, it is not known which of the large files are tests.
    if (query.kind === "test") return;
    if (counts.skippedLarge++ === 0) Object.assign(counts, { firstLarge: path, largeRoot: root });
  };
  const addNext = async (): Promise<void> => {
    const [file, reading] = ahead.shift() as (typeof ahead)[number];
    const content = await reading;
    await yielder.yieldIfDue();
    if (content instanceof Error) counts.unreadable += isGone(content) ? 0 : 1;
    else if (content === "large") countLarge(file);
    else if (content !== undefined && add(file, content)) ranked.push(file);
  };
  for (const [root, directory] of roots.entries()) {
    const walk = new SearchWalk(backend, directory, { query, globs, wants, from: "" });
    for await (const { path, entry } of walk.entries()) {
      counts.complete &&= !yielder.isOver;
      if (!counts.complete) break;
      const file = { root, path, place: childOf(directory, path), size: entry.size };
      ahead.push([file, read(file)]);
      if (ahead.length >= WALK_AHEAD_FILES) await addNext();
    }
    counts.unreadable += walk.counts.unreadable;
  }
  while (ahead.length > 0) await addNext();
  const { blocks, changed } = await shownBlocks(backend, ranked, ranking);
  return { result: { blocks, filesSearched: ranked.length, ...counts }, changed };
}

/** Returns what reads the files of a search. A content that the backend holds is read and counted once. */
function readerOf(
  backend: Files,
  numbers: ContentNumbers | undefined,
  signal: AbortSignal | undefined,
): RankedReader {
  const held = contentsOf(backend);
  if (held === undefined || numbers === undefined)
    return ({ place, size }) => rankedContent(backend, place, size);
  return async ({ path, place }) => {
    try {
      const file = await held.file(place);
      if (file.size > MAX_BYTES) return await rankedContent(backend, place, file.size);
      // The same content counts anew at another path, which has other words, and under another policy.
      const key = `${held.view}\0${path.length}\0${place}`;
      const known = numbers.get(file.content, key);
      if (known !== undefined) return { number: known };
      const { bytes, content } = await file.read(held.source, signal);
      if (content === undefined || bytes.length > MAX_BYTES) return bytes;
      return { number: numbers.count(content, { key, path, bytes }) };
    } catch (error) {
      return errorOf(error);
    }
  };
}

/** Returns the content of a file to rank. A large one is read up to where it shows whether it is binary. */
async function rankedContent(
  backend: Files,
  path: string,
  size: number | undefined,
): Promise<Uint8Array | Error | "large" | undefined> {
  const isLarge = size !== undefined && size > MAX_BYTES;
  const read = isLarge ? undefined : await readOrError(backend, path, { size, most: MAX_BYTES });
  if (read instanceof Error || (read !== undefined && read.length <= MAX_BYTES)) return read;
  const head = await headOrError(backend, path);
  return head instanceof Uint8Array && !beginsBinary(head) ? "large" : head;
}

/** Returns the first bytes of a file, or the error of their read. */
async function headOrError(backend: Files, path: string): Promise<Uint8Array | Error | undefined> {
  try {
    if (!backend.abilities.ranges) return (await backend.readBytes(path)).subarray(0, HEAD_BYTES);
    return (await backend.read(path, { range: { start: 0, end: HEAD_BYTES } }))?.bytes;
  } catch (error) {
    return errorOf(error);
  }
}

/** Returns the best blocks with their lines, as the files are now, and how many were left out because these have changed. */
async function shownBlocks(
  backend: Files,
  ranked: readonly PendingFile[],
  ranking: CodeRanking,
): Promise<{ readonly blocks: readonly CodeBlock[]; readonly changed: number }> {
  const contents = new Map<number, Uint8Array | Error | undefined>();
  const blocks: CodeBlock[] = [];
  const best = ranking.rank();
  for (const [index, file] of best.entries()) {
    const { place } = ranked[file] as PendingFile;
    const content = contents.has(file)
      ? contents.get(file)
      : await readOrError(backend, place, { size: undefined, most: MAX_BYTES });
    contents.set(file, content);
    const block = content instanceof Uint8Array ? ranking.show(index, content) : undefined;
    if (block !== undefined) blocks.push(block);
  }
  return { blocks, changed: best.length - blocks.length };
}

/** Returns true for the error of a file that was removed after it was listed. */
function isGone(error: Error): boolean {
  return error instanceof FilewrightError && error.code === "NOT_FOUND";
}
