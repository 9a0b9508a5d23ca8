/**
 * Contents that a storage has already, in the place of their bytes: an undo restores them without reading them. A
 * backend over a storage writes them as links to what is stored; they have no bytes for anybody else.
 */

/** A content of a storage. */
export interface StoredContent {
  readonly hash: string;
  readonly size: number;
}

const contents = new WeakMap<Uint8Array, StoredContent>();

/** Returns what stands for a content of the storage in a write through a backend over that storage. */
export function storedContent(hash: string, size: number): Uint8Array {
  const stand = new Uint8Array(0);
  contents.set(stand, { hash, size });
  return stand;
}

/** Returns the content of the storage for which bytes stand; undefined for bytes that are the content. */
export function storedContentOf(bytes: Uint8Array): StoredContent | undefined {
  return contents.get(bytes);
}
