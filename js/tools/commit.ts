/**
 * Several files changed as one: all of them, or none.
 *
 * Everything is written on the condition that it is still what the plan read;
 * the first write that fails has those before it taken back. Nothing here
 * survives the end of the process amid a commit.
 */
import type { Durability, FsBackend, WriteOptions } from "../backends/backend.ts";
import { lstatOrNull, missingParents, writeVia } from "../backends/fallback.ts";
import { FilewrightError } from "../engine/errors.ts";
import { currentVersion, movedOn } from "./contents.ts";
import { removeMade } from "./parents.ts";

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
 * @throws FilewrightError CONFLICT where a file is not what the plan read; whatever a write throws, all undone
 */
export async function commitAll(
  fs: FsBackend,
  changes: readonly FileChange[],
  options: CommitOptions,
): Promise<void> {
  for (const { path, before } of changes) {
    const version = await versionNow(fs, path);
    if (version === (before?.version ?? null)) continue;
    throw new FilewrightError("CONFLICT", "changed since it was read", { path });
  }
  const undo: (() => Promise<void>)[] = [];
  // What goes, goes last: until then its content is on the disk twice rather than not at all.
  const ordered = [...changes].sort((a, b) => Number(a.after === null) - Number(b.after === null));
  try {
    for (const change of ordered) undo.push(await make(fs, change, options));
  } catch (error) {
    throw await takenBack(undo, error);
  }
}

async function versionNow(fs: FsBackend, path: string): Promise<string | null> {
  return (await lstatOrNull(fs, path)) === null ? null : currentVersion(fs, path, false);
}

/** Makes one change; gives what undoes it. */
async function make(fs: FsBackend, change: FileChange, options: CommitOptions): Promise<() => Promise<void>> {
  const { path, before, after } = change;
  const again: WriteOptions = { durability: options.durability };
  if (after === null) {
    await fs.delete(path);
    return async () => {
      if (before !== null)
        await writeVia(fs, path, before.bytes, { ...again, ...modeOf(before), ifAbsent: true });
    };
  }
  const made = before === null ? await missingParents(fs, path) : [];
  const condition: WriteOptions = {
    ...options,
    ...modeOf(after),
    ...(before === null ? { ifAbsent: true, createDirs: true } : { ifVersion: before.version }),
  };
  let written: { readonly version?: string };
  try {
    written = await writeVia(fs, path, after.bytes, condition);
  } catch (error) {
    throw movedOn(error, condition, true);
  }
  return async () => {
    if (before === null) {
      await fs.delete(path);
      await removeMade(fs, made);
      return;
    }
    const still = written.version === undefined ? {} : { ifVersion: written.version };
    await writeVia(fs, path, before.bytes, { ...again, ...modeOf(before), ...still });
  };
}

function modeOf({ mode }: FileState): { readonly mode?: number } {
  return mode === undefined ? {} : { mode };
}

/** Undoes in reverse; the error to throw, which says so where something could not be undone. */
async function takenBack(undo: (() => Promise<void>)[], error: unknown): Promise<unknown> {
  let failed = 0;
  for (const step of undo.reverse()) {
    try {
      await step();
    } catch {
      failed++; // The others are taken back all the same.
    }
  }
  if (failed === 0) return error;
  return new FilewrightError(
    "IO_ERROR",
    `${failed} of ${undo.length} written files could not be taken back`,
    {
      cause: error,
      hint: "compare the files of the patch with what they should be",
      details: { not_taken_back: failed },
    },
  );
}
