/**
 * Missing parent directories, made for an operation and taken away again when it
 * fails: a refused call leaves nothing behind.
 */
import type { FsBackend } from "../backends/backend.ts";
import { lstatOrNull, missingParents } from "../backends/fallback.ts";
import { FilewrightError } from "../engine/errors.ts";

/** Runs `action` with the parents of `path` in place. @throws NOT_FOUND where they are missing and not wanted */
export async function withParents<T>(
  fs: FsBackend,
  path: string,
  create: boolean,
  action: () => Promise<T>,
): Promise<T> {
  const missing = await missingParents(fs, path);
  if (missing.length === 0) return action();
  if (!create) throw new FilewrightError("NOT_FOUND", "the parent directory does not exist", { path });
  const made = await make(fs, missing);
  try {
    return await action();
  } catch (error) {
    await removeMade(fs, made);
    throw error;
  }
}

/** Makes directories; gives those that were not there before, innermost first. */
async function make(fs: FsBackend, missing: readonly string[]): Promise<readonly string[]> {
  const made: string[] = [];
  for (const directory of [...missing].reverse()) {
    try {
      await fs.mkdir(directory, { parents: true, existOk: false });
      made.unshift(directory);
    } catch (error) {
      // Somebody else has made it meanwhile: it is not ours to take away.
      if (error instanceof FilewrightError && error.code === "ALREADY_EXISTS") continue;
      await removeMade(fs, made);
      throw error;
    }
  }
  return made;
}

/** Removes directories that were made for something that failed, innermost first. */
export async function removeMade(fs: FsBackend, made: readonly string[]): Promise<void> {
  for (const directory of made) {
    try {
      // A link or a file that has taken its place is not ours.
      if ((await lstatOrNull(fs, directory))?.isDir !== true) return;
      await fs.delete(directory);
    } catch {
      return; // Somebody else has put something there: it is theirs now.
    }
  }
}
