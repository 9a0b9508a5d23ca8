/**
 * Checks of whole trees before a confined backend moves, copies or removes them: a single entry that is
 * denied, protected or secret refuses the operation.
 */
import type { Files } from "../files.ts";
import type { FsEntry } from "../backend.ts";
import { lstatOrNull } from "../fallback/fallback.ts";
import { walkTree } from "../fallback/walk-tree.ts";
import { outside, protectedPath, repositoryPath, secret } from "./outside.ts";
import { joinPath, nameOf, parentOf, relativeTo } from "../paths.ts";
import type { PathResolver } from "./path-resolver.ts";
import { isRepository, isRepositoryMark, repositoryMarksIn } from "./repository.ts";

/** Returns true when the content at a real path is a secret without a grant. */
export type IsHiddenSecret = (real: string, resolver: PathResolver) => boolean;

/**
 * Directories that contain protected places among many ordinary files. They are not protected themselves, but no
 * link may replace one.
 */
const MOVABLE_PARENT_NAMES: ReadonlySet<string> = new Set([
  ...[".config", ".local", ".gradle", ".github", ".agents", ".agent", ".clinerules", ".run"],
  "node_modules",
]);

/** Refuses a link in the place of a directory that contains protected places. */
export function checkLinkName(real: string, path: string, resolver: PathResolver): void {
  const shared = MOVABLE_PARENT_NAMES.has(nameOf(real).toLowerCase()) && resolver.rules.protects;
  if (shared || resolver.rules.check(real).guarded) throw protectedPath(path);
}

/** A tree that is to be moved, copied or removed, and by which rules that is checked. */
export interface TreeTask {
  readonly inner: Files;
  /** The real path of the tree. */
  readonly source: string;
  /** The real path to which it is moved or copied; that of the tree where it is removed. */
  readonly target: string;
  /** The path that an error names, as the caller gave it. */
  readonly path: string;
  readonly resolver: PathResolver;
  readonly isHidden: IsHiddenSecret;
  readonly signal: AbortSignal | undefined;
}

/**
 * Refuses to remove or move a tree that contains a denied or protected entry, at its old or its
 * new path.
 */
export async function checkTree(task: TreeTask): Promise<void> {
  const { inner, source, target, path, resolver, isHidden } = task;
  const { rules } = resolver;
  for await (const entry of await walkIfRules(task, inner)) {
    // A tree that moves must not take the parts of a repository to a place where git could find them.
    if (
      target !== source &&
      isRepositoryMark(entry.name) &&
      isRepository(await repositoryMarksIn(inner, parentOf(entry.path)))
    )
      throw repositoryPath(path);
    const here = rules.check(entry.path);
    const there = rules.check(target + entry.path.slice(source.length));
    if (here.denied || there.denied) throw outside(path, "write");
    if (here.holds || there.holds || (there.protected && !here.protected)) {
      throw protectedPath(path, "holds a path that is protected from changes");
    }
    if (!there.secret && isHidden(entry.path, resolver)) throw secret(path);
  }
}

/** Refuses to copy a tree to a place where an entry of it would be denied or protected. */
export async function checkCopy(task: TreeTask): Promise<void> {
  const { inner, source, target, path, resolver, isHidden } = task;
  const { rules } = resolver;
  // Denied entries are not copied, so their destination does not matter.
  for await (const entry of await walkIfRules(task, visibleOnly(inner, resolver, source))) {
    if (isRepositoryMark(entry.name)) {
      // The copied marks are checked together with those at the destination, where two trees merge.
      const here = parentOf(entry.path);
      const both = [here, target + here.slice(source.length)].map((directory) =>
        repositoryMarksIn(inner, directory),
      );
      if (isRepository((await Promise.all(both)).flat())) throw repositoryPath(path);
    }
    const there = rules.check(target + entry.path.slice(source.length));
    if (there.denied) throw outside(path, "write");
    if (there.protected) throw protectedPath(path, "would hold a path that is protected from changes");
    if (!there.secret && isHidden(entry.path, resolver)) throw secret(entry.path);
  }
}

/** Walks a tree as `listed` shows it. Empty without rules, or if it is no directory: then there is nothing to check. */
async function walkIfRules(
  { inner, source, resolver, signal }: TreeTask,
  listed: Pick<Files, "listDir">,
): Promise<AsyncIterable<FsEntry> | readonly FsEntry[]> {
  if (!resolver.rules.any || (await lstatOrNull(inner, source))?.type !== "dir") return [];
  return walkTree(listed, source, signal);
}

/**
 * The inner backend for a walk below a real path: without the entries that are denied, by their real
 * path or by the name under which the walk was asked for.
 */
export function visibleOnly(
  inner: Files,
  resolver: PathResolver,
  real: string,
  named: string = real,
): Pick<Files, "listDir"> {
  const { rules } = resolver;
  return {
    listDir: async (path, options) => {
      const visible = rules.visible(path, await inner.listDir(path, options));
      if (named === real) return visible;
      const below = relativeTo(path, real);
      return rules.visible(below === null || below === "." ? named : joinPath(named, below), visible);
    },
  };
}
