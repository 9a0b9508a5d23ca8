/**
 * The encodings older than Unicode for the WebAssembly engine: the platform has
 * the decoders already, so the module carries no tables and asks here.
 *
 * `crates/wasm/src/platform.rs` calls these functions; none of them throws.
 * Names are those that `TextDecoder` gives. A platform may lack an encoding (Node
 * has no `iso-8859-16`): there it is as unknown as any other word.
 */
import { encodeLegacy } from "./legacy-encode.ts";

/** What the module asks of the platform. Lengths and offsets are bytes. */
export interface PlatformTables {
  /** The name of the encoding that a label means. */
  find(label: string): string | undefined;
  /** The text, with U+FFFD where bytes fit no character. */
  decode(name: string, bytes: Uint8Array): string;
  /** Whether all bytes fit; unless `complete`, a character may be cut off at their end. */
  fits(name: string, bytes: Uint8Array, complete: boolean): boolean;
  /** The bytes, or the offset in UTF-8 of the character without a code. */
  encode(name: string, text: string): Uint8Array | number;
  /** What each step of decoding takes of the bytes and gives of UTF-8, by turns. */
  spans(name: string, bytes: Uint8Array): Uint32Array;
  /** How many bytes the first code points take. */
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

/** The platform's decoders, and encoders made of them. */
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

/** One byte at a time: a character is complete when the decoder lets go of it. */
function spansOf(name: string, bytes: Uint8Array): Uint32Array {
  const decoder = new TextDecoder(name);
  const spans: number[] = [];
  const stateful = name === "iso-2022-jp";
  let taken = 0;
  for (let at = 0; at < bytes.length; at++) {
    // Between characters an ASCII byte stands for itself.
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

/** Bytes decoded at once on the way to a prefix. */
const STRIDE = 256;

function prefixLengthOf(name: string, bytes: Uint8Array, codePoints: number): number {
  const probe = new TextDecoder(name);
  let [from, seen] = [0, 0];
  while (from < bytes.length) {
    const more = count(probe.decode(bytes.subarray(from, from + STRIDE), { stream: true }));
    if (seen + more >= codePoints) break;
    seen += more;
    from += STRIDE;
  }
  if (from >= bytes.length) return bytes.length;
  // The last stride byte by byte, by a decoder in the state of its beginning.
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
