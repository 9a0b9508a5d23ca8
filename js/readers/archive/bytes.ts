/** Implements {@link SequentialBytes} for a file, in which bytes can be skipped, and for a stream. */
import type { ByteSource } from "../reader.ts";
import { checkSignal } from "../refuse.ts";
import type { SequentialBytes } from "./tar.ts";

/** Returns the bytes of a file in order. Skipped bytes are never read. */
export function sequentialBytesOf(source: ByteSource, signal?: AbortSignal): SequentialBytes {
  let at = 0;
  return {
    async take(count) {
      checkSignal(signal);
      const bytes = await source.read(at, at + count);
      at += count;
      return bytes.length === count ? bytes : null;
    },
    async skip(count) {
      at += count;
      return at <= source.size;
    },
  };
}

/** The bytes of a stream, of which at most `limit` are read. */
export interface StreamBytes extends SequentialBytes {
  /** The number of bytes received so far. */
  readonly seen: number;
  /** True when the limit was reached, so that further bytes were not read. */
  readonly stopped: boolean;
}

/** Returns the bytes of a stream in order, at most `limit` of them. @throws any error of the stream */
export function sequentialBytesOfStream(
  stream: AsyncGenerator<Uint8Array>,
  limit: number,
  signal?: AbortSignal,
): StreamBytes {
  let chunk = new Uint8Array(0);
  let seen = 0;
  let stopped = false;
  const more = async (): Promise<boolean> => {
    checkSignal(signal);
    stopped ||= seen >= limit;
    const next = stopped ? undefined : await stream.next();
    if (next === undefined || next.done === true) {
      await stream.return(undefined);
      return false;
    }
    chunk = next.value as Uint8Array<ArrayBuffer>;
    seen += chunk.length;
    return true;
  };
  return {
    get seen() {
      return seen;
    },
    get stopped() {
      return stopped;
    },
    async take(count) {
      const out = new Uint8Array(count);
      for (let at = 0; at < count; ) {
        if (chunk.length === 0 && !(await more())) return null;
        const part = chunk.subarray(0, count - at);
        out.set(part, at);
        at += part.length;
        chunk = chunk.subarray(part.length);
      }
      return out;
    },
    async skip(count) {
      for (let left = count; left > 0; ) {
        if (chunk.length === 0 && !(await more())) return false;
        const part = Math.min(left, chunk.length);
        left -= part;
        chunk = chunk.subarray(part);
      }
      return true;
    },
  };
}
