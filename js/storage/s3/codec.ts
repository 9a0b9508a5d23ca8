/** Hashes, random names, and JSON as bytes. */
import { hexOf, randomHex } from "../../engine/hex.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Returns the SHA-256 of bytes in hexadecimal digits. */
export async function sha256(bytes: Uint8Array): Promise<string> {
  return hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>)));
}

/** Returns a name that nobody else has: 96 random bits in hexadecimal digits. */
export function randomId(): string {
  return randomHex(12);
}

/** Returns a value as the bytes of its JSON. */
export function toJsonBytes(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}

/** Returns the value of JSON in bytes. */
export function fromJsonBytes(bytes: Uint8Array): unknown {
  return JSON.parse(decoder.decode(bytes));
}
