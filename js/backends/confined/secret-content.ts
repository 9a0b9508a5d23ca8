/** Detects secrets by content. The engine decides, after a cheap check that saves most files the call. */
import { engine } from "../../engine/current.ts";

/** The number of bytes at the beginning of a file that decide. */
export const SECRET_HEAD_BYTES: number = 64 << 10;

/**
 * The first bytes of such files, after whitespace: `{`, `-`, `#`, `B`, `P`, `A`, and byte order
 * marks of UTF-16.
 */
const FIRST_BYTES: ReadonlySet<number> = new Set([0x7b, 0x2d, 0x23, 0x42, 0x50, 0x41, 0xff, 0xfe]);

/** Answers about contents that do not change in place. */
const known = new WeakMap<Uint8Array, boolean>();

/** Returns true when a file that begins with these bytes could be a secret by content. */
export function mayHoldSecret(head: Uint8Array): boolean {
  let at = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0;
  while (at < head.length && isBlank(head[at] as number)) at++;
  return at < head.length ? FIRST_BYTES.has(head[at] as number) : head.length > 0;
}

/**
 * Returns true when a file that begins with these bytes contains a private key or the key of a
 * service account.
 */
export function holdsSecret(head: Uint8Array): boolean {
  return mayHoldSecret(head) && engine().holdsSecretContent(head);
}

/**
 * {@link holdsSecret} for a content that is never changed in place; caches the answer, as searches
 * ask repeatedly.
 */
export function heldHoldsSecret(content: Uint8Array): boolean {
  if (!mayHoldSecret(content)) return false;
  const before = known.get(content);
  if (before !== undefined) return before;
  const answer = engine().holdsSecretContent(content);
  known.set(content, answer);
  return answer;
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}
