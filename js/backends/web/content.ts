/**
 * Reads the content of a file handle with its version.
 *
 * The version is the hash of the content. Times are no substitute: browsers have them in milliseconds, and
 * Chromium does not update them when a file is written through a synchronous handle.
 */
import { hexOf } from "../../engine/hex.ts";
import type { ByteRange, FsStat } from "../backend.ts";
import { checkSignal } from "../failure.ts";
import { exceptionName } from "./platform.ts";

/**
 * The maximum size of a file that is hashed, in bytes. A larger one has size and time as its version, because
 * hashing it at every access would block the page.
 */
const MAX_HASHED_BYTES = 64 << 20;
/** The maximum number of attempts to read a file that is being replaced. */
const MAX_READ_ATTEMPTS = 8;

/** The state of a file at one moment. */
export interface FileSnapshot {
  readonly size: number;
  /** The time of the last change of the file, in milliseconds since 1970. */
  readonly mtime: number;
  readonly version: string;
  /** The requested bytes of the file. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Returns `sha256:` and 64 hexadecimal digits. The browser computes it outside the event loop. */
async function hashOfContent(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `sha256:${hexOf(digest)}`;
}

/** Returns the version of a file by its size and time; undefined when its content must be hashed. */
export function versionByTime(size: number, mtime: number): string | undefined {
  return size > MAX_HASHED_BYTES ? `time:${mtime}:${size}` : undefined;
}

/** Returns the version that new content will have; undefined when it depends on the time of the write. */
export async function versionOf(bytes: Uint8Array<ArrayBuffer>): Promise<string | undefined> {
  return bytes.length > MAX_HASHED_BYTES ? undefined : hashOfContent(bytes);
}

/**
 * Reads a file, or a part of it, with the version of the whole. The function `size` can refuse the file before it
 * is read.
 */
export function readSnapshot(
  handle: FileSystemFileHandle,
  path: string,
  request: {
    readonly range?: ByteRange | undefined;
    readonly signal?: AbortSignal | undefined;
    size?(bytes: number): void;
  } = {},
): Promise<FileSnapshot> {
  return retryIfReplaced(path, request.signal, async () => {
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
    return { size, mtime, version: await hashOfContent(whole), bytes };
  });
}

/** Reads the bytes of a file alone. */
export function readWholeFile(handle: FileSystemFileHandle, path: string): Promise<Uint8Array<ArrayBuffer>> {
  return retryIfReplaced(
    path,
    undefined,
    async () => new Uint8Array(await (await handle.getFile()).arrayBuffer()),
  );
}

/**
 * Runs a read again if the file was replaced after its handle was opened. Fails after {@link MAX_READ_ATTEMPTS}
 * attempts.
 */
async function retryIfReplaced<T>(
  path: string,
  signal: AbortSignal | undefined,
  run: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    checkSignal(signal, path);
    try {
      return await run();
    } catch (error) {
      const name = exceptionName(error);
      // NotFoundError at the first access means absent; between access and read the file may have been
      // replaced.
      if (!["NotReadableError", "NotFoundError"].includes(name) || attempt === MAX_READ_ATTEMPTS) throw error;
    }
  }
}

/** Returns the facts about a file, frozen. */
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

/** Returns the facts about a directory, frozen. Browsers have no times of directories. */
export function directoryFacts(path: string): FsStat {
  return Object.freeze({ path, type: "dir", size: 0, isDir: true, isFile: false, mtime: 0 });
}
