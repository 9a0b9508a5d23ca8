/**
 * Cleans up after a command: protected places that it made are removed, and repositories that it
 * made lose the files that git would run.
 *
 * A mount can only cover existing entries, so a command can make `.git/commondir` or
 * `.vscode/tasks.json` where there was none. Every process of the command has ended before this
 * runs, but another command may be running in the same tree: everything is done by descriptors
 * from a writable root, following no link.
 */
import { dirname, relative, resolve } from "node:path";
import { FilewrightError } from "../../engine/errors.ts";
import type { NativeBinding } from "../../engine/load.node.ts";
import { reduceGitConfig } from "../confined/git-config.ts";
import { isBelowAny, isWithin } from "../paths.ts";
import { gitFileTarget } from "../walk/git-directory.ts";
import {
  type ProtectedEntry,
  rethrowNativeError,
  type RepositoryEntry,
  type ScannedEntry,
  type ScanResult,
} from "./sandbox-native.node.ts";

/** The entries that the cleanup after a command removed or changed, as absolute paths. */
export interface Cleanup {
  readonly removed: readonly string[];
  readonly repositories: readonly string[];
}

/** Reads and changes entries below the writable roots of commands. */
export interface WritableTree {
  /** Removes an entry, whatever its permission bits. */
  remove(place: ScannedEntry): Promise<void>;
  /** Returns the text of a small regular file; empty for any other entry, undefined where none exists. */
  read(path: string): Promise<string | undefined>;
  /** Writes a file, replacing any entry. */
  replace(path: string, text: string): Promise<void>;
}

/**
 * The maximum size of a git config, in bytes. Git does not write a larger one, but a command can; it reads as
 * empty, so the cleanup replaces it by an empty file.
 */
const MAX_GIT_CONFIG_BYTES = 1024 * 1024;

/** Returns access to the entries below these roots. */
export function writableTree(native: NativeBinding, roots: readonly string[]): WritableTree {
  const rootOf = (path: string): string => {
    const above = roots.filter((root) => isWithin(path, root)).sort((a, b) => b.length - a.length);
    return above[0] ?? "";
  };
  const hex = ({ path, bytes }: ScannedEntry): string => bytes ?? Buffer.from(path).toString("hex");
  const at = (path: string): [root: string, path: string] => [rootOf(path), hex({ path, id: "" })];
  return {
    remove: (place) => native.sandboxRemove(rootOf(place.path), hex(place)).catch(rethrowNativeError),
    read: async (path) =>
      (await native.sandboxRead(...at(path), MAX_GIT_CONFIG_BYTES).catch(rethrowNativeError)) ?? undefined,
    replace: (path, text) => native.sandboxReplace(...at(path), text).catch(rethrowNativeError),
  };
}

/**
 * Removes protected entries that a command made, and reduces repositories that it made.
 * @throws FilewrightError where an entry cannot be removed, after everything else is done
 */
export async function cleanUpAfterCommand(
  isKnown: ExistingEntries,
  after: ScanResult,
  places: WritableTree,
): Promise<Cleanup> {
  const removed = new Set<string>();
  const failures: unknown[] = [];
  /** Runs a step and collects its error, so that the cleanup goes on with the other entries. */
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    await work().catch((error: unknown) => failures.push(error));
  };
  const remove = (place: ScannedEntry): Promise<void> =>
    attempt(async () => {
      await places.remove(place);
      removed.add(place.path);
    });
  const directories = new Set(
    after.repositories.flatMap(({ path, kind }) => (kind === "file" ? [] : [path])),
  );
  const kept = new Map<string, RepositoryEntry>();
  for (const repository of after.repositories.filter((one) => !isKnown.repository(one))) {
    const named =
      repository.kind !== "file" || directories.has(await gitDirTargetOf(repository.path, places));
    // Git names its files in UTF-8 when a user ran it.
    if (repository.bytes === undefined && named) kept.set(repository.path, repository);
    else await remove(repository);
  }
  for (const place of after.protected) {
    const own = kept.get(repositoryDirOf(place.path));
    if (own !== undefined && own.kind !== "file")
      await attempt(() => cleanRepositoryEntry(place, own, places));
    else if (!isKnown.place(place) && !isBelowAny(place.path, kept) && !isBelowAny(place.path, removed))
      await remove(place);
  }
  if (failures.length > 0) throw placeNotRemovedError(failures[0]);
  return { removed: [...removed], repositories: [...kept.keys()] };
}

/** Identifies the entries that existed before a command. */
export interface ExistingEntries {
  place(place: ProtectedEntry): boolean;
  repository(repository: RepositoryEntry): boolean;
}

/** Returns the entries that existed before a command. */
export function existingEntriesIn(before: ScanResult): ExistingEntries {
  // By identity: an entry that was changed or moved existed before. By path, where the directory is the
  // same: an editor saves a file by replacing it. A link needs both, since it cannot be covered.
  const known = new Set(
    before.protected
      .filter(({ id, parent }) => id !== "" && parent !== "")
      .flatMap(({ path, type, id, parent }) =>
        type === "link" ? [`${type} ${path} ${id}`] : [`${type} ${parent} ${path}`, `${type} ${id}`],
      ),
  );
  const repositories = new Set(before.repositories.map(({ id }) => id).filter((id) => id !== ""));
  return {
    place: ({ path, type, id, parent }) =>
      [`${type} ${path} ${id}`, `${type} ${parent} ${path}`, `${type} ${id}`].some((one) => known.has(one)),
    repository: ({ id }) => repositories.has(id),
  };
}

/** Returns the directory of the repository to which a place would belong. */
function repositoryDirOf(path: string): string {
  const directory = dirname(path);
  return /\/info\/attributes$/iu.test(path) ? dirname(directory) : directory;
}

/** Removes an entry of a repository that git would run or follow, or reduces it to what git itself writes. */
async function cleanRepositoryEntry(
  place: ProtectedEntry,
  { path, kind }: RepositoryEntry,
  places: WritableTree,
): Promise<void> {
  const name = relative(path, place.path);
  if (name === "config") {
    const text = place.type === "file" ? await places.read(place.path) : "";
    return places.replace(place.path, reduceGitConfig(text ?? ""));
  }
  // In a linked worktree, `commondir` leads to the repository, which is two directories up.
  if (name === "commondir" && kind === "worktree" && (await places.read(place.path))?.trimEnd() === "../..")
    return;
  await places.remove(place);
}

/** Returns the directory that a `.git` file names, if that is all the file contains; otherwise "". */
async function gitDirTargetOf(path: string, places: WritableTree): Promise<string> {
  const named = gitFileTarget(new TextEncoder().encode((await places.read(path)) ?? ""));
  return named === undefined ? "" : resolve(dirname(path), named);
}

/** Returns the error for an entry of a command that could not be removed. */
function placeNotRemovedError(error: unknown): unknown {
  if (!(error instanceof FilewrightError)) return error;
  return new FilewrightError(
    error.code,
    `A protected place that the command made could not be removed: ${error.message}`,
    { complete: true, hint: "remove it before another program obeys it" },
  );
}
