/**
 * Contents that a storage has already, in the place of their bytes: an undo restores them without reading them. A
 * backend over a storage writes them as links to what is stored; they have no bytes for anybody else.
 */

/** A content of a storage. */
export interface StoredContent {
  readonly hash: string;
  readonly size: number;
}

/** Bytes that stand for a content of the storage. */
class StoredBytes extends Uint8Array {
  readonly content: StoredContent;

  /** A copy of it is no content of the storage. */
  static get [Symbol.species](): Uint8ArrayConstructor {
    return Uint8Array;
  }

  constructor(content: StoredContent) {
    super(0);
    this.content = content;
  }
}

/** Returns what stands for a content of the storage in a write through a backend over that storage. */
export function storedContent(hash: string, size: number): Uint8Array {
  return new StoredBytes({ hash, size });
}

/** Returns the content of the storage for which bytes stand; undefined for bytes that are the content. */
export function storedContentOf(bytes: Uint8Array): StoredContent | undefined {
  return bytes instanceof StoredBytes ? bytes.content : undefined;
}
