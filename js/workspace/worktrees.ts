/**
 * The repositories of roots that are linked worktrees of git (`git worktree add`): their data is outside the root, so
 * commands need the directory that all worktrees of the repository share.
 *
 * An agent may write inside a root, `.git` as well. So a `.git` file is followed only to a directory
 * that git made for this very root: the directory names the root's `.git` file, it is the entry `worktrees/NAME` of the
 * shared directory, and nothing of it is in a root. That is decided once, when a workspace opens, on real paths. A
 * submodule, `git init --separate-git-dir`, and a worktree inside its own shared directory are not followed.
 */
import type { Files } from "../backends/files.ts";
import { isWithin } from "../backends/paths.ts";
import { linkedRepository } from "../backends/walk/git-directory.ts";

/** A root that is a linked worktree, and the directory of its repository. Paths are absolute and real. */
export interface LinkedWorktree {
  readonly root: string;
  /** The directory that the worktrees of the repository share, such as `/repo/.git`. */
  readonly common: string;
}

/**
 * Returns the roots that are linked worktrees. `roots` are real paths; `kept` are directories that no repository may
 * contain, such as the state directories and the home directory.
 */
export async function linkedWorktrees(
  fs: Files,
  roots: readonly string[],
  kept: readonly string[],
): Promise<readonly LinkedWorktree[]> {
  const found: LinkedWorktree[] = [];
  for (const root of new Set(roots)) {
    const common = (await linkedRepository(fs, root))?.common;
    if (common === undefined || [...roots, ...kept].some((path) => isWithin(path, common))) continue;
    if (!roots.some((one) => isWithin(common, one))) found.push({ root, common });
  }
  return Object.freeze(found);
}
