/**
 * Missing parent directories, made for an operation and taken away again when it
 * fails: a refused call leaves nothing behind.
 */
import type { FsBackend } from "../backends/backend.ts";
import { missingParents } from "../backends/fallback.ts";
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
  await fs.mkdir(missing[0] as string, { parents: true, existOk: true });
  try {
    return await action();
  } catch (error) {
    await removeMade(fs, missing);
    throw error;
  }
}

/** Removes directories that were made for something that failed, innermost first. */
export async function removeMade(fs: FsBackend, made: readonly string[]): Promise<void> {
  for (const directory of made) {
    try {
      await fs.delete(directory);
    } catch {
      return; // Somebody else has put something there: it is theirs now.
    }
  }
}
