/**
 * Knows large binary files by their first bytes, so that a search does not read addons, archives and fonts whole. The
 * engine decides about every content that a search has; a file that begins binary is binary for it too.
 */

/** The number of bytes at the beginning of a file in which the engine looks for a NUL. */
export const HEAD_BYTES: number = 64 * 1024;

/**
 * Returns true when the first bytes of a file show that it is binary: a NUL is among them, and no byte order mark says
 * that NULs are parts of characters.
 */
export function beginsBinary(head: Uint8Array): boolean {
  const [first] = head;
  return first !== 0xef && first !== 0xfe && first !== 0xff && head.includes(0);
}
