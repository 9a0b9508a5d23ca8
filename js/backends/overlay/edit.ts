/**
 * One change of an overlay: applies the rules of all trees (`TreeDraft`) to the entry at one place, and yields the paths that
 * the overlay has to record.
 */
import type { FsStat } from "../backend.ts";
import type { FoundPlace } from "../fallback/fallback.ts";
import { LINK_MODE } from "../entry.ts";
import { byteLength, parentOf } from "../paths.ts";
import { type MadeFacts, type PutContent, TreeDraft } from "../tree/draft.ts";
import { emptyDirectory, type NodeEntry } from "../tree/nodes.ts";
import type { ChangedNode, ChangedPath } from "./draft.ts";

/** The place of a path in an overlay, with what the overlay has there itself. */
export interface OverlayPlace extends FoundPlace {
  readonly changed: OverlayEntry["now"];
}

/** The content of a file: bytes, or the facts of a lower file whose content it is. */
interface OverlayContent extends PutContent {
  readonly source: Uint8Array | FsStat;
}

/** An entry, with what the overlay has at its path; undefined for one of the lower backend. */
interface OverlayEntry extends NodeEntry {
  readonly stat: FsStat | undefined;
  readonly now: ChangedNode | Extract<ChangedPath["now"], { readonly type: "mode" }> | undefined;
}

/**
 * A tree made for one change: the entry at the place, and the nearest directory above that exists. Directories have no
 * children here: the caller checks what depends on them (NOT_EMPTY).
 */
export class OverlayEdit extends TreeDraft<OverlayEntry, OverlayContent> {
  /** The lower backend may be a disk, which keeps every bit. */
  protected override readonly bits: number = 0o7777;
  readonly #paths = new Set<string>();
  readonly #newVersion: () => string;

  constructor({ path, stat, missing, changed }: OverlayPlace, newVersion: () => string) {
    const there = stat && entryOf(path, stat, changed);
    super(emptyDirectory(path === "/" && there !== undefined ? there : DIRECTORY));
    this.#newVersion = newVersion;
    const nearest = parentOf(missing.at(-1) ?? path);
    if (nearest !== "/") this.set(nearest, this.newDirectory(DIRECTORY));
    // None of that is a part of the change.
    this.#paths.clear();
    if (there === undefined || path === "/") return;
    this.set(path, there.type === "dir" ? this.newDirectory(there) : { entry: there });
  }

  /** Yields the changed paths, each directory before its content, with its entry; undefined where none is left. */
  *changes(): Generator<readonly [path: string, now: OverlayEntry["now"]]> {
    for (const path of this.#paths) yield [path, this.at(path)?.entry.now];
  }

  protected override changed(path: string): void {
    this.#paths.add(path);
  }

  protected override made(path: string, facts: MadeFacts<OverlayContent>): OverlayEntry {
    const { type } = facts;
    const mtime = Date.now();
    const common = { path, type, isDir: type === "dir", isFile: type === "file", mtime, nlink: 1 } as const;
    if (type === "dir") {
      const stat = Object.freeze({ ...common, size: 0, mode: facts.mode });
      return entryOf(path, stat, { type, stat, hasOwnMode: false });
    }
    if (type === "symlink") {
      const { target } = facts;
      const stat = Object.freeze({ ...common, size: byteLength(target), mode: LINK_MODE, target });
      return entryOf(path, stat, { type, target, stat });
    }
    const { source: content } = facts.content;
    const size = content instanceof Uint8Array ? content.length : content.size;
    const stat = Object.freeze({ ...common, size, mode: facts.mode, version: this.#newVersion() });
    return entryOf(path, stat, { type, content, stat });
  }

  protected override withMode(entry: OverlayEntry, mode: number): OverlayEntry {
    const { path, now } = entry;
    const stat = Object.freeze({ ...(entry.stat as FsStat), path, mode });
    if (now?.type === "dir") return entryOf(path, stat, { ...now, stat, hasOwnMode: true });
    if (now?.type === "file" || now?.type === "symlink") return entryOf(path, stat, { ...now, stat });
    if (entry.type === "dir") return entryOf(path, stat, { type: "mode", mode });
    return entryOf(path, stat, { type: "file", content: entry.stat as FsStat, stat });
  }

  /** No caller moves anything in this tree. */
  protected override moved(entry: OverlayEntry): OverlayEntry {
    return entry;
  }
}

/** Stands for a directory above a place. Its facts are never read, nor is its path. */
const DIRECTORY: OverlayEntry = Object.freeze({ path: "/", type: "dir", stat: undefined, now: undefined });

function entryOf(path: string, stat: FsStat, now: OverlayEntry["now"]): OverlayEntry {
  const { type, mode, target } = stat;
  // A tree has no type for devices and sockets, which are only removed or replaced.
  return { path, type: type === "other" ? "gone" : type, mode, target, stat, now };
}
