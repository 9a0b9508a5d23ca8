/**
 * Sources of bytes for readers: bytes in memory, or a file of a backend, of which all parts are read in one
 * version.
 */
import type { VersionedBytes } from "../backends/backend.ts";
import type { Files } from "../backends/files.ts";
import { makeError } from "../engine/errors.ts";
import { Yielder } from "../engine/yielder.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import type { ByteSource } from "./reader.ts";
import { checkSignal, tooLargeError } from "./refuse.ts";

/** Returns a source of bytes in memory. */
export function sourceOf(bytes: Uint8Array): ByteSource {
  return { size: bytes.length, read: (start = 0, end = bytes.length) => bytes.subarray(start, end) };
}

/** A file as a source of bytes, and facts that become known when it is read. */
export interface FileSource extends ByteSource {
  /** The version that was read; undefined until something is read, and for a backend without versions. */
  readonly version: string | undefined;
  /** The whole content, if it was read at once. */
  readonly whole: Uint8Array | undefined;
}

/**
 * Returns a source that reads a file of a backend. If a part has another version than the first one, the file
 * was replaced, and the read fails. A backend that cannot read ranges is read once as a whole.
 */
export function sourceFrom(
  fs: Files,
  path: string,
  size: number,
  signal?: AbortSignal | undefined,
): FileSource {
  let version: string | undefined;
  let whole: Uint8Array | undefined;
  const readAtOnce = async (): Promise<Uint8Array> => {
    if (whole === undefined) ({ bytes: whole, version } = (await fs.read(path)) as VersionedBytes);
    return whole;
  };
  return {
    size,
    get version() {
      return version;
    },
    get whole() {
      return whole;
    },
    async read(start = 0, end = size) {
      checkSignal(signal);
      if (!fs.abilities.ranges) return (await readAtOnce()).subarray(start, end);
      const range = { start: Math.min(start, size), end: Math.min(end, size) };
      if (range.start >= range.end) return new Uint8Array(0);
      // `null` only answers `ifNoneMatch`.
      const found = (await fs.read(path, withoutUndefined({ range, signal }))) as VersionedBytes;
      if (version !== undefined && version !== found.version) {
        throw makeError("CONFLICT", "changed while it was read", { path, hint: "read it again" });
      }
      version = found.version;
      if (start === 0 && end >= size) whole = found.bytes;
      return found.bytes;
    },
  };
}

/**
 * Returns all bytes of a source. @throws TOO_LARGE before anything is read, when it is larger than `limit`
 * bytes
 */
export async function readAll(source: ByteSource, limit: number, hint?: string): Promise<Uint8Array> {
  if (source.size > limit) throw tooLargeError(source.size, limit, hint);
  return await source.read();
}

/** The number of bytes that are read at once. */
const BYTES_PER_READ = 256 * 1024;
/** The number of bytes that a reader processes before other tasks may run; it takes a few milliseconds. */
const CHUNK_BYTES = 32 * 1024;

/**
 * Yields the bytes from `start` on in chunks. Only one chunk is in memory at a time, and other tasks may run
 * after each.
 */
export async function* chunksOf(
  source: ByteSource,
  signal?: AbortSignal,
  start = 0,
): AsyncGenerator<Uint8Array> {
  const yielder = new Yielder({ signal });
  for (let at = start; at < source.size; ) {
    checkSignal(signal);
    const bytes = await source.read(at, Math.min(at + BYTES_PER_READ, source.size));
    if (bytes.length === 0) return; // The file became shorter.
    for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
      yield bytes.subarray(from, from + CHUNK_BYTES);
      await yielder.yieldIfDue();
    }
    at += bytes.length;
  }
}
