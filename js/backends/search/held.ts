/**
 * Contents that a backend holds in memory, for searches: scanned without a copy, and indexed.
 * Every write passes through such a backend, so the index needs no revalidation.
 *
 * This interface is internal to the backends of this folder; searches read any other backend.
 */
import { engine } from "../../engine/current.ts";
import type { CompiledQuery, HeldIndex, SentQuery } from "../../engine/search.ts";
import type { FsBackend, MaybePromise } from "../backend.ts";

/** A file; its bytes are never changed in place, only replaced. */
export interface HeldFile {
  readonly bytes: Uint8Array;
}

/** The searchable contents of a backend that holds its files in memory. */
export interface ContentProvider {
  readonly signs: ContentSigns;
  /**
   * Changes whenever an entry is added, removed or moved, or the content of a file with a watched
   * name changes.
   */
  shape(): string;
  /**
   * Changes whenever an entry of a directory is added or removed, or the content of a file in it
   * with a watched name changes. Values never repeat. Undefined where the directory does not
   * exist.
   */
  stamp(directory: string): number | string | undefined;
  /** Adds names of files whose content affects a walk: ignore files. */
  watch(names: readonly string[]): void;
  /** Returns the file at a path. @throws as `readBytes` */
  file(path: string): MaybePromise<HeldFile>;
  /** True when the backend still has its own methods: no caller has replaced one. */
  intact(): boolean;
}

const providersByBackend = new WeakMap<FsBackend, ContentProvider>();

/** Registers the contents that a backend holds. */
export function provideContents(backend: FsBackend, contents: ContentProvider): void {
  providersByBackend.set(backend, contents);
}

/** Returns the contents that a backend holds, or undefined where searches have to read it. */
export function contentsOf(backend: FsBackend): ContentProvider | undefined {
  const contents = providersByBackend.get(backend);
  return contents?.intact() === true ? contents : undefined;
}

/** Codes of contents that are not indexed: never read, read by one query, and those of the engine. */
export const NEVER_READ_CODE = -4;
const READ_ONCE_CODE = -3;
/** Every query has to read it. */
const NOT_INDEXED_CODE = -2;
export const BINARY_CODE = -1;

/** The maximum memory of the index, in bytes; contents beyond it are read by every query. */
const MAX_INDEX_BYTES = 128 << 20;
/**
 * The largest content that is indexed, in bytes. Indexing a larger one takes longer than a page
 * may wait, so every query reads it.
 */
const MAX_INDEXED_BYTES = 1 << 20;
/** The minimum number of contents to index before the index is rebuilt to drop those that are gone. */
const MIN_INDEXED_CONTENTS = 4096;

/** A set of numbers: those of the contents that can match. */
export interface Candidates {
  /** Only contents with lower numbers are in the set. */
  readonly known: number;
  readonly bits: Uint8Array;
}

/** The index of contents. A content is indexed when a second query reads it. */
export class ContentSigns {
  #index: HeldIndex | undefined;
  #codes = new WeakMap<Uint8Array, number>();
  #known = 0;
  #generation = 0;

  /** Codes of another generation are invalid. */
  get generation(): number {
    return this.#generation;
  }

  /** Returns the number of a content, or one of the codes above. */
  codeOf(content: Uint8Array): number {
    return this.#codes.get(content) ?? NEVER_READ_CODE;
  }

  /** Records that a query has read a content, and returns its code. */
  read(content: Uint8Array): number {
    const code = this.codeOf(content);
    if (code !== NEVER_READ_CODE && code !== READ_ONCE_CODE) return code;
    const next = code === NEVER_READ_CODE ? READ_ONCE_CODE : this.#sign(content);
    this.#codes.set(content, next);
    return next;
  }

  #sign(content: Uint8Array): number {
    if (content.length > MAX_INDEXED_BYTES) return NOT_INDEXED_CODE;
    this.#index ??= engine().heldIndex();
    // Checked only now and then, because it is a call of the engine.
    if (this.#known % 256 === 0 && this.#index.bytes() > MAX_INDEX_BYTES) return NOT_INDEXED_CODE;
    const code = this.#index.sign(content);
    if (code >= 0) this.#known = code + 1;
    return code;
  }

  /** Returns the contents that can match, or undefined where all can. */
  candidates(query: CompiledQuery | SentQuery): Candidates | undefined {
    const bits = this.#index?.candidates(query);
    return bits === undefined ? undefined : { known: this.#known, bits };
  }

  /**
   * Clears the index when most of its contents are gone, given the number of contents that still
   * exist.
   */
  tidy(contents: number): void {
    if (this.#known > MIN_INDEXED_CONTENTS + 3 * contents) this.forget();
  }

  /** Clears the index. */
  forget(): void {
    this.#index = undefined;
    this.#codes = new WeakMap();
    this.#known = 0;
    this.#generation++;
  }
}
