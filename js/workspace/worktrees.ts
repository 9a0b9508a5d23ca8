/**
 * The repositories of roots that are linked worktrees of git (`git worktree add`): their data is outside the root, so
 * commands need the directory that all worktrees of the repository share.
 *
 * An agent may write inside a root, `.git` as well. So a `.git` file is followed only to a directory
 * that git made for this very root: the directory names the root's `.git` file, it is the entry `worktrees/NAME` of the
 * shared directory, and nothing of it is in a root. That is decided once, when a workspace opens, on real paths. A
 * submodule, `git init --separate-git-dir`, and a worktree inside its own shared directory are not followed.
 */
import type { FsBackend } from "../backends/backend.ts";
import { isWithin, joinPath, nameOf, normalise, parentOf } from "../backends/paths.ts";

/** A root that is a linked worktree, and the directory of its repository. Paths are absolute and real. */
export interface LinkedWorktree {
  readonly root: string;
  /** The directory that the worktrees of the repository share, such as `/repo/.git`. */
  readonly common: string;
}

/** The maximum size of a file that contains a path, in bytes. */
const MAX_LINK_BYTES = 8192;
/** The content of `worktrees/NAME/commondir` as git writes it. */
const COMMON_DIRECTORY = "../..";

/**
 * Returns the roots that are linked worktrees. `roots` are real paths; `kept` are directories that no repository may
 * contain, such as the state directories and the home directory.
 */
export async function linkedWorktrees(
  fs: FsBackend,
  roots: readonly string[],
  kept: readonly string[],
): Promise<readonly LinkedWorktree[]> {
  const found: LinkedWorktree[] = [];
  for (const root of new Set(roots)) {
    const common = await commonDirectoryOf(fs, root).catch(() => undefined);
    if (common === undefined || [...roots, ...kept].some((path) => isWithin(path, common))) continue;
    if (!roots.some((one) => isWithin(common, one))) found.push({ root, common });
  }
  return Object.freeze(found);
}

/** Returns the shared directory of the repository of which a root is a linked worktree. @throws where it cannot look */
async function commonDirectoryOf(fs: FsBackend, root: string): Promise<string | undefined> {
  const link = joinPath(root, ".git");
  const target = /^gitdir: ([^\n\0]+)\n?$/u.exec((await readLink(fs, link)) ?? "")?.[1];
  if (target === undefined) return undefined;
  const own = await realPath(fs, resolveFrom(root, target));
  const worktrees = parentOf(own);
  const common = parentOf(worktrees);
  if (nameOf(worktrees) !== "worktrees" || common === "/") return undefined;
  if ((await readLink(fs, joinPath(own, "commondir")))?.trimEnd() !== COMMON_DIRECTORY) return undefined;
  const back = /^([^\n\0]+)\n?$/u.exec((await readLink(fs, joinPath(own, "gitdir"))) ?? "")?.[1];
  if (back === undefined || nameOf(back) !== ".git") return undefined;
  if ((await realPath(fs, parentOf(resolveFrom(own, back)))) !== root) return undefined;
  const kinds = ["HEAD", "objects", "refs"].map(
    async (name) => (await lstat(fs, joinPath(common, name))).type,
  );
  const [head, objects, refs] = await Promise.all(kinds);
  return head === "file" && objects === "dir" && refs === "dir" ? common : undefined;
}

const resolveFrom = (base: string, path: string): string =>
  path.startsWith("/") ? normalise(path).path : normalise(joinPath(base, path)).path;

async function lstat(fs: FsBackend, path: string) {
  if (fs.lstat === undefined) throw new TypeError("this storage does not tell links from files");
  return fs.lstat(path);
}

async function realPath(fs: FsBackend, path: string): Promise<string> {
  if (fs.realpath === undefined) throw new TypeError("this storage does not resolve links");
  return fs.realpath(path);
}

/** Returns the text of a small regular file that contains a path; undefined for any other entry. */
async function readLink(fs: FsBackend, path: string): Promise<string | undefined> {
  const { type, size } = await lstat(fs, path);
  if (type !== "file" || size > MAX_LINK_BYTES) return undefined;
  return new TextDecoder("utf-8", { fatal: true }).decode(await fs.readBytes(path));
}
