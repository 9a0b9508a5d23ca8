/**
 * Creates missing parent directories for an operation and removes them again when it fails: a
 * refused call leaves nothing behind.
 */
import type { FsBackend } from "../../backends/backend.ts";
import { missingParents } from "../../backends/fallback/fallback.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { transact } from "../../backends/transaction/transaction.ts";

/**
 * Runs `action` after creating the parents of `path`. @throws NOT_FOUND when they are missing and
 * `create` is false
 */
export async function withParents<T>(
  fs: FsBackend,
  path: string,
  create: boolean,
  action: () => Promise<T>,
): Promise<T> {
  const [parent] = await missingParents(fs, path);
  if (parent === undefined) return action();
  if (!create) throw new FilewrightError("NOT_FOUND", "the parent directory does not exist", { path });
  return transact(fs, async (own) => {
    await own.mkdir(parent, { parents: true, existOk: true });
    return action();
  });
}
