/** Bytes as base64, as fast as the host can. */

interface BufferLike {
  from(buffer: ArrayBufferLike, offset: number, length: number): { toString(encoding: "base64"): string };
}

/** The base64 form of the bytes. */
export function toBase64(bytes: Uint8Array): string {
  const { Buffer } = globalThis as { readonly Buffer?: BufferLike };
  if (Buffer !== undefined)
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
  const parts: string[] = [];
  // A multiple of three, so that the parts join without padding between them.
  for (let at = 0; at < bytes.length; at += 8190) {
    parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + 8190))));
  }
  return parts.join("");
}
