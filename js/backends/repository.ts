/**
 * Directories that git takes for repositories without being named `.git`: those that hold `HEAD` with `objects`
 * and `refs`, or `HEAD` with `commondir`. Git runs what the configuration in them names, so a confined backend
 * neither completes one nor changes what git obeys in one. The same rules as in
 * `crates/core/src/access/repository.rs`, for backends whose storage is not the disk.
 */
import type { FsBackend } from "./backend.ts";
import { lstatOrNull } from "./fallback.ts";
import { childOf, isWithin } from "./paths.ts";

/** The names that make a directory a repository. */
const MARKS: readonly string[] = ["HEAD", "objects", "refs", "commondir"];

/** Whether a name is one of those that make a directory a repository. */
export function isRepositoryMark(name: string): boolean {
  return MARKS.some((mark) => mark.toLowerCase() === name.toLowerCase());
}

/** Whether a directory with these names is a repository to git. */
export function isRepository(names: Iterable<string>): boolean {
  const has = new Set<string>();
  for (const name of names) has.add(name.toLowerCase());
  return has.has("head") && (has.has("commondir") || (has.has("objects") && has.has("refs")));
}

/** The marks of a repository that a directory has. */
export async function marksOf(inner: FsBackend, directory: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const mark of MARKS) {
    // A link counts by being there; what cannot be looked at is not there.
    if ((await lstatOrNull(inner, childOf(directory, mark)).catch(() => null)) !== null) found.push(mark);
  }
  return found;
}

/** Whether a change at a real path would complete a repository, or lies in one, below these roots. */
export async function isRepositoryPart(
  inner: FsBackend,
  path: string,
  roots: readonly string[],
): Promise<boolean> {
  for (const directory of repositoriesOn(path)) {
    // What is in a directory of git's own name is decided by the table.
    if (/\/\.git$/i.test(directory) || !roots.some((root) => isWithin(directory, root))) continue;
    const name = path.slice(directory.length + 1).split("/", 1);
    if (isRepository([...(await marksOf(inner, directory)), ...name])) return true;
  }
  return false;
}

/** The directories on a real path that would be repositories to which the path belongs. */
export function repositoriesOn(path: string): readonly string[] {
  const names = path.split("/").slice(1);
  return names.flatMap((name, index) =>
    PARTS.has(name.toLowerCase()) && index > 0 ? [`/${names.slice(0, index).join("/")}`] : [],
  );
}

/** What git reads of a repository. */
const PARTS: ReadonlySet<string> = new Set(
  "head objects refs commondir config config.worktree gitdir hooks info modules packed-refs reftable shallow worktrees".split(
    " ",
  ),
);
