/**
 * Rewrites a file in place: only when it cannot be replaced without another owner, or when its directory accepts
 * no new names. The old content is kept in memory and put back if anything fails; a process that is killed
 * meanwhile leaves a mixture.
 */
import type { BigIntStats } from "node:fs";
import * as fs from "node:fs";
import type { WriteResult } from "../backend.ts";
import { backendError } from "../failure.ts";
import { osError, pathChanged } from "./errors.node.ts";
import { fileIdOf, versionOf } from "./facts.node.ts";
import { openFileIn, type PinnedDirectory, REWRITE_FLAGS } from "./pinned.node.ts";

/** Writes the new content of a file to a descriptor, at its beginning. */
export type WriteContent = (fd: number) => void | Promise<void>;

/** The maximum size in bytes of a file that is rewritten in place, because its old content is held in memory. */
const MAX_BACKUP_BYTES = 64n << 20n;

/** The content to write in place. */
export interface Rewrite {
  readonly content: WriteContent;
  /** Called with the descriptor after the content. */
  readonly finish: (fd: number) => Promise<void>;
  /** True when `finish` sets the mode, which is then put back too if it fails. */
  readonly setsMode: boolean;
}

/** Rewrites a file. @throws IO_ERROR when its content is incomplete */
export async function rewriteInPlace(
  path: string,
  directory: PinnedDirectory,
  name: string,
  old: BigIntStats,
  { content, finish, setsMode }: Rewrite,
): Promise<WriteResult> {
  if (old.size > MAX_BACKUP_BYTES)
    throw backendError(
      "PERMISSION_DENIED",
      path,
      "the directory does not allow the file to be replaced, and it is too large to be rewritten in place",
    );
  const { fd, facts } = openFileIn(directory, name, REWRITE_FLAGS);
  try {
    if (versionOf(facts) !== versionOf(old)) throw pathChanged(path);
    const backup = fs.readFileSync(fd);
    try {
      fs.ftruncateSync(fd, 0);
      await content(fd);
      await finish(fd);
    } catch (error) {
      restore(path, fd, backup, error);
      if (setsMode) restoreMode(fd, facts);
      throw error;
    }
    const now = fs.fstatSync(fd, { bigint: true });
    return Object.freeze({ version: versionOf(now), fileId: fileIdOf(now), inPlace: true });
  } finally {
    fs.closeSync(fd);
  }
}

/** Puts the old content back after a failure. @throws IO_ERROR when the content is incomplete */
function restore(path: string, fd: number, backup: Buffer, failure: unknown): void {
  try {
    for (let done = 0; done < backup.length; )
      done += fs.writeSync(fd, backup, done, backup.length - done, done);
    fs.ftruncateSync(fd, backup.length);
  } catch (error) {
    throw backendError(
      "IO_ERROR",
      path,
      `the content is incomplete: writing it failed (${messageOf(failure, path)}), ` +
        `and so did putting the old content back (${messageOf(error, path)})`,
      { hint: "write the file again" },
    );
  }
}

function restoreMode(fd: number, { mode }: BigIntStats): void {
  try {
    fs.fchmodSync(fd, Number(mode & 0o7777n));
  } catch {
    // The content is whole, and the first error tells why the write failed.
  }
}

function messageOf(error: unknown, path: string): string {
  const told = osError(error, path);
  return told instanceof Error ? told.message : String(told);
}
