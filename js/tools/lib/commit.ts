/**
 * Changes several files as one: all or none.
 *
 * Every write and deletion requires the version that the plan read; when one fails, those before
 * it are rolled back.
 */
import type { Durability, FsBackend, WriteOptions, WriteResult } from "../../backends/backend.ts";
import { lstatOrNull, writeVia } from "../../backends/fallback/fallback.ts";
import { deleteVia } from "../../backends/fallback/fallback-tree.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { transact } from "../../backends/transaction/transaction.ts";
import { Yielder } from "../../engine/yielder.ts";
import { currentVersion, toConflict } from "./contents.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";

/** The current or new state of a file. */
export interface FileState {
  readonly bytes: Uint8Array;
  /** The permission bits; undefined when the backend has none, or for those of a new file. */
  readonly mode?: number | undefined;
}

/** The change of one file; null means that the file does not exist. */
export interface FileChange {
  readonly path: string;
  readonly before: (FileState & { readonly version: string }) | null;
  readonly after: FileState | null;
}

/** The options of {@link commitFileChanges} for each write. */
export interface CommitOptions {
  readonly durability: Durability;
  readonly signal: AbortSignal | undefined;
}

/**
 * Makes all changes or none. The caller holds the locks of the paths. Returns the result of each
 * write, by path.
 * @throws FilewrightError CONFLICT when a file has another version than the plan read; any error
 * of a write, after the rollback
 */
export async function commitFileChanges(
  fs: FsBackend,
  changes: readonly FileChange[],
  options: CommitOptions,
): Promise<ReadonlyMap<string, WriteResult>> {
  const yielder = new Yielder({ signal: options.signal });
  for (const { path, before } of changes) {
    await yielder.yieldIfDue();
    const version = await currentVersionOf(fs, path);
    if (version === (before?.version ?? null)) continue;
    throw new FilewrightError("CONFLICT", "changed since it was read", { path });
  }
  // Deletions come last, so that the content of a moved file is on the disk twice for a moment, and never
  // missing.
  const ordered = [...changes].sort((a, b) => Number(a.after === null) - Number(b.after === null));
  const made = new Map<string, WriteResult>();
  await transact(fs, async (own) => {
    for (const change of ordered) {
      await yielder.yieldIfDue();
      made.set(change.path, await makeFileChange(own, change, options));
    }
  });
  return made;
}

async function currentVersionOf(fs: FsBackend, path: string): Promise<string | null> {
  return (await lstatOrNull(fs, path)) === null ? null : currentVersion(fs, path, false);
}

/**
 * Makes one change, on the condition that the file has the version that the plan read. @throws
 * FilewrightError CONFLICT
 */
async function makeFileChange(
  fs: FsBackend,
  change: FileChange,
  options: CommitOptions,
): Promise<WriteResult> {
  const { path, before, after } = change;
  const isNew = before === null ? true : undefined;
  const condition: WriteOptions = withoutUndefined({
    ...options,
    mode: after?.mode,
    ifAbsent: isNew,
    createDirs: isNew,
    ifVersion: before?.version,
  });
  try {
    if (after !== null) return await writeVia(fs, path, after.bytes, condition);
    await deleteVia(fs, path, { ifVersion: before?.version });
    return {};
  } catch (error) {
    throw toConflict(error, condition, true);
  }
}
