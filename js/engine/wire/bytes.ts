/**
 * Texts as bytes and bytes as texts: UTF-8 for the engine, base64 for answers.
 *
 * Passing a string costs several times its copy, and a new buffer costs a page fault for every 4
 * KiB; so text is written into memory that is reused between calls, when the call ends before its
 * next use.
 */

/** A content without bytes, shared by every caller that needs one. */
export const EMPTY_BYTES: Uint8Array<ArrayBuffer> = new Uint8Array(0);

/** The maximum size of the reused memory in bytes; longer texts get buffers of their own. */
const MAX_SCRATCH_BYTES = 4 * 1024 * 1024;

const encoder = new TextEncoder();
let scratch = new Uint8Array(64 * 1024);

/** Encodes text in a new buffer; returns bytes unchanged. */
export function toUtf8(text: string | Uint8Array): Uint8Array {
  return typeof text === "string" ? encoder.encode(text) : text;
}

/** Returns the UTF-8 length of the text in bytes. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (unit >= 0xd800 && unit < 0xdc00) {
      bytes += 2; // the pair is two units and four bytes
      at += 1;
    } else bytes += 2;
  }
  return bytes;
}

/**
 * Passes two texts to `use` as UTF-8. Bytes are passed unchanged. The encoded bytes are invalid
 * after `use` has returned; unpaired surrogates are U+FFFD.
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

/** Writes a text at an offset, with space for `more` units after it. */
function write(text: string, offset: number, more: number): Uint8Array {
  const size = offset + text.length + more;
  if (size > MAX_SCRATCH_BYTES) return encoder.encode(text);
  // The memory grows only before the first of two texts: its size includes the second.
  if (size > scratch.length && offset === 0) scratch = new Uint8Array(Math.min(MAX_SCRATCH_BYTES, size * 2));
  const room = scratch.subarray(offset);
  const { read, written } = encoder.encodeInto(text, room);
  return read === text.length ? room.subarray(0, written) : encoder.encode(text);
}

/** The number of bytes encoded at once; a multiple of 3, so that the parts need no padding. */
const BYTES_PER_CHUNK = 3 * 8192;

/** Returns the base64 form, with padding. */
export function base64(bytes: Uint8Array): string {
  const { Buffer } = globalThis as { readonly Buffer?: typeof globalThis.Buffer };
  if (Buffer !== undefined) {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  }
  let text = "";
  for (let at = 0; at < bytes.length; at += BYTES_PER_CHUNK) {
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + BYTES_PER_CHUNK)));
  }
  return text;
}

/** Decodes base64. */
export function bytesOf(text: string): Uint8Array {
  const binary = atob(text);
  return Uint8Array.from(binary, (char) => char.charCodeAt(0));
}
