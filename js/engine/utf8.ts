/**
 * Text as UTF-8, on its way to the engine.
 *
 * A string that crosses by itself costs several times its copy, and a fresh
 * buffer costs a page fault for every 4 KiB; text is written into memory that
 * is kept between calls instead, where the call is over before it is used again.
 */

/** Bytes of scratch memory that are kept; longer texts get buffers of their own. */
const KEPT = 4 * 1024 * 1024;

const encoder = new TextEncoder();
let scratch = new Uint8Array(64 * 1024);

/** Text in a buffer of its own; bytes as they are. */
export function toUtf8(text: string | Uint8Array): Uint8Array {
  return typeof text === "string" ? encoder.encode(text) : text;
}

/**
 * Hands two texts to `use` as UTF-8. What was bytes already is handed on as it
 * is. The bytes are void once `use` has returned; unpaired surrogates are U+FFFD.
 */
export function withUtf8<T>(
  a: string | Uint8Array,
  b: string | Uint8Array,
  use: (a: Uint8Array, b: Uint8Array) => T,
): T {
  const first = typeof a === "string" ? write(a, 0, typeof b === "string" ? b.length : 0) : a;
  const offset = typeof a === "string" && first.buffer === scratch.buffer ? first.length : 0;
  return use(first, typeof b === "string" ? write(b, offset, 0) : b);
}

/** Writes a text at an offset, with room for `more` units after it. */
function write(text: string, offset: number, more: number): Uint8Array {
  const size = offset + text.length + more;
  if (size > KEPT) return encoder.encode(text);
  // Grown only before the first of two texts: the second was counted in.
  if (size > scratch.length && offset === 0) scratch = new Uint8Array(Math.min(KEPT, size * 2));
  const room = scratch.subarray(offset);
  const { read, written } = encoder.encodeInto(text, room);
  return read === text.length ? room.subarray(0, written) : encoder.encode(text);
}
