/**
 * A cache of each directory of a walk, for the next walk of the same query: an unchanged directory
 * is neither listed nor filtered again, so that a new file costs only the walk of its own
 * directory.
 *
 * Only for backends that report whether a directory is unchanged.
 */
import type { IgnoreFile, IgnoreRules } from "../../engine/search.ts";
import type { FsEntry } from "../entry.ts";

/** One entry of a directory, and whether the walk selects it, enters it, or both. */
export interface WalkItem<E = FsEntry> {
  /** The place of the entry in path order; empty where the walk has another order. */
  readonly key: string;
  /** The path of the entry relative to the start of the walk. */
  readonly path: string;
  readonly entry: E;
  readonly selected: boolean;
  readonly enter: boolean;
  /** Data of the caller about the entry; dropped when its directory changes. */
  slot?: unknown;
}

/** The ignore files of a directory. With `border`, the rules of directories above do not apply below it. */
export interface IgnoreFiles {
  readonly files: readonly IgnoreFile[];
  readonly border: boolean;
}

/** The state of a directory, and the rules that were applied to it. */
export interface OpenedDirectory<E = FsEntry> {
  readonly stamp: unknown;
  /** The ignore rules of the directories above; undefined where ignore files do not apply. */
  readonly outer: IgnoreRules | undefined;
  readonly ignoreFiles: IgnoreFiles;
  readonly rules: IgnoreRules | undefined;
  readonly items: readonly WalkItem<E>[];
  /** The number of its entries that ignore files exclude. */
  readonly ignored: number;
  /** The number of those that would be selected. */
  readonly ignoredMatches: number;
  /** The paths of the directories that ignore files exclude and that may contain selected entries. */
  readonly ignoredDirectories: readonly string[];
}

/** The rules of the directories above the start, and the start's path as they see it. */
export interface DirectoriesAbove {
  readonly rules: IgnoreRules;
  readonly prefix: string;
}

/** Returns the stamp of a directory: equal stamps mean the same entries and the same ignore files. */
export type StampOf = (directory: string) => unknown;

/** The directories of a walk. */
export class WalkCache<E = FsEntry> {
  readonly stampOf: StampOf;
  #known = new Map<string, OpenedDirectory<E>>();
  #next = new Map<string, OpenedDirectory<E>>();
  #above: { readonly value: DirectoriesAbove; readonly stamps: ReadonlyMap<string, unknown> } | undefined;

  constructor(stampOf: StampOf) {
    this.stampOf = stampOf;
  }

  /** Returns a cache that begins with what this one knows, for a tree whose directories have other stamps. */
  continued(stampOf: StampOf): WalkCache<E> {
    if (stampOf === this.stampOf) return this;
    const cache = new WalkCache<E>(stampOf);
    cache.#known = new Map(this.#known);
    cache.#above = this.#above;
    return cache;
  }

  /** The rules above the start, which are used while every directory is unchanged. */
  get above(): DirectoriesAbove | undefined {
    if (this.#above === undefined) return undefined;
    const { stamps, value } = this.#above;
    for (const [directory, stamp] of stamps) if (this.stampOf(directory) !== stamp) return undefined;
    try {
      // Rules of an engine that trapped meanwhile are invalid.
      value.rules.ignored("x", false);
    } catch {
      this.#above = undefined;
      this.#known.clear();
      return undefined;
    }
    return value;
  }

  /** Caches the rules above the start. `stamps` are those from before the directories were read. */
  keepAbove(value: DirectoriesAbove, stamps: ReadonlyMap<string, unknown>): void {
    for (const [directory, stamp] of stamps) if (this.stampOf(directory) !== stamp) return;
    this.#above = { value, stamps };
  }

  /** Returns the state of a directory at the last walk. */
  get(directory: string): OpenedDirectory<E> | undefined {
    return this.#known.get(directory);
  }

  /** Caches the state of a directory, unless it changed while it was read. */
  keep(directory: string, opened: OpenedDirectory<E>): void {
    if (opened.stamp !== undefined && this.stampOf(directory) === opened.stamp) {
      this.#next.set(directory, opened);
    }
  }

  /** Ends a walk. After a complete one, only the directories that it visited stay cached. */
  over(whole: boolean): void {
    if (whole) this.#known = this.#next;
    else for (const [directory, opened] of this.#next) this.#known.set(directory, opened);
    this.#next = new Map();
  }
}

/** Returns true when two directories have the same ignore files. */
export function sameIgnoreFiles(a: IgnoreFiles, b: IgnoreFiles): boolean {
  if (a.border !== b.border || a.files.length !== b.files.length) return false;
  return a.files.every(({ place, content }, at) => {
    const other = b.files[at] as IgnoreFile;
    if (place !== other.place || content.length !== other.content.length) return false;
    return content.every((byte, index) => byte === other.content[index]);
  });
}
