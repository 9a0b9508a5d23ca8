/** Sources of bytes: in memory, or a file of a backend read in pieces that belong together. */
import type { FsBackend } from "../backends/backend.ts";
import { makeError } from "../engine/errors.ts";
import type { ByteSource } from "./reader.ts";
import { checkSignal, tooLarge } from "./refuse.ts";

/** Bytes at hand. */
export function sourceOf(bytes: Uint8Array): ByteSource {
  return { size: bytes.length, read: (start = 0, end = bytes.length) => bytes.subarray(start, end) };
}

/** A file as a source, and what became known of it. */
export interface FileSource extends ByteSource {
  /** The version that was read; undefined before, and where the backend has none. */
  readonly version: string | undefined;
  /** All bytes, where they were read at once. */
  readonly whole: Uint8Array | undefined;
}

/**
 * A file of a backend. Every piece must be of the version of the first one, so
 * that a file replaced meanwhile is noticed; a backend that cannot read ranges
 * is asked for the whole once.
 */
export function sourceFrom(
  fs: FsBackend,
  path: string,
  size: number,
  signal?: AbortSignal | undefined,
): FileSource {
  let version: string | undefined;
  let whole: Uint8Array | undefined;
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
      if (fs.read === undefined) {
        whole ??= await fs.readBytes(path);
        return whole.subarray(start, end);
      }
      const range = { start: Math.min(start, size), end: Math.min(end, size) };
      if (range.start >= range.end) return new Uint8Array(0);
      const found = await fs.read(path, signal === undefined ? { range } : { range, signal });
      if (found === null) return new Uint8Array(0); // null only answers `ifNoneMatch`
      if (version !== undefined && version !== found.version) {
        throw makeError("CONFLICT", "changed while it was read", { path, hint: "read it again" });
      }
      version = found.version;
      if (start === 0 && end >= size) whole = found.bytes;
      return found.bytes;
    },
  };
}

/** All bytes. @throws TOO_LARGE before any is read */
export async function readAll(source: ByteSource, limit: number, hint?: string): Promise<Uint8Array> {
  if (source.size > limit) throw tooLarge(source.size, limit, hint);
  return await source.read();
}

/** Bytes that a reader looks at before other calls get a turn: a few milliseconds. */
const CHUNK = 256 * 1024;

const nextTurn: (run: () => void) => void =
  globalThis.setImmediate ?? ((run: () => void) => globalThis.setTimeout(run, 0));

/** The bytes from `start` on, in pieces; at most one is held at a time, and after each others get a turn. */
export async function* chunks(
  source: ByteSource,
  signal?: AbortSignal,
  start = 0,
): AsyncGenerator<Uint8Array> {
  for (let at = start; at < source.size; ) {
    checkSignal(signal);
    const bytes = await source.read(at, Math.min(at + CHUNK, source.size));
    if (bytes.length === 0) return; // the file became shorter
    yield bytes;
    at += bytes.length;
    await new Promise<void>((resolve) => nextTurn(resolve));
  }
}
