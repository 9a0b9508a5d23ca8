/**
 * The repository of a directory whose `.git` is a file: of a submodule, or of a linked worktree
 * (`gitrepository-layout(5)`).
 *
 * An agent can write a `.git` file. What a backend reads, it may read wherever that file leads. A confined backend
 * follows it out of its roots only to a worktree that git made for this very directory ({@link linkedRepository}).
 */
import type { Files } from "../files.ts";
import { engine } from "../../engine/current.ts";
import { IGNORE_LIMITS } from "../../engine/generated/records.ts";
import { childOf, isWithin, joinPath, nameOf, normalise, parentOf } from "../paths.ts";

/** The directories of a linked worktree. Paths are absolute and real. */
export interface LinkedRepository {
  /** The directory of the worktree alone, such as `/repo/.git/worktrees/a`. */
  readonly own: string;
  /** The directory that the worktrees of the repository share, such as `/repo/.git`. */
  readonly common: string;
}

/** The part of files through which repositories are read. */
export type RepositorySource = Pick<Files, "stat" | "lstat" | "realpath" | "readBytes" | "gitExclude">;

/** The text before the path in a `.git` file. */
const GIT_FILE_KEY = "gitdir: ";
/** The content of `worktrees/NAME/commondir` as git writes it. */
const COMMON_DIRECTORY = "../..";

/** Returns the directory that a `.git` file names, absolute; undefined for any other entry. */
async function namedGitDirectory(fs: RepositorySource, directory: string): Promise<string | undefined> {
  const named = await gitPathAt(fs, childOf(directory, ".git"), GIT_FILE_KEY);
  return named === undefined ? undefined : resolveFrom(directory, named);
}

/** Returns the path that the content of a `.git` file names, as it is written there; undefined for other content. */
export function gitFileTarget(content: Uint8Array): string | undefined {
  return engine().gitPathIn(content, GIT_FILE_KEY);
}

/**
 * Returns the content of `info/exclude` of the repository that the `.git` file of a directory names; undefined without
 * one. `visit` is called with each directory whose change would change the result, before it is read.
 */
export async function excludeOfNamedRepository(
  fs: RepositorySource,
  directory: string,
  visit: (directory: string) => void = () => undefined,
): Promise<Uint8Array | undefined> {
  const named = await namedGitDirectory(fs, directory);
  if (named === undefined) return undefined;
  try {
    const own = await fs.realpath(named);
    visit(own);
    const path = await gitPathAt(fs, childOf(own, "commondir"), "");
    const shared = path === undefined ? own : resolveFrom(own, path);
    visit(childOf(shared, "info"));
    const content = await readExclude(fs, shared);
    if (content !== undefined) return content;
  } catch {
    // The directory is missing, or outside the roots.
  }
  return fs.gitExclude(directory);
}

/** Returns the content of `info/exclude` of the repository of a linked worktree; undefined without one. */
export async function excludeOfWorktree(
  fs: RepositorySource,
  worktree: string,
): Promise<Uint8Array | undefined> {
  const repository = await linkedRepository(fs, worktree);
  return repository === undefined ? undefined : readExclude(fs, repository.common);
}

/**
 * Returns the repository of which git made a directory a linked worktree; undefined where either side does not name the
 * other. The directory that `.git` names is an entry `worktrees/NAME` of the shared directory and names this `.git`
 * itself. `worktree` is a real path.
 */
export async function linkedRepository(
  fs: RepositorySource,
  worktree: string,
): Promise<LinkedRepository | undefined> {
  try {
    const named = await namedGitDirectory(fs, worktree);
    // Nothing is touched for a path that cannot be that of a worktree.
    if (named === undefined || !isWorktreeEntry(named)) return undefined;
    const own = await realPath(fs, named);
    const common = parentOf(parentOf(own));
    if (!isWorktreeEntry(own) || (await gitPathAt(fs, childOf(own, "commondir"), "")) !== COMMON_DIRECTORY)
      return undefined;
    const back = await gitPathAt(fs, childOf(own, "gitdir"), "");
    if (back === undefined || nameOf(back) !== ".git") return undefined;
    if ((await realPath(fs, parentOf(resolveFrom(own, back)))) !== worktree) return undefined;
    const kinds = ["HEAD", "objects", "refs"].map(async (name) => typeAt(fs, childOf(common, name)));
    const [head, objects, refs] = await Promise.all(kinds);
    return head === "file" && objects === "dir" && refs === "dir" ? { own, common } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the repository that the `.git` file of a directory names: of a linked worktree anywhere, any other one only
 * below `root`, a real path. Undefined for any other entry.
 */
export async function namedRepository(
  fs: RepositorySource,
  directory: string,
  root: string,
): Promise<string | undefined> {
  const linked = await linkedRepository(fs, directory);
  const named = linked === undefined ? await namedGitDirectory(fs, directory) : undefined;
  if (named === undefined) return linked?.common;
  try {
    const own = await realPath(fs, named);
    return isWithin(own, root) ? own : undefined;
  } catch {
    return undefined;
  }
}

/** Returns true for an entry of a directory `worktrees` that is not at the top. */
function isWorktreeEntry(path: string): boolean {
  const worktrees = parentOf(path);
  return nameOf(worktrees) === "worktrees" && parentOf(worktrees) !== "/";
}

/** Returns the content of `info/exclude` of a repository; undefined without one, and where a link is in its place. */
async function readExclude(fs: RepositorySource, repository: string): Promise<Uint8Array | undefined> {
  const info = childOf(repository, "info");
  return (await typeAt(fs, info)) === "dir"
    ? readSmallFile(fs, childOf(info, "exclude"), IGNORE_LIMITS.maxFileBytes)
    : undefined;
}

/** Returns the path in a small file of git; undefined where there is no such file. */
async function gitPathAt(fs: RepositorySource, file: string, key: string): Promise<string | undefined> {
  const content = await readSmallFile(fs, file, IGNORE_LIMITS.maxGitFileBytes);
  return content === undefined ? undefined : engine().gitPathIn(content, key);
}

/** Returns the content of a regular file of at most `limit` bytes; undefined for any other entry. */
async function readSmallFile(
  fs: RepositorySource,
  path: string,
  limit: number,
): Promise<Uint8Array | undefined> {
  try {
    const { type, size } = await fs.lstat(path);
    if (type !== "file" || size > limit) return undefined;
    const content = await fs.readBytes(path);
    return content.length <= limit ? content : undefined;
  } catch {
    return undefined;
  }
}

async function typeAt(fs: RepositorySource, path: string): Promise<string | undefined> {
  try {
    return (await fs.lstat(path)).type;
  } catch {
    return undefined;
  }
}

async function realPath(fs: RepositorySource, path: string): Promise<string> {
  return fs.realpath(path);
}

function resolveFrom(base: string, path: string): string {
  return path.startsWith("/") ? normalise(path).path : normalise(joinPath(base, path)).path;
}
