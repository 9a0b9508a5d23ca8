/**
 * Ranked searches of contents: by the search of the files where they have one (the shortcut `searchCode`), and for all
 * others by a walk, with the same results.
 */
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { CodeSearchQuery, CodeSearchResult } from "../../engine/search-types.ts";
import type { CodeBlock, CodeRanking } from "../../engine/rank.ts";
import { Yielder } from "../../engine/yielder.ts";
import { shortcutsOf } from "../abilities.ts";
import type { Files } from "../files.ts";
import { childOf } from "../paths.ts";
import { WALK_AHEAD_FILES } from "./cached-walk.ts";
import { readOrError } from "./search-files.ts";
import { globsOf, type Signalled } from "./search-grep.ts";
import { SearchWalk } from "./search-walk.ts";

/** The maximum size in bytes of a file that is ranked, as `MAX_RANKED_BYTES` of `crates/core/src/rank`. */
const MAX_RANKED_BYTES = 1 << 20;

/**
 * Finds the blocks of files below a directory that fit a question best. Paths are relative to
 * `root`. @throws INVALID_ARGUMENT, INVALID_GLOB, CANCELLED, and the errors of the directory
 */
export async function searchCode(
  files: Files,
  root: string,
  query: CodeSearchQuery & Signalled,
): Promise<CodeSearchResult> {
  return (await shortcutsOf(files).searchCode(root, query)) ?? walkAndRank(files, root, query);
}

/** Reads every file below a directory and ranks its blocks. */
async function walkAndRank(
  backend: Files,
  root: string,
  query: CodeSearchQuery & Signalled,
): Promise<CodeSearchResult> {
  const ranking = engine().ranking.code(query);
  const globs = globsOf(query.glob, {});
  const wants = (path: string, { type }: { readonly type: string }) => type === "file" && globs.matches(path);
  const walk = new SearchWalk(backend, root, { query, globs, wants, from: "" });
  const yielder = new Yielder(query);
  let [filesSearched, unreadable, complete] = [0, 0, true];
  const ahead: { readonly path: string; readonly content: Promise<Uint8Array | Error | undefined> }[] = [];
  const addNext = async (): Promise<void> => {
    const { path, content } = ahead.shift() as (typeof ahead)[number];
    const bytes = await content;
    await yielder.yieldIfDue();
    if (bytes instanceof Error) unreadable += isGone(bytes) ? 0 : 1;
    else if (bytes !== undefined && ranking.add(path, bytes)) filesSearched++;
  };
  for await (const { path, entry } of walk.entries()) {
    if (yielder.isOver) {
      complete = false;
      break;
    }
    if ((entry.size ?? 0) > MAX_RANKED_BYTES) continue;
    const bounds = { size: entry.size, most: MAX_RANKED_BYTES };
    ahead.push({ path, content: readOrError(backend, childOf(root, path), bounds) });
    if (ahead.length >= WALK_AHEAD_FILES) await addNext();
  }
  while (ahead.length > 0) await addNext();
  const blocks = await shownBlocks(backend, root, ranking);
  return { blocks, filesSearched, unreadable: unreadable + walk.counts.unreadable, complete };
}

/** Returns the best blocks with their lines, as the files are now. */
async function shownBlocks(
  backend: Files,
  root: string,
  ranking: CodeRanking,
): Promise<readonly CodeBlock[]> {
  const contents = new Map<string, Uint8Array | Error | undefined>();
  const blocks: CodeBlock[] = [];
  for (const [index, path] of ranking.rank().entries()) {
    const content = contents.has(path)
      ? contents.get(path)
      : await readOrError(backend, childOf(root, path), { size: undefined, most: MAX_RANKED_BYTES });
    contents.set(path, content);
    const block = content instanceof Uint8Array ? ranking.show(index, content) : undefined;
    if (block !== undefined) blocks.push(block);
  }
  return blocks;
}

/** Returns true for the error of a file that was removed after it was listed. */
function isGone(error: Error): boolean {
  return error instanceof FilewrightError && error.code === "NOT_FOUND";
}
