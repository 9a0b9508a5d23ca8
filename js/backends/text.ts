/**
 * Text to bytes and back for backends that keep bytes.
 *
 * Lossless or refused: a byte order mark stays part of the text; bytes that are invalid in the
 * encoding, and characters that it lacks, are ENCODING_ERROR. `read_file` detects encodings, a
 * backend does not.
 */
import { backendError } from "./failure.ts";

const decodersByLabel = new Map<string, TextDecoder>();
const encoder = new TextEncoder();
const UNPAIRED_SURROGATE = /[\ud800-\udfff]/u;

/** Decodes bytes. @throws ENCODING_ERROR, or INVALID_ARGUMENT for an unknown encoding */
export function decodeText(bytes: Uint8Array, encoding: string | undefined, path: string): string {
  const label = (encoding ?? "utf-8").toLowerCase();
  const single = maxSingleByteCode(label);
  if (single !== null) return decodeSingle(bytes, single, label, path);
  let decoder = decodersByLabel.get(label);
  if (decoder === undefined) {
    try {
      decoder = new TextDecoder(label, { fatal: true, ignoreBOM: true });
    } catch {
      throw backendError("INVALID_ARGUMENT", path, `unknown encoding ${JSON.stringify(encoding)}`);
    }
    decodersByLabel.set(label, decoder);
  }
  try {
    return decoder.decode(bytes);
  } catch {
    throw backendError("ENCODING_ERROR", path, `bytes are not valid in encoding ${label}`);
  }
}

/** Encodes text. @throws ENCODING_ERROR, or INVALID_ARGUMENT for an unknown encoding */
export function encodeText(text: string, encoding: string | undefined, path: string): Uint8Array {
  const label = (encoding ?? "utf-8").toLowerCase();
  if (UNPAIRED_SURROGATE.test(text)) {
    throw backendError("ENCODING_ERROR", path, "text contains an unpaired surrogate");
  }
  if (label === "utf-8" || label === "utf8") return encoder.encode(text);
  if (label === "utf-16le" || label === "utf-16" || label === "utf-16be") {
    const bytes = new Uint8Array(text.length * 2);
    const view = new DataView(bytes.buffer);
    const little = label !== "utf-16be";
    for (let i = 0; i < text.length; i++) view.setUint16(i * 2, text.charCodeAt(i), little);
    return bytes;
  }
  const limit = maxSingleByteCode(label);
  if (limit === null) {
    throw backendError("INVALID_ARGUMENT", path, `cannot write encoding ${JSON.stringify(encoding)}`);
  }
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > limit) {
      throw backendError("ENCODING_ERROR", path, `a character does not exist in encoding ${label}`);
    }
    bytes[i] = code;
  }
  return bytes;
}

/**
 * Returns the highest code point of an encoding in which bytes are code points (Latin-1, ASCII); null for another
 * encoding.
 */
function maxSingleByteCode(label: string): number | null {
  if (label === "latin1" || label === "iso-8859-1") return 0xff;
  return label === "ascii" || label === "us-ascii" ? 0x7f : null;
}

function decodeSingle(bytes: Uint8Array, limit: number, label: string, path: string): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) {
    const part = bytes.subarray(at, at + 8192);
    if (limit < 0xff && part.some((byte) => byte > limit)) {
      throw backendError("ENCODING_ERROR", path, `bytes are not valid in encoding ${label}`);
    }
    text += String.fromCharCode(...part);
  }
  return text;
}
