/**
 * Rewrites a file in place: only when it cannot be replaced without another owner, or when its directory accepts
 * no new names. The old content is kept in memory and put back if anything fails; a process that is killed
 * meanwhile leaves a mixture.
 */
import type { BigIntStats } from "node:fs";
import * as fs from "node:fs";
import type { WriteResult } from "../backend.ts";
import { backendError } from "../failure.ts";
import { pathChanged } from "./errors.node.ts";
import { fileIdOf, versionOf } from "./facts.node.ts";
import { openFileIn, type PinnedDirectory, REWRITE_FLAGS } from "./pinned.node.ts";

/** Writes the new content of a file to a descriptor, at its beginning. */
export type WriteContent = (fd: number) => void | Promise<void>;

/** The maximum size in bytes of a file that is rewritten in place, because its old content is held in memory. */
const MAX_BACKUP_BYTES = 64n << 20n;

/** Rewrites a file, then calls `finish` with its descriptor. */
export async function rewriteInPlace(
  path: string,
  directory: PinnedDirectory,
  name: string,
  old: BigIntStats,
  content: WriteContent,
  finish: (fd: number) => Promise<void>,
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
    } catch (error) {
      fs.writeSync(fd, backup, 0, backup.length, 0);
      fs.ftruncateSync(fd, backup.length);
      throw error;
    }
    await finish(fd);
    const now = fs.fstatSync(fd, { bigint: true });
    return Object.freeze({ version: versionOf(now), fileId: fileIdOf(now), inPlace: true });
  } finally {
    fs.closeSync(fd);
  }
}
