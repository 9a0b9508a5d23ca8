/**
 * What is in a file behind a handle, and the version of that.
 *
 * The version is the hash of the content: browsers tell times by the
 * millisecond, and Chromium leaves them as they are when a file is written
 * through a synchronous handle, so nothing less says whether it has changed.
 */
import type { ByteRange, FsStat } from "../backend.ts";
import { checkSignal } from "../failure.ts";
import { nameOfError } from "./failure.ts";

/** Larger files have size and time for a version: hashing them at every look would hold up the page (bytes). */
const HASHED_BYTES = 64 << 20;
/** How often a file that is replaced while it is read is read again. */
const ATTEMPTS = 8;

/** One moment of a file. */
export interface Moment {
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly mtime: number;
  readonly version: string;
  /** What was asked for. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** `sha256:` and 64 hexadecimal digits, worked out off the event loop. */
export async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `sha256:${[...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** The version that a file of this size and time has without being read; undefined where it must be. */
export function versionByTime(size: number, mtime: number): string | undefined {
  return size > HASHED_BYTES ? `time:${mtime}:${size}` : undefined;
}

/** The version that new content will have, where that is known before it is written. */
export async function versionOf(bytes: Uint8Array<ArrayBuffer>): Promise<string | undefined> {
  return bytes.length > HASHED_BYTES ? undefined : hashOf(bytes);
}

/** Reads a file, or a part of it, with the version of the whole. `size` may refuse it before it is read. */
export function readMoment(
  handle: FileSystemFileHandle,
  path: string,
  request: {
    readonly range?: ByteRange | undefined;
    readonly signal?: AbortSignal | undefined;
    size?(bytes: number): void;
  } = {},
): Promise<Moment> {
  return again(path, request.signal, async () => {
    const file = await handle.getFile();
    const { size, lastModified: mtime } = file;
    const { start, end } = request.range ?? { start: 0, end: size };
    request.size?.(Math.max(0, Math.min(end, size) - start));
    const byTime = versionByTime(size, mtime);
    if (byTime !== undefined) {
      const bytes = new Uint8Array(await file.slice(start, end).arrayBuffer());
      return { size, mtime, version: byTime, bytes };
    }
    const whole = new Uint8Array(await file.arrayBuffer());
    const bytes = request.range === undefined ? whole : whole.slice(start, end);
    return { size, mtime, version: await hashOf(whole), bytes };
  });
}

/** The bytes of a file alone. */
export function readAll(handle: FileSystemFileHandle, path: string): Promise<Uint8Array<ArrayBuffer>> {
  return again(path, undefined, async () => new Uint8Array(await (await handle.getFile()).arrayBuffer()));
}

/** A file that was replaced between the look and the read cannot be read: the next look finds the new one. */
async function again<T>(path: string, signal: AbortSignal | undefined, run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    checkSignal(signal, path);
    try {
      return await run();
    } catch (error) {
      const name = nameOfError(error);
      // Gone at the first look is gone; gone between look and read may be a replacement.
      if (!["NotReadableError", "NotFoundError"].includes(name) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** The facts about a file, frozen. */
export function fileFacts(path: string, size: number, mtime: number, version: string | undefined): FsStat {
  return Object.freeze({
    path,
    type: "file",
    size,
    isDir: false,
    isFile: true,
    mtime,
    ...(version === undefined ? {} : { version }),
  });
}

/** The facts about a directory, frozen. Browsers tell no times of directories. */
export function directoryFacts(path: string): FsStat {
  return Object.freeze({ path, type: "dir", size: 0, isDir: true, isFile: false, mtime: 0 });
}
