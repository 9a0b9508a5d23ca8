/**
 * Contents that a backend holds in memory, as searches use them: looked at where
 * they are, and remembered by their signatures. Every write passes through such a
 * backend, so nothing has to be asked whether it is still as it was.
 *
 * What is offered here is between the backends of this room: a backend of
 * somebody's own is searched by reading it.
 */
import { engine } from "../engine/current.ts";
import type { CompiledQuery, HeldIndex, SentQuery } from "../engine/search.ts";
import type { FsBackend, MaybePromise } from "./backend.ts";

/** A file; its bytes are never changed in place, only exchanged. */
export interface HeldFile {
  readonly bytes: Uint8Array;
}

/** What a backend that holds its contents offers to searches. */
export interface HeldContents {
  readonly signs: Signs;
  /** Changes whenever an entry comes, goes or moves, or the content of a file with a watched name changes. */
  shape(): string;
  /**
   * Changes whenever an entry of a directory comes or goes, or the content of a file in it with a watched
   * name changes, and was never seen before then; undefined where there is no such directory.
   */
  stamp(directory: string): number | string | undefined;
  /** Adds names of files whose content changes what a walk sees: ignore files. */
  watch(names: readonly string[]): void;
  /** The file at a path. @throws as `readBytes` */
  file(path: string): MaybePromise<HeldFile>;
  /** Whether the backend still answers as it was made: nobody has put another method in its place. */
  intact(): boolean;
}

const offered = new WeakMap<FsBackend, HeldContents>();

/** Offers the contents that a backend holds. */
export function offerHeld(backend: FsBackend, contents: HeldContents): void {
  offered.set(backend, contents);
}

/** The contents that a backend holds; undefined where searches have to read it. */
export function heldBy(backend: FsBackend): HeldContents | undefined {
  const contents = offered.get(backend);
  return contents?.intact() === true ? contents : undefined;
}

/** Codes of contents that have no number: never read, read by one query, and those of the engine. */
export const NEVER = -4;
const ONCE = -3;
/** Every query has to read it. */
const ALWAYS = -2;
export const BINARY = -1;

/** The most memory for signatures, in bytes; contents beyond it are read by every query. */
const MOST_BYTES = 128 << 20;
/** Larger contents are read by every query: to sign one takes longer than a page may wait (bytes). */
const MOST_SIGNED = 1 << 20;
/** So many contents are looked after before any of them is thought to be gone. */
const LEAST_CONTENTS = 4096;

/** A set of numbers: those of the contents that can match. */
export interface Candidates {
  /** Only contents with lower numbers are told apart. */
  readonly known: number;
  readonly bits: Uint8Array;
}

/** The signatures of contents. Those of a content are made when a second query reads it. */
export class Signs {
  #index: HeldIndex | undefined;
  #codes = new WeakMap<Uint8Array, number>();
  #known = 0;
  #generation = 0;

  /** Codes of another generation mean nothing. */
  get generation(): number {
    return this.#generation;
  }

  /** The number of a content, or one of the codes above. */
  codeOf(content: Uint8Array): number {
    return this.#codes.get(content) ?? NEVER;
  }

  /** Takes note that a query has read a content. */
  read(content: Uint8Array): number {
    const code = this.codeOf(content);
    if (code !== NEVER && code !== ONCE) return code;
    const next = code === NEVER ? ONCE : this.#sign(content);
    this.#codes.set(content, next);
    return next;
  }

  #sign(content: Uint8Array): number {
    if (content.length > MOST_SIGNED) return ALWAYS;
    this.#index ??= engine().heldIndex();
    // Asked now and then: it is a call of the engine.
    if (this.#known % 256 === 0 && this.#index.bytes() > MOST_BYTES) return ALWAYS;
    const code = this.#index.sign(content);
    if (code >= 0) this.#known = code + 1;
    return code;
  }

  /** Which contents can match; undefined where all can. */
  candidates(query: CompiledQuery | SentQuery): Candidates | undefined {
    const bits = this.#index?.candidates(query);
    return bits === undefined ? undefined : { known: this.#known, bits };
  }

  /** Forgets what most of has gone, given how many contents there still are. */
  tidy(contents: number): void {
    if (this.#known > LEAST_CONTENTS + 3 * contents) this.forget();
  }

  /** Forgets everything. */
  forget(): void {
    this.#index = undefined;
    this.#codes = new WeakMap();
    this.#known = 0;
    this.#generation++;
  }
}
