/**
 * The encodings older than Unicode for the WebAssembly engine. The platform already has the
 * decoders, so the module contains no tables and calls these functions.
 *
 * `crates/wasm/src/platform.rs` calls them; none of them throws. Names are those of `TextDecoder`.
 * A platform may lack an encoding (Node has no `iso-8859-16`), which is then unknown.
 */
import { encodeLegacy } from "./legacy-encode.ts";

/** The functions that the module calls. Lengths and offsets are bytes. */
export interface PlatformTables {
  /** Returns the name of the encoding with a label. */
  find(label: string): string | undefined;
  /** Decodes bytes, with U+FFFD for invalid ones. */
  decode(name: string, bytes: Uint8Array): string;
  /** Returns true when all bytes are valid; unless `complete`, the last character may be incomplete. */
  fits(name: string, bytes: Uint8Array, complete: boolean): boolean;
  /** Encodes text, or returns the UTF-8 offset of a character without a code. */
  encode(name: string, text: string): Uint8Array | number;
  /** Returns, alternately, the consumed bytes and the produced UTF-8 bytes of each decoding step. */
  spans(name: string, bytes: Uint8Array): Uint32Array;
  /** Returns the number of bytes of the first code points. */
  prefixLength(name: string, bytes: Uint8Array, codePoints: number): number;
}

const decoders = new Map<string, TextDecoder>();

function decoderOf(name: string): TextDecoder {
  let decoder = decoders.get(name);
  if (decoder === undefined) {
    decoder = new TextDecoder(name);
    decoders.set(name, decoder);
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
  decode: (name: string, bytes: Uint8Array): string => decoderOf(name).decode(bytes),
  fits(name: string, bytes: Uint8Array, complete: boolean): boolean {
    try {
      new TextDecoder(name, { fatal: true }).decode(bytes, { stream: !complete });
      return true;
    } catch {
      return false;
    }
  },
  encode: encodeLegacy,
  spans: spansOf,
  prefixLength: prefixLengthOf,
});

/** Decodes one byte at a time: a character is complete when the decoder returns it. */
function spansOf(name: string, bytes: Uint8Array): Uint32Array {
  const decoder = new TextDecoder(name);
  const spans: number[] = [];
  const stateful = name === "iso-2022-jp";
  let taken = 0;
  for (let at = 0; at < bytes.length; at++) {
    // Between characters an ASCII byte encodes itself.
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

/** The number of bytes decoded at once while a prefix is measured. */
const PREFIX_STRIDE_BYTES = 256;

function prefixLengthOf(name: string, bytes: Uint8Array, codePoints: number): number {
  const probe = new TextDecoder(name);
  let [from, seen] = [0, 0];
  while (from < bytes.length) {
    const more = count(probe.decode(bytes.subarray(from, from + PREFIX_STRIDE_BYTES), { stream: true }));
    if (seen + more >= codePoints) break;
    seen += more;
    from += PREFIX_STRIDE_BYTES;
  }
  if (from >= bytes.length) return bytes.length;
  // Decodes the last stride byte by byte, with a decoder in the state of its beginning.
  const decoder = new TextDecoder(name);
  decoder.decode(bytes.subarray(0, from), { stream: true });
  for (let at = from; at < bytes.length; at++) {
    seen += count(decoder.decode(bytes.subarray(at, at + 1), { stream: true }));
    if (seen >= codePoints) return at + 1;
  }
  return bytes.length;
}

function count(text: string): number {
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
