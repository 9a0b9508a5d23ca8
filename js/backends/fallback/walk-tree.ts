/**
 * Everything below a directory, for any backend: the walk of trees (`../walk`) without filters, and the files that a
 * glob matches. Globs are compiled by the engine, so that all backends share one grammar.
 */
import type { Files } from "../files.ts";
import type { FsEntry } from "../backend.ts";
import { checkSignal } from "../failure.ts";
import { Yielder } from "../../engine/yielder.ts";
import { relativeTo } from "../paths.ts";
import { engine } from "../../engine/current.ts";
import { walkRuns } from "../walk/drive.ts";
import { TreeWalk, type WalkRequest } from "../walk/walk.ts";

/**
 * Yields everything below a directory, by full path in code-point order, parents before their content: also
 * temporary files, and at any depth. A directory that cannot be read ends it with the error. `enters` returns false
 * for a directory whose content is passed over.
 */
export function walkTree(
  backend: Pick<Files, "listDir">,
  root: string,
  signal?: AbortSignal,
  enters?: (entry: FsEntry) => boolean,
): AsyncGenerator<FsEntry> {
  return walkWhole(backend, root, { unreadable: "throw", temporary: true, enters }, signal);
}

/**
 * Yields the regular files below a directory, in the order of {@link walkTree}, without Filewright's temporary
 * files.
 */
export async function* filesBelow(backend: Pick<Files, "listDir">, root: string): AsyncGenerator<string> {
  const wants = (_: string, { type }: FsEntry): boolean => type === "file";
  for await (const { path } of walkWhole(backend, root, { unreadable: "throw", temporary: false, wants }))
    yield path;
}

async function* walkWhole(
  backend: Pick<Files, "listDir">,
  root: string,
  request: WalkRequest<FsEntry>,
  signal?: AbortSignal,
): AsyncGenerator<FsEntry> {
  const yielder = new Yielder({ signal });
  const list = (directory: string) => {
    checkSignal(signal, root);
    return backend.listDir(directory, { signal });
  };
  for await (const run of walkRuns(new TreeWalk(root, request), { list }, yielder))
    for (const { entry } of run) {
      checkSignal(signal, root);
      yield entry;
      await yielder.yieldIfDue();
    }
}

/** A compiled set of globs. */
interface GlobMatcher {
  /** Returns true when a relative, `/`-separated path matches any of the globs. */
  matches(path: string): boolean;
}

/** Compiles globs. @throws INVALID_GLOB */
function compileGlobs(patterns: readonly string[]): GlobMatcher {
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
