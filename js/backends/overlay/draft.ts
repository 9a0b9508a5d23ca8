/**
 * The uncommitted changes over a lower backend: for each changed path, what was there when it was first changed, and
 * what is there now.
 */
import type { FsStat } from "../backend.ts";
import { ChangedPaths } from "./changed-paths.ts";

/** An entry that was written in the overlay. */
export type ChangedNode =
  | {
      readonly type: "file";
      /** The content; of a copy that was not read yet, the facts of its source in the lower backend. */
      readonly content: Uint8Array | FsStat;
      readonly stat: FsStat;
    }
  | {
      readonly type: "dir";
      readonly stat: FsStat;
      /** True when it was given permission bits; else it has the default ones. */
      readonly hasOwnMode: boolean;
    }
  | { readonly type: "symlink"; readonly target: string; readonly stat: FsStat };

/** All entries below a directory of the lower backend. */
export interface LowerTree {
  /** The size and time of each file and link, by its path. */
  readonly files: ReadonlyMap<string, string>;
  readonly directories: readonly string[];
}

/** The entry that was found at a path at one moment; null where there was none. */
export type Known =
  | {
      readonly type: "file";
      readonly stat: FsStat;
      readonly version: string;
      /** `sha256:` of the content; `unread` and the version where the content may not be read, or is not kept. */
      readonly hash: string;
      /** Null for a large file, and for one that is not read. */
      readonly bytes: Uint8Array | null;
    }
  | { readonly type: "dir"; readonly stat: FsStat; readonly tree: LowerTree }
  | { readonly type: "other"; readonly stat: FsStat; readonly version: string }
  | null;

/** A changed path. Immutable. */
export interface ChangedPath {
  /** The entry of the lower backend when the path was first changed here, since the last merge that took it. */
  readonly was: Known;
  /**
   * The entry of the overlay, or nothing (`gone`). `mode` is a directory of the lower backend with other permission
   * bits, whose content still shows. `hidden` is a changed path that vanished with a directory above it: it is neither
   * shown nor committed, and `was` is kept for the merge of a fork, and for the path if it is made again.
   */
  readonly now:
    | ChangedNode
    | { readonly type: "gone" }
    | { readonly type: "mode"; readonly mode: number }
    | { readonly type: "hidden" };
}

/** The changed paths at one moment. */
export type DraftState = ReadonlyMap<string, ChangedPath>;

/** The text that stands for the version of a directory, which has none. */
export const DIRECTORY_VERSION = "dir";

/** A tree that was not looked at, or is not needed. */
export const NO_TREE: LowerTree = Object.freeze({ files: new Map<string, string>(), directories: [] });

const GONE = Object.freeze({ type: "gone" });
const HIDDEN = Object.freeze({ type: "hidden" });

/** The changes of an overlay by their real paths. */
export class Draft {
  /** A number that grows with every change. */
  revision = 0;
  /** The numbers of changed paths by what is there now, and of copies whose content is still at the source. */
  readonly #counts = { file: 0, dir: 0, symlink: 0, gone: 0, mode: 0, hidden: 0, copies: 0 };
  readonly #paths = new ChangedPaths<ChangedPath>();

  /** Returns true when the overlay has no entry and no removal; permission bits of directories do not count. */
  get isEmpty(): boolean {
    return this.#paths.size === this.#counts.mode + this.#counts.hidden;
  }

  /** Returns true when the overlay contains a new link. */
  get hasLinks(): boolean {
    return this.#counts.symlink > 0;
  }

  /** Returns true when the content of a copy is still at its source. */
  get hasCopies(): boolean {
    return this.#counts.copies > 0;
  }

  /** Returns what is known of a changed path. */
  get(path: string): ChangedPath | undefined {
    return this.#paths.get(path);
  }

  /** Returns the entry at a changed path; null for a removed one, undefined where the lower backend may show. */
  node(path: string): ChangedNode | null | undefined {
    return nodeOf(this.#paths.get(path));
  }

  /** Yields the changed entries below a directory; null for a removed one. */
  *nodes(top = "/"): Generator<readonly [path: string, node: ChangedNode | null]> {
    for (const [path, changed] of this.#paths.below(top)) {
      const node = nodeOf(changed);
      if (node !== undefined) yield [path, node];
    }
  }

  /** Returns true when an entry or a removal of the overlay, at the path or above it, covers the lower backend there. */
  isCovered(path: string): boolean {
    return this.#paths.nearest(path, (changed) => nodeOf(changed) !== undefined) !== undefined;
  }

  /** Records what is at a path now. */
  set(path: string, was: Known, now: ChangedPath["now"]): void {
    // Directories below that were given permission bits are no longer there: a new entry takes their place.
    if (now.type !== "mode" && this.#counts.mode > 0 && this.node(path) === undefined)
      for (const [at, below] of this.#paths.below(path))
        if (below.now.type === "mode") this.#replace(at, undefined);
    this.#replace(path, { was, now });
  }

  /** Removes a path, with everything below it. */
  remove(path: string, was: Known): void {
    for (const [at, below] of this.#paths.below(path))
      this.#replace(at, below.now.type === "mode" ? undefined : { was: below.was, now: HIDDEN });
    this.#replace(path, { was, now: GONE });
  }

  /** Returns the changed paths of this moment. Later changes do not show in them. */
  snapshot(): DraftState {
    return this.#paths.snapshot();
  }

  /**
   * Forgets the changes of a snapshot, which the lower backend has now. A path that was changed meanwhile keeps its
   * change; `became` returns the lower entry on which that one is based from now on. The caller holds the turn.
   */
  async forget(
    merged: DraftState,
    became: (path: string, merged: ChangedPath, present: ChangedPath) => Promise<Known>,
  ): Promise<void> {
    for (const [path, one] of merged) {
      const present = this.#paths.get(path);
      if (present === one) this.#replace(path, undefined);
      else if (present !== undefined) this.set(path, await became(path, one, present), present.now);
    }
  }

  /** Forgets every change. */
  clear(): void {
    for (const path of this.snapshot().keys()) this.#replace(path, undefined);
  }

  /** Replaces what is known of one path. */
  #replace(path: string, next: ChangedPath | undefined): void {
    this.revision++;
    this.#count(this.#paths.get(path), -1);
    this.#count(next, 1);
    this.#paths.set(path, next);
  }

  #count(changed: ChangedPath | undefined, by: 1 | -1): void {
    if (changed === undefined) return;
    const { now } = changed;
    this.#counts[now.type] += by;
    if (now.type === "file" && !(now.content instanceof Uint8Array)) this.#counts.copies += by;
  }
}

/** Returns the entry of the overlay; null for a removed one, undefined where there is none of its own. */
export function nodeOf(changed: ChangedPath | undefined): ChangedNode | null | undefined {
  const now = changed?.now;
  if (now?.type === "gone") return null;
  return now?.type === "mode" || now?.type === "hidden" ? undefined : now;
}

/** Returns the permission bits that a directory was given here; undefined where it was given none. */
export function givenMode(changed: ChangedPath | undefined): number | undefined {
  const now = changed?.now;
  if (now?.type === "mode") return now.mode;
  return now?.type === "dir" && now.hasOwnMode ? now.stat.mode : undefined;
}

/** Returns the version that a path had before its first change; null where nothing was. */
export function versionOf(was: Known): string | null {
  if (was === null) return null;
  return was.type === "dir" ? DIRECTORY_VERSION : was.version;
}
