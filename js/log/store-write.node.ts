/** Writes the records of a journal completely and in order, and words the errors of the disk that it is on. */
import * as fs from "node:fs";
import { stateDirectoryError } from "../backends/state-directory.node.ts";
import { FilewrightError } from "../engine/errors.ts";

/** The size in bytes above which a record is written on another thread. */
const MIN_BACKGROUND_WRITE_BYTES = 256 * 1024;

/** Appends buffers to a file. With `durable` it returns only after they are flushed to the disk. */
export function appendBuffers(
  fd: number,
  buffers: readonly Uint8Array[],
  durable: boolean,
): void | Promise<void> {
  const size = buffers.reduce((sum, buffer) => sum + buffer.length, 0);
  if (size > MIN_BACKGROUND_WRITE_BYTES) return writeInBackground(fd, buffers, durable);
  // Not concatenated: a record contains old file contents, and copies of them accumulate between garbage
  // collections.
  let left = buffers;
  for (let missing = size; missing > 0; ) {
    const count = fs.writevSync(fd, left);
    missing -= count;
    if (missing > 0) left = unwrittenBuffers(left, count);
  }
  if (durable) fs.fsyncSync(fd);
}

/** Returns the part of the buffers after the first `count` bytes, which are written. */
function unwrittenBuffers(buffers: readonly Uint8Array[], count: number): readonly Uint8Array[] {
  let written = 0;
  let rest = count;
  for (; written < buffers.length && buffers[written]!.length <= rest; written += 1) {
    rest -= buffers[written]!.length;
  }
  const left = buffers.slice(written);
  if (rest > 0) left[0] = left[0]!.subarray(rest);
  return left;
}

/** Appends buffers to a file on another thread. */
async function writeInBackground(
  fd: number,
  buffers: readonly Uint8Array[],
  durable: boolean,
): Promise<void> {
  for (let left = buffers; left.length > 0; ) {
    const count = await new Promise<number>((resolve, reject) => {
      fs.writev(fd, left, (error, written) => (error === null ? resolve(written) : reject(error)));
    });
    left = unwrittenBuffers(left, count);
  }
  if (!durable) return;
  await new Promise<void>((resolve, reject) => {
    fs.fsync(fd, (error) => (error === null ? resolve() : reject(error)));
  });
}

/** Converts an error of the journal's disk to one of this package, which names the state directory. */
export function journalWriteError(stateDir: string, error: unknown): unknown {
  const isOfSystem =
    !(error instanceof FilewrightError) && (error as NodeJS.ErrnoException).code !== undefined;
  return isOfSystem ? stateDirectoryError(stateDir, error) : error;
}

/** Closes a file. Returns false when the disk reports an error only now, so that the file may be incomplete. */
export function closesWithoutError(fd: number): boolean {
  try {
    fs.closeSync(fd);
    return true;
  } catch {
    return false;
  }
}
