/**
 * Everything below a directory, for any backend: the walk, which never follows a link, and the files
 * that a glob matches. Globs are compiled by the engine, so that all backends share one grammar.
 */
import { FilewrightError } from "../../engine/errors.ts";
import type { FsBackend, FsEntry } from "../backend.ts";
import { checkSignal } from "../failure.ts";
import { Yielder, sortYielding } from "../../engine/yielder.ts";
import { compareCodePoints, relativeTo } from "../paths.ts";
import { engine } from "../../engine/current.ts";

/**
 * Yields everything below a directory, by full path in code-point order, parents before their
 * content.
 */
export async function* walkTree(
  backend: Pick<FsBackend, "listDir">,
  root: string,
  signal?: AbortSignal,
): AsyncGenerator<FsEntry> {
  const yielder = new Yielder({ signal });
  const top = await backend.listDir(root, { signal });
  const levels = [{ entries: await sortByFullPath(top, yielder), at: 0 }];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    checkSignal(signal, root);
    const entry = level.entries[level.at++];
    if (entry === undefined) {
      levels.pop();
      continue;
    }
    yield entry;
    await yielder.yieldIfDue();
    if (entry.type === "dir")
      levels.push({
        entries: await sortByFullPath(await listUnlessGone(backend, entry, signal), yielder),
        at: 0,
      });
  }
}

/** Yields the regular files below a directory, in the order of {@link walkTree}. */
export async function* filesBelow(backend: Pick<FsBackend, "listDir">, root: string): AsyncGenerator<string> {
  for await (const entry of walkTree(backend, root)) if (entry.type === "file") yield entry.path;
}

/** Returns the entries of a directory; empty if it was removed after it was listed. */
async function listUnlessGone(
  backend: Pick<FsBackend, "listDir">,
  entry: FsEntry,
  signal: AbortSignal | undefined,
): Promise<readonly FsEntry[]> {
  try {
    return await backend.listDir(entry.path, { signal });
  } catch (error) {
    if (isMissingError(error)) return [];
    throw error;
  }
}

/** Sorts entries so that the full paths of everything below them are in order. */
async function sortByFullPath(entries: readonly FsEntry[], yielder: Yielder): Promise<readonly FsEntry[]> {
  const keyed = entries.map((entry) => ({ entry, key: entry.isDir ? `${entry.name}/` : entry.name }));
  const sorted = await sortYielding(keyed, (a, b) => compareCodePoints(a.key, b.key), yielder);
  return sorted.map(({ entry }) => entry);
}

function isMissingError(error: unknown): boolean {
  return error instanceof FilewrightError && (error.code === "NOT_FOUND" || error.code === "NOT_DIRECTORY");
}

/** A compiled set of globs. */
export interface GlobMatcher {
  /** Returns true when a relative, `/`-separated path matches any of the globs. */
  matches(path: string): boolean;
}

/** Compiles globs. @throws INVALID_GLOB */
export function compileGlobs(patterns: readonly string[]): GlobMatcher {
  return engine().glob(patterns);
}

/** Returns those of the files whose path relative to `root` matches a glob, in their order. @throws INVALID_GLOB */
export async function globFiles(
  files: AsyncIterable<string> | Iterable<string>,
  root: string,
  pattern: string,
): Promise<readonly string[]> {
  const matcher = compileGlobs([pattern]);
  const found: string[] = [];
  for await (const path of files) if (matcher.matches(relativeTo(path, root) as string)) found.push(path);
  return Object.freeze(found);
}
