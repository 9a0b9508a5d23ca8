/** One change of an overlay: what it makes of the entry at a place, and of the directories above, is that of any tree. */
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

/** The tree of a place: what stands there, and the directories above. */
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
    this.#paths.clear();
    if (there === undefined || path === "/") return;
    this.set(path, there.type === "dir" ? this.newDirectory(there) : { entry: there });
  }

  /** Yields the changed paths, each directory before its content, with what is there; undefined for nothing. */
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

  protected override moved(entry: OverlayEntry): OverlayEntry {
    return entry;
  }
}

/** A directory above a place, of which no change depends on anything else. */
const DIRECTORY: OverlayEntry = Object.freeze({ path: "/", type: "dir", stat: undefined, now: undefined });

function entryOf(path: string, stat: FsStat, now: OverlayEntry["now"]): OverlayEntry {
  const { type, mode, target } = stat;
  return { path, type: type === "other" ? "gone" : type, mode, target, stat, now };
}
