/**
 * Encodings older than Unicode, for the WebAssembly engine. The platform has decoders for them, so the module
 * calls these functions instead of containing tables.
 *
 * `crates/wasm/src/platform.rs` calls them; none of them throws. Names are those of `TextDecoder`. An
 * encoding that the platform lacks (Node has no `iso-8859-16`) is unknown to the engine.
 */
import { encodeLegacy } from "./legacy-encode.ts";

/** The functions that the module calls. All lengths and offsets are in bytes. */
export interface PlatformTables {
  /** Returns the name of the encoding with this label; undefined when the platform does not have it. */
  find(label: string): string | undefined;
  /** Decodes bytes; invalid ones become U+FFFD. */
  decode(name: string, bytes: Uint8Array): string;
  /** Returns true when all bytes are valid. Unless `complete` is true, the last character may be cut off. */
  fits(name: string, bytes: Uint8Array, complete: boolean): boolean;
  /**
   * Encodes text. Returns the offset, in bytes of UTF-8, of the first character that the encoding does not
   * contain.
   */
  encode(name: string, text: string): Uint8Array | number;
  /**
   * Returns two numbers for each decoding step: the bytes that it consumed, and the bytes of UTF-8 that they
   * became.
   */
  spans(name: string, bytes: Uint8Array): Uint32Array;
  /** Returns how many bytes the first `codePoints` characters take. */
  prefixLength(name: string, bytes: Uint8Array, codePoints: number): number;
}

const decoderByEncoding = new Map<string, TextDecoder>();

function decoderOfEncoding(name: string): TextDecoder {
  let decoder = decoderByEncoding.get(name);
  if (decoder === undefined) {
    decoder = new TextDecoder(name);
    decoderByEncoding.set(name, decoder);
  }
  return decoder;
}

/** The platform's decoders, and encoders derived from them. */
export const platformTables: PlatformTables = Object.freeze({
  find(label: string): string | undefined {
    try {
      return new TextDecoder(label).encoding;
    } catch {
      return undefined;
    }
  },
  decode: (name: string, bytes: Uint8Array): string => decoderOfEncoding(name).decode(bytes),
  fits(name: string, bytes: Uint8Array, complete: boolean): boolean {
    try {
      new TextDecoder(name, { fatal: true }).decode(bytes, { stream: !complete });
      return true;
    } catch {
      return false;
    }
  },
  encode: encodeLegacy,
  spans: decodedSpans,
  prefixLength: prefixByteLength,
});

/** Feeds the decoder one byte at a time: when it returns text, a character is complete. */
function decodedSpans(name: string, bytes: Uint8Array): Uint32Array {
  const decoder = new TextDecoder(name);
  const spans: number[] = [];
  const stateful = name === "iso-2022-jp";
  let taken = 0;
  for (let at = 0; at < bytes.length; at++) {
    // An ASCII byte at the beginning of a character stands for itself.
    if (taken === at && !stateful && (bytes[at] as number) < 0x80) {
      spans.push(1, 1);
      taken += 1;
      continue;
    }
    const text = decoder.decode(bytes.subarray(at, at + 1), { stream: true });
    if (text === "") continue;
    spans.push(at + 1 - taken, utf8Length(text));
    taken = at + 1;
  }
  const last = decoder.decode();
  if (taken < bytes.length) spans.push(bytes.length - taken, utf8Length(last));
  return Uint32Array.from(spans);
}

/** The number of bytes that are decoded at once while a prefix is measured. */
const PREFIX_STRIDE_BYTES = 256;

function prefixByteLength(name: string, bytes: Uint8Array, codePoints: number): number {
  const probe = new TextDecoder(name);
  let [from, seen] = [0, 0];
  while (from < bytes.length) {
    const more = codePointCount(
      probe.decode(bytes.subarray(from, from + PREFIX_STRIDE_BYTES), { stream: true }),
    );
    if (seen + more >= codePoints) break;
    seen += more;
    from += PREFIX_STRIDE_BYTES;
  }
  if (from >= bytes.length) return bytes.length;
  // The last stride is decoded byte by byte, by a decoder that has read everything before it.
  const decoder = new TextDecoder(name);
  decoder.decode(bytes.subarray(0, from), { stream: true });
  for (let at = from; at < bytes.length; at++) {
    seen += codePointCount(decoder.decode(bytes.subarray(at, at + 1), { stream: true }));
    if (seen >= codePoints) return at + 1;
  }
  return bytes.length;
}

function codePointCount(text: string): number {
  let points = 0;
  for (const _ of text) points += 1;
  return points;
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (const c of text) {
    const code = c.codePointAt(0) as number;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}
