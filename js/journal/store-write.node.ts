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
  const whole = Buffer.concat(buffers, size);
  for (let at = 0; at < size; ) at += fs.writeSync(fd, whole, at);
  if (durable) fs.fsyncSync(fd);
}

async function writeLater(fd: number, buffers: readonly Uint8Array[], durable: boolean): Promise<void> {
  for (const buffer of buffers) {
    for (let at = 0; at < buffer.length; ) {
      at += await new Promise<number>((resolve, reject) => {
        fs.write(fd, buffer, at, buffer.length - at, null, (error, count) =>
          error === null ? resolve(count) : reject(error),
        );
      });
    }
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
