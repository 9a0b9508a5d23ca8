/** The files of a backend that knows all of its files, as searches see them. */
import type { MaybePromise } from "../backend.ts";

/**
 * Where the contents of files are that are not in memory. A file does not name it: a fork keeps the files of its parent's
 * walks, and reads their contents itself.
 */
export interface ContentSource {
  /** Returns the content for which an object stands, where it is in memory. */
  kept(content: object): Uint8Array | undefined;
  /** Reads the content for which an object stands, or a later one of the same file. @throws as `readBytes` */
  read(content: object, signal: AbortSignal | undefined): Promise<HeldContent>;
}

/** A file; its content is never changed in place, only replaced. */
export interface HeldFile {
  /** Stands for the present content in the index: an object that no other content ever had. */
  readonly content: object;
  /** The size of the present content, in bytes. */
  readonly size: number;
  /** Returns the present content, where it is in memory and may be read; undefined otherwise. */
  near(source: ContentSource | undefined): Uint8Array | undefined;
  /**
   * Returns the present content; in a moment of a storage also a later one, which is not indexed.
   * @throws as `readBytes`
   */
  read(source: ContentSource | undefined, signal: AbortSignal | undefined): MaybePromise<HeldContent>;
}

/** A content as it was read. */
export interface HeldContent {
  readonly bytes: Uint8Array;
  /** The object that stands for these bytes in the index; undefined where none does. */
  readonly content: object | undefined;
}

/** A file whose content is in memory. */
export class FileInMemory implements HeldFile {
  readonly #node: { readonly bytes: Uint8Array };

  /** `node` has the present content; it may be replaced there. */
  constructor(node: { readonly bytes: Uint8Array }) {
    this.#node = node;
  }

  get content(): object {
    return this.#node.bytes;
  }

  get size(): number {
    return this.#node.bytes.length;
  }

  near(): Uint8Array {
    return this.#node.bytes;
  }

  read(): HeldContent {
    const { bytes } = this.#node;
    return { bytes, content: bytes };
  }
}
