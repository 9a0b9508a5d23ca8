/**
 * Several files changed as one: all of them, or none.
 *
 * Everything is written or deleted on the condition that it is still what the plan read; the first operation that
 * fails has those before it rolled back.
 */
import type { Durability, FsBackend, WriteOptions, WriteResult } from "../backends/backend.ts";
import { lstatOrNull, writeVia } from "../backends/fallback.ts";
import { deleteVia } from "../backends/fallback-tree.ts";
import { FilewrightError } from "../engine/errors.ts";
import { transact } from "../journal/transaction.ts";
import { currentVersion, movedOn } from "./contents.ts";

/** What a file is, or is to be. */
export interface FileState {
  readonly bytes: Uint8Array;
  /** Permission bits; absent where the backend has none, or the default is meant. */
  readonly mode?: number | undefined;
}

/** The change of one file; null is no file. */
export interface FileChange {
  readonly path: string;
  readonly before: (FileState & { readonly version: string }) | null;
  readonly after: FileState | null;
}

/** How a commit is written. */
export interface CommitOptions {
  readonly durability: Durability;
  readonly signal: AbortSignal | undefined;
}

/**
 * Makes all changes or none. Whoever calls holds the locks of the paths.
 * Gives what each write made, by path.
 * @throws FilewrightError CONFLICT where a file is not what the plan read; whatever a write throws, all rolled back
 */
export async function commitAll(
  fs: FsBackend,
  changes: readonly FileChange[],
  options: CommitOptions,
): Promise<ReadonlyMap<string, WriteResult>> {
  for (const { path, before } of changes) {
    const version = await versionNow(fs, path);
    if (version === (before?.version ?? null)) continue;
    throw new FilewrightError("CONFLICT", "changed since it was read", { path });
  }
  // What goes, goes last: until then its content is on the disk twice rather than not at all.
  const ordered = [...changes].sort((a, b) => Number(a.after === null) - Number(b.after === null));
  const made = new Map<string, WriteResult>();
  await transact(fs, async (own) => {
    for (const change of ordered) made.set(change.path, await make(own, change, options));
  });
  return made;
}

async function versionNow(fs: FsBackend, path: string): Promise<string | null> {
  return (await lstatOrNull(fs, path)) === null ? null : currentVersion(fs, path, false);
}

/** Makes one change. */
async function make(fs: FsBackend, change: FileChange, options: CommitOptions): Promise<WriteResult> {
  const { path, before, after } = change;
  const condition: WriteOptions = {
    ...options,
    ...(after?.mode === undefined ? {} : { mode: after.mode }),
    ...(before === null ? { ifAbsent: true, createDirs: true } : { ifVersion: before.version }),
  };
  try {
    if (after !== null) return await writeVia(fs, path, after.bytes, condition);
    await deleteVia(fs, path, { ifVersion: before?.version });
    return {};
  } catch (error) {
    throw movedOn(error, condition, true);
  }
}
