/**
 * Detects directories that git accepts as repositories without being named `.git`: those that
 * contain `HEAD` with `objects` and `refs`, or `HEAD` with `commondir`. Git runs programs that the
 * configuration in them names, so a confined backend neither completes such a directory nor
 * changes the files git obeys in one. The same rules as in `crates/core/src/pattern/policy/repository.rs`,
 * for backends whose storage is not the disk.
 */
import type { Files } from "../files.ts";
import { lstatOrNull } from "../fallback/fallback.ts";
import { childOf, isWithin } from "../paths.ts";

/** The names of entries by which git recognises a repository. */
const REPOSITORY_MARKS: readonly string[] = ["HEAD", "objects", "refs", "commondir"];

/** Returns true for the name of an entry by which git recognises a repository, in any letter case. */
export function isRepositoryMark(name: string): boolean {
  return REPOSITORY_MARKS.some((mark) => mark.toLowerCase() === name.toLowerCase());
}

/** Returns true when git accepts a directory with these names as a repository. */
export function isRepository(names: Iterable<string>): boolean {
  const has = new Set<string>();
  for (const name of names) has.add(name.toLowerCase());
  return has.has("head") && (has.has("commondir") || (has.has("objects") && has.has("refs")));
}

/** Returns the marks of a repository that a directory contains. */
export async function repositoryMarksIn(inner: Files, directory: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const mark of REPOSITORY_MARKS) {
    // A link counts as present whatever its target; an entry that cannot be read counts as absent.
    if ((await lstatOrNull(inner, childOf(directory, mark)).catch(() => null)) !== null) found.push(mark);
  }
  return found;
}

/** Returns true when a change at a real path would complete a repository below these roots, or is in one. */
export async function isRepositoryPart(
  inner: Files,
  path: string,
  roots: readonly string[],
): Promise<boolean> {
  for (const directory of possibleRepositoriesOn(path)) {
    // The table of places decides about the content of `.git` itself.
    if (/\/\.git$/i.test(directory) || !roots.some((root) => isWithin(directory, root))) continue;
    const name = path.slice(directory.length + 1).split("/", 1);
    if (isRepository([...(await repositoryMarksIn(inner, directory)), ...name])) return true;
  }
  return false;
}

/** Returns the directories on a real path that would contain the path as a part, if they are repositories. */
export function possibleRepositoriesOn(path: string): readonly string[] {
  const names = path.split("/").slice(1);
  return names.flatMap((name, index) =>
    REPOSITORY_PARTS.has(name.toLowerCase()) && index > 0 ? [`/${names.slice(0, index).join("/")}`] : [],
  );
}

/** The names that git reads in a repository. */
const REPOSITORY_PARTS: ReadonlySet<string> = new Set(
  "head objects refs commondir config config.worktree gitdir hooks info modules packed-refs reftable shallow worktrees".split(
    " ",
  ),
);
