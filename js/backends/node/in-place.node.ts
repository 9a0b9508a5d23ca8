/**
 * Rewrites a file in place: only when it cannot be replaced without another owner, or when its directory accepts
 * no new names. The old content is kept in memory and put back if anything fails; a process that is killed
 * meanwhile leaves a mixture.
 */
import { messageOf } from "../../engine/thrown.ts";
import type { BigIntStats } from "node:fs";
import * as fs from "node:fs";
import type { Durability, WriteResult } from "../backend.ts";
import { backendError } from "../failure.ts";
import { afterChange, noAside, osError, pathChanged, systemErrorName } from "./errors.node.ts";
import { versionOf, writeResultOf } from "./facts.node.ts";
import { closeQuietly, openFileIn, type PinnedEntry, REWRITE_FLAGS } from "./pinned.node.ts";

/** The new content of a file. */
export interface NewContent {
  /** Writes the content to a descriptor, at its beginning. */
  readonly content: (fd: number) => void | Promise<void>;
  readonly mode?: number | undefined;
  readonly durability: Durability;
  /** The name that the replaced file gets. A file that is rewritten in place cannot get one. */
  readonly aside?: string | undefined;
}

/** The maximum size in bytes of a file that is rewritten in place, because its old content is held in memory. */
const MAX_BACKUP_BYTES = 64n << 20n;

/** Rewrites a file. @throws IO_ERROR when its content is incomplete */
export async function rewriteInPlace(
  entry: PinnedEntry,
  old: BigIntStats,
  { content, mode, durability, aside }: NewContent,
): Promise<WriteResult> {
  const { path } = entry;
  if (aside !== undefined) throw noAside(path);
  if (old.size > MAX_BACKUP_BYTES)
    throw backendError(
      "PERMISSION_DENIED",
      path,
      "the directory does not allow the file to be replaced, and it is too large to be rewritten in place",
    );
  const { fd, facts } = openFileIn(entry, REWRITE_FLAGS);
  try {
    if (versionOf(facts) !== versionOf(old)) throw pathChanged(path);
    const backup = fs.readFileSync(fd);
    try {
      fs.ftruncateSync(fd, 0);
      await content(fd);
      if (mode !== undefined) setMode(fd, mode);
      if (durability === "durable") await flush(fd);
    } catch (error) {
      restore(path, fd, backup, error);
      if (mode !== undefined) restoreMode(fd, facts);
      throw error;
    }
  } catch (error) {
    closeQuietly(fd);
    throw error;
  }
  return closeWritten(path, fd, { inPlace: true });
}

/** Closes a written file that is in its place. Returns what is known about it. @throws IO_ERROR of `unconfirmedError` */
export function closeWritten(
  path: string,
  fd: number,
  more: Pick<WriteResult, "otherNames" | "inPlace">,
): WriteResult {
  return afterChange(path, () => {
    try {
      return writeResultOf(fs.fstatSync(fd, { bigint: true }), more);
    } finally {
      fs.closeSync(fd);
    }
  });
}

/** Puts the old content back after a failure. @throws IO_ERROR when the content is incomplete */
function restore(path: string, fd: number, backup: Buffer, failure: unknown): void {
  try {
    writeBlock(fd, backup, 0);
    fs.ftruncateSync(fd, backup.length);
  } catch (error) {
    const [first, second] = [failure, error].map((one) => {
      const told = osError(one, path);
      return messageOf(told);
    });
    const message = `the content is incomplete: writing it failed (${first}), and so did putting the old content back (${second})`;
    throw backendError("IO_ERROR", path, message, { hint: "write the file again" });
  }
}

function restoreMode(fd: number, { mode }: BigIntStats): void {
  try {
    fs.fchmodSync(fd, Number(mode & 0o7777n));
  } catch {
    // The content is whole, and the first error tells why the write failed.
  }
}

/** Writes a block to an open file at a position. */
export function writeBlock(fd: number, block: Uint8Array, position: number): void {
  for (let done = 0; done < block.length; )
    done += fs.writeSync(fd, block, done, block.length - done, position + done);
}

/** The errors of file systems without permission bits. */
const WITHOUT_MODES: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/**
 * Sets permission bits and the sticky bit. Set-user-id and set-group-id are dropped, because new content must not
 * run with the privileges of the old.
 */
export function setMode(fd: number, mode: number): void {
  try {
    fs.fchmodSync(fd, mode & 0o1777);
  } catch (error) {
    if (!WITHOUT_MODES.has(systemErrorName(error) ?? "")) throw error;
  }
}

/** Waits until a file is on the disk. */
export function flush(fd: number): Promise<void> {
  return new Promise((resolve, reject) =>
    fs.fsync(fd, (error) => (error === null ? resolve() : reject(error))),
  );
}
