/**
 * The writing of a journal's records, and what its disk may answer: bytes in order
 * and all of them, an error that says what it is about.
 */
import * as fs from "node:fs";
import { constants } from "node:os";
import { failure } from "../backends/failure.ts";
import { FilewrightError } from "../engine/errors.ts";

/** Larger records are written off the event loop. */
const OFF_LOOP_BYTES = 256 * 1024;

/** Appends buffers; with `durable`, returns once they are on the disk. */
export function writeAll(fd: number, buffers: readonly Uint8Array[], durable: boolean): void | Promise<void> {
  const size = buffers.reduce((sum, buffer) => sum + buffer.length, 0);
  if (size > OFF_LOOP_BYTES) return writeLater(fd, buffers, durable);
  // Not joined: a record holds what a file was, and copies of that pile up between collections.
  for (let left = buffers; left.length > 0; ) left = after(left, fs.writevSync(fd, left));
  if (durable) fs.fsyncSync(fd);
}

/** What is left of buffers of which `count` bytes are written. */
function after(buffers: readonly Uint8Array[], count: number): readonly Uint8Array[] {
  let written = 0;
  let rest = count;
  for (; written < buffers.length && buffers[written]!.length <= rest; written += 1) {
    rest -= buffers[written]!.length;
  }
  const left = buffers.slice(written);
  if (rest > 0) left[0] = left[0]!.subarray(rest);
  return left;
}

async function writeLater(fd: number, buffers: readonly Uint8Array[], durable: boolean): Promise<void> {
  for (let left = buffers; left.length > 0; ) {
    const count = await new Promise<number>((resolve, reject) => {
      fs.writev(fd, left, (error, written) => (error === null ? resolve(written) : reject(error)));
    });
    left = after(left, count);
  }
  if (!durable) return;
  await new Promise<void>((resolve, reject) => {
    fs.fsync(fd, (error) => (error === null ? resolve() : reject(error)));
  });
}

/** What the disk of the journal said, in words of ours. */
export function notKept(directory: string, error: unknown): unknown {
  const { code, errno = 0 } = error as NodeJS.ErrnoException;
  if (error instanceof FilewrightError || code === undefined) return error;
  // A quota has a number and no name of its own there.
  const full = code === "ENOSPC" || -errno === constants.errno.EDQUOT;
  return failure(full ? "NO_SPACE" : "IO_ERROR", directory, `the journal cannot be written (${code})`, {
    hint: "the journal is in the directory that stateDir names",
    cause: error,
  });
}

/** Closes a file. False where the disk tells only now that it may not be whole. */
export function isClosed(fd: number): boolean {
  try {
    fs.closeSync(fd);
    return true;
  } catch {
    return false;
  }
}
