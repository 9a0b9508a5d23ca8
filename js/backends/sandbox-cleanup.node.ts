/**
 * What happens after a command: protected places that it made are removed, and
 * repositories that it made are kept without what git would run.
 *
 * A mount can only cover what exists, so a command can make `.git/commondir` or
 * `.vscode/tasks.json` where there was none. Every process of the command has ended
 * before this runs.
 */
import { randomBytes } from "node:crypto";
import { lstat, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { reduceGitConfig } from "./git-config.ts";
import { isWithin } from "./paths.ts";
import type { RepositoryEntry, ScanResult } from "./sandbox-native.node.ts";

/** What was done after a command. Absolute paths. */
export interface Cleanup {
  readonly removed: readonly string[];
  readonly repositories: readonly string[];
}

/** A config beyond this is no repository's own, and is emptied. */
const MAX_CONFIG_BYTES = 1024 * 1024;

/** Removes what appeared between two scans and is protected; reduces repositories that appeared. */
export async function cleanUp(before: ScanResult, after: ScanResult): Promise<Cleanup> {
  // By path or by identity: what was changed or moved was there before. A link is known by
  // both, since it cannot be covered, and the number of one that was removed is given again.
  const known = new Set(
    before.protected.flatMap(({ path, type, id }) =>
      type === "link" ? [`${type} ${path} ${id}`] : [`${type} ${path}`, `${type} ${id}`],
    ),
  );
  const repositories = new Set(before.repositories.map(({ id }) => id));
  const made = after.repositories.filter(({ id }) => !repositories.has(id));
  const removed: string[] = [];
  const remove = async ({ path, bytes }: { path: string; bytes?: string }): Promise<void> => {
    const place = bytes === undefined ? path : Buffer.from(bytes, "hex");
    await rm(place as string, { recursive: true, force: true });
    removed.push(path);
  };
  const kept: RepositoryEntry[] = [];
  for (const repository of made) {
    const named = repository.kind !== "file" || (await namesRepository(repository.path, after.repositories));
    // Git names what it makes in UTF-8 where a person did.
    if (repository.bytes !== undefined || !named) {
      await remove(repository);
      continue;
    }
    if (repository.kind !== "file") await reduce(repository);
    kept.push(repository);
  }
  for (const place of after.protected) {
    const { path, type, id } = place;
    if (known.has(`${type} ${path} ${id}`) || known.has(`${type} ${path}`) || known.has(`${type} ${id}`))
      continue;
    const ofKept = kept.some((repository) => repository.kind !== "file" && isWithin(path, repository.path));
    if (!ofKept && !removed.some((one) => isWithin(path, one))) await remove(place);
  }
  return { removed, repositories: kept.map(({ path }) => path) };
}

/** Takes from a repository whatever git would run or follow. */
async function reduce({ path, kind }: RepositoryEntry): Promise<void> {
  const drop = (name: string): Promise<void> => rm(join(path, name), { recursive: true, force: true });
  await drop("hooks");
  await drop("config.worktree");
  for (const name of ["info", "modules", "worktrees"]) if (await isLink(join(path, name))) await drop(name);
  await drop("info/attributes");
  // Of a linked worktree it leads to the repository, which is two directories up.
  const common = await readSmall(join(path, "commondir"));
  if (common !== undefined && !(kind === "worktree" && common.trimEnd() === "../..")) await drop("commondir");
  const config = join(path, "config");
  const text = await readSmall(config);
  if (text === undefined) return;
  const temporary = join(path, `config.${randomBytes(8).toString("hex")}`);
  await writeFile(temporary, reduceGitConfig(text), { flag: "wx", mode: 0o644 });
  await rm(config, { recursive: true, force: true });
  await rename(temporary, config);
}

/** Whether a `.git` file names a repository that the scan found, and nothing else. */
async function namesRepository(path: string, repositories: readonly RepositoryEntry[]): Promise<boolean> {
  const named = /^gitdir: ([^\n\0]+)\n?$/u.exec((await readSmall(path)) ?? "")?.[1];
  if (named === undefined) return false;
  const target = resolve(dirname(path), named);
  return repositories.some((one) => one.kind !== "file" && one.path === target);
}

async function isLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isSymbolicLink() === true;
}

/** The text of a regular file; empty for anything else that is there, undefined for nothing. */
async function readSmall(path: string): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (!found.isFile() || found.size > MAX_CONFIG_BYTES) return "";
  return readFile(path, "utf8");
}
