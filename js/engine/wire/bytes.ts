/**
 * Conversions between texts and bytes: UTF-8 for the engine, base64 for answers.
 *
 * Passing a string to the engine costs several times as much as copying its bytes, and a new buffer costs a
 * page fault for every 4 KiB. So texts are encoded into memory that is reused, where a call has ended before
 * the memory is used again.
 */

/** A content without bytes, shared by every caller that needs one. */
export const EMPTY_BYTES: Uint8Array<ArrayBuffer> = new Uint8Array(0);

/** The maximum size in bytes of the reused memory. A longer text gets a buffer of its own. */
const MAX_SCRATCH_BYTES = 4 * 1024 * 1024;

const encoder = new TextEncoder();
let scratchBytes = new Uint8Array(64 * 1024);

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
 * Passes two texts to `use` as UTF-8, and returns its result; bytes are passed unchanged. Encoded bytes lie
 * in reused memory, so they must not be used after `use` has returned. An unpaired surrogate becomes U+FFFD.
 */
export function withUtf8<T>(
  a: string | Uint8Array,
  b: string | Uint8Array,
  use: (a: Uint8Array, b: Uint8Array) => T,
): T {
  const first = typeof a === "string" ? writeToScratch(a, 0, typeof b === "string" ? b.length : 0) : a;
  const offset = typeof a === "string" && first.buffer === scratchBytes.buffer ? first.length : 0;
  return use(first, typeof b === "string" ? writeToScratch(b, offset, 0) : b);
}

/**
 * Encodes a text into the reused memory at `offset`, so that `more` units of another text fit after it.
 * Returns its bytes.
 */
function writeToScratch(text: string, offset: number, more: number): Uint8Array {
  const size = offset + text.length + more;
  if (size > MAX_SCRATCH_BYTES) return encoder.encode(text);
  // The memory grows only for the first text. Growing for the second would move the bytes of the first.
  if (size > scratchBytes.length && offset === 0)
    scratchBytes = new Uint8Array(Math.min(MAX_SCRATCH_BYTES, size * 2));
  const room = scratchBytes.subarray(offset);
  const { read, written } = encoder.encodeInto(text, room);
  return read === text.length ? room.subarray(0, written) : encoder.encode(text);
}

/** The number of bytes that are converted at once: a multiple of 3, so that only the last part is padded. */
const BYTES_PER_CHUNK = 3 * 8192;

/** Returns bytes in base64, padded with `=`. */
export function toBase64(bytes: Uint8Array): string {
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

/** Returns the bytes of a text in base64. @throws DOMException if the text is not base64 */
export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

/** The size in bytes from which Node compares contents faster than a loop does. */
const MIN_COMPARED_BYTES = 1024;

/** Returns true when both are the same bytes. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  const { Buffer } = globalThis as { readonly Buffer?: typeof globalThis.Buffer };
  if (Buffer !== undefined && a.length > MIN_COMPARED_BYTES) return Buffer.compare(a, b) === 0;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}

/** Returns the bytes of all parts in one buffer; a single part is returned itself. */
export function concatBytes<Bytes extends Uint8Array>(
  parts: readonly Bytes[],
): Bytes | Uint8Array<ArrayBuffer> {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
