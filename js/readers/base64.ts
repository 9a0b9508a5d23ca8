/** Encodes and decodes base64 with the functions of the runtime. */

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
