/** Bytes as hexadecimal digits. */

/** Returns bytes in hexadecimal, two digits each. */
export function hexOf(bytes: Uint8Array): string {
  let hex = "";
  for (const byte of bytes) hex += byte.toString(16).padStart(2, "0");
  return hex;
}

/** Returns the bytes of a text in hexadecimal. */
export function bytesOfHex(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array((text.match(/../gu) ?? []).map((byte) => Number.parseInt(byte, 16)));
}

/** Returns this many random bytes in hexadecimal. */
export function randomHex(bytes: number): string {
  return hexOf(crypto.getRandomValues(new Uint8Array(bytes)));
}
