/** Hashes, random names, and JSON as bytes. */
import { hexOf } from "../values.ts";

export { sha256 } from "../values.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Returns a name that nobody else has: 96 random bits in hexadecimal digits. */
export function randomId(): string {
  return hexOf(crypto.getRandomValues(new Uint8Array(12)));
}

/** Returns a value as the bytes of its JSON. */
export function toJsonBytes(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}

/** Returns the value of JSON in bytes. */
export function fromJsonBytes(bytes: Uint8Array): unknown {
  return JSON.parse(decoder.decode(bytes));
}
