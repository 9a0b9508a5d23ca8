/**
 * Decompresses with the platform's `DecompressionStream`, in small steps, so that a caller can stop at its
 * limit: a small input that expands to gigabytes (a zip bomb) then costs only one step.
 */
import { unsupportedFormatError } from "../refuse.ts";

/** The number of compressed bytes of one step. They can expand to at most 16 MiB. */
const BYTES_PER_STEP = 16 * 1024;

/**
 * Yields the decompressed bytes of the stream `input`. The format `deflate` is that of zlib. @throws the
 * platform's error for damaged data
 */
export async function* gunzip(
  input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  format: "gzip" | "deflate" = "gzip",
): AsyncGenerator<Uint8Array> {
  if (typeof DecompressionStream === "undefined") {
    throw unsupportedFormatError("application/gzip", "cannot be unpacked by this runtime", {
      reason: "no_decompression",
    });
  }
  const stream = new DecompressionStream(format);
  const writer = stream.writable.getWriter();
  const feed = (async () => {
    for await (const chunk of input) {
      for (let at = 0; at < chunk.length; at += BYTES_PER_STEP) {
        await writer.write(chunk.subarray(at, at + BYTES_PER_STEP) as Uint8Array<ArrayBuffer>);
      }
    }
    await writer.close();
  })();
  // A failure is thrown by the reader below. It is caught here only so that it is not reported as unhandled.
  feed.catch((error: unknown) => writer.abort(error).catch(() => undefined));
  const reader = stream.readable.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      yield value;
    }
    await feed;
  } finally {
    await reader.cancel().catch(() => undefined);
    await writer.abort().catch(() => undefined);
  }
}

/**
 * Decompresses a raw deflate stream, as a zip contains it, and checks its CRC-32. Returns null when the data
 * is damaged or its size is not `size`.
 */
export async function inflateRaw(raw: Uint8Array, size: number, crc: number): Promise<Uint8Array | null> {
  // Not every runtime supports the format "deflate-raw", so the data is wrapped as gzip, which every runtime
  // supports.
  const frame = new Uint8Array(18);
  frame.set([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
  const trailer = new DataView(frame.buffer, 10);
  trailer.setUint32(0, crc, true);
  trailer.setUint32(4, size % 2 ** 32, true);
  const out = new Uint8Array(size);
  let at = 0;
  try {
    for await (const chunk of gunzip([frame.subarray(0, 10), raw, frame.subarray(10)])) {
      if (at + chunk.length > size) return null;
      out.set(chunk, at);
      at += chunk.length;
    }
  } catch {
    return null; // Damaged, however the platform reports it.
  }
  return at === size ? out : null;
}
