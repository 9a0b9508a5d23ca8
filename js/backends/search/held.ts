/**
 * The contents of a backend that knows all of its files, for searches: they are indexed, and only those that can match
 * are read. A backend in memory knows them because every write passes through it, a moment of a storage because it never
 * changes. So the index is never outdated.
 *
 * This interface is internal to the backends of this folder. Searches of any other backend read its files.
 */
import { engine } from "../../engine/current.ts";
import type { CountedContents } from "../../engine/rank.ts";
import type { CompiledQuery, Freshness, HeldIndex, SentQuery } from "../../engine/search.ts";
import type { MaybePromise } from "../backend.ts";
import type { CachedWalks } from "./cached-walk.ts";
import type { ContentSource, HeldFile } from "./held-file.ts";

/** The searchable contents of a backend that knows all of its files. */
export interface ContentProvider {
  readonly signs: ContentSigns;
  /** The cached walks of this backend and of those that confine it. */
  readonly walks: CachedWalks;
  /** How an answer from a cached walk is known to be fresh: every write was noticed, or the whole tree is of one moment. */
  readonly fresh: Extract<Freshness, "watch" | "scan">;
  /** Stands for the policy under which the files are seen, among the walks. */
  readonly view: string;
  /**
   * Returns a text that changes whenever an entry is added, removed or moved, or the content of a file with a
   * watched name changes.
   */
  shape(): string;
  /**
   * Returns a value that changes whenever an entry of a directory is added or removed, or the content of a watched
   * file in it changes. Values never repeat. Undefined when the directory does not exist.
   */
  stamp(directory: string): number | string | undefined;
  /** Adds names of files whose content affects a walk, which are ignore files. */
  watch(names: readonly string[]): void;
  /** Where contents are read that are not in memory; undefined where all of them are. */
  readonly source: ContentSource | undefined;
  /** Returns the file at a path, without reading it. @throws as `readBytes` where the path may not be read */
  file(path: string): MaybePromise<HeldFile>;
  /** Returns true while no caller has replaced a method of the backend. */
  intact(): boolean;
}

/** The code of a content that no query has read. Indexed contents have numbers from 0 on. */
export const NEVER_READ_CODE = -4;
/** The code of a content that one query has read. It is indexed at the next read. */
const READ_ONCE_CODE = -3;
/** The code of a content that is never indexed, such as a large one, so every query reads it. */
const NOT_INDEXED_CODE = -2;
/** The code of a binary content, as the engine returns it. */
export const BINARY_CODE = -1;

/** The maximum memory of the index, in bytes. Contents beyond it are not indexed, so every query reads them. */
const MAX_INDEX_BYTES = 128 << 20;
/**
 * The largest content that is indexed, in bytes. Indexing a larger one takes longer than a page
 * may wait, so every query reads it.
 */
const MAX_INDEXED_BYTES = 1 << 20;
/** The number of indexed contents from which the index may be rebuilt, to drop contents that no longer exist. */
const MIN_INDEXED_CONTENTS = 4096;

/** The numbers of the indexed contents that can match a query. */
export interface Candidates {
  /** The set says nothing about contents with this number or a higher one. */
  readonly known: number;
  readonly bits: Uint8Array;
}

/** The maximum memory of the counted terms, in bytes. Beyond it, the next query counts them again. */
const MAX_TERM_BYTES = 64 << 20;
/** The size in bytes of the contents with a number from which those that the last query did not find are forgotten. */
const MIN_FORGOTTEN_BYTES = 64 << 20;
/** The memory in bytes of the number of a content, without the key. */
const NUMBER_BYTES = 200;

/** The terms of contents, for ranked searches: each content is counted by the first query that ranks it. */
export class ContentTerms {
  #contents: CountedContents = engine().ranking.counted();
  #numbers = new NumberedContents();

  /** Begins a query. Returns the counted contents, which stay valid until it ends. */
  begin(): { readonly contents: CountedContents; readonly numbers: ContentNumbers } {
    if (this.#contents.bytes() > MAX_TERM_BYTES) {
      this.#contents = engine().ranking.counted();
      this.#numbers = new NumberedContents();
    }
    const [contents, numbers] = [this.#contents, this.#numbers];
    numbers.begin();
    return {
      contents,
      numbers: {
        get: (content, key) => numbers.get(content, key),
        count(content, { key, path, bytes }) {
          const number = contents.add(path, bytes);
          numbers.set(key, content, number, bytes.length);
          return number;
        },
      },
    };
  }
}

/** A content with its number. It keeps the content in memory. */
interface NumberedContent {
  readonly content: object;
  readonly number: number;
  /** The memory in bytes. */
  readonly bytes: number;
  /** The last query that found it. */
  query: number;
}

/** The last content that was counted for each key, and its number. What files had before, or removed files, is forgotten. */
class NumberedContents {
  readonly #byKey = new Map<string, NumberedContent>();
  #query = 0;
  #bytes = 0;
  #most = MIN_FORGOTTEN_BYTES;

  /** Begins a query. Where much is kept, what the last query did not find is forgotten. */
  begin(): void {
    if (this.#bytes > this.#most) {
      for (const [key, known] of this.#byKey) if (known.query !== this.#query) this.#forget(key, known);
      // A large tree is not looked through at each query.
      this.#most = Math.max(MIN_FORGOTTEN_BYTES, 2 * this.#bytes);
    }
    this.#query++;
  }

  get(content: object, key: string): number | undefined {
    const known = this.#byKey.get(key);
    if (known?.content !== content) return undefined;
    known.query = this.#query;
    return known.number;
  }

  set(key: string, content: object, number: number, size: number): void {
    const before = this.#byKey.get(key);
    if (before !== undefined) this.#forget(key, before);
    const bytes = size + NUMBER_BYTES + 2 * key.length;
    this.#byKey.set(key, { content, number, bytes, query: this.#query });
    this.#bytes += bytes;
  }

  #forget(key: string, { bytes }: NumberedContent): void {
    this.#byKey.delete(key);
    this.#bytes -= bytes;
  }
}

/** The numbers of counted contents. `key` stands for the policy of a query, the file, and its path in the search. */
export interface ContentNumbers {
  /** Returns the number of a content; -1 for one that is not ranked, undefined for one that is not counted. */
  get(content: object, key: string): number | undefined;
  /** Counts a content, and returns its number; -1 for one that is not ranked. */
  count(
    content: object,
    as: { readonly key: string; readonly path: string; readonly bytes: Uint8Array },
  ): number;
}

/** The index of contents. A content is added when a second query reads it. */
export class ContentSigns {
  #index: HeldIndex | undefined;
  #codes = new WeakMap<object, number>();
  #known = 0;
  /** The number of files of the largest search since the index was empty. */
  #most = 0;
  #generation = 0;
  #terms: ContentTerms | undefined;

  /** The terms of the contents. */
  get terms(): ContentTerms {
    this.#terms ??= new ContentTerms();
    return this.#terms;
  }

  /** The number of times that the index was cleared. Codes of another generation are invalid. */
  get generation(): number {
    return this.#generation;
  }

  /** Returns the number of a content in the index; a negative code when it is not indexed. */
  codeOf(content: object): number {
    return this.#codes.get(content) ?? NEVER_READ_CODE;
  }

  /** Records that a query has read the bytes of a content, and returns its code. */
  read(content: object, bytes: Uint8Array): number {
    const code = this.codeOf(content);
    if (code !== NEVER_READ_CODE && code !== READ_ONCE_CODE) return code;
    const next = code === NEVER_READ_CODE ? READ_ONCE_CODE : this.#sign(bytes);
    this.#codes.set(content, next);
    return next;
  }

  #sign(bytes: Uint8Array): number {
    if (bytes.length > MAX_INDEXED_BYTES) return NOT_INDEXED_CODE;
    this.#index ??= engine().heldIndex();
    // The memory of the index is checked only now and then, because that is a call of the engine.
    if (this.#known % 256 === 0 && this.#index.bytes() > MAX_INDEX_BYTES) return NOT_INDEXED_CODE;
    const code = this.#index.sign(bytes);
    if (code >= 0) this.#known = code + 1;
    return code;
  }

  /** Returns the contents that can match a query; undefined when all can. */
  candidates(query: CompiledQuery | SentQuery): Candidates | undefined {
    const bits = this.#index?.candidates(query);
    return bits === undefined ? undefined : { known: this.#known, bits };
  }

  /**
   * Clears the index when most of its contents no longer exist. `contents` is the number of files of a search, of which
   * the largest stands for all of the tree: another one is of a directory in it.
   */
  tidy(contents: number): void {
    this.#most = Math.max(this.#most, contents);
    if (this.#known > MIN_INDEXED_CONTENTS + 3 * this.#most) this.forget();
  }

  /** Clears the index. */
  forget(): void {
    this.#index = undefined;
    this.#codes = new WeakMap();
    this.#known = 0;
    this.#most = 0;
    this.#generation++;
  }
}
