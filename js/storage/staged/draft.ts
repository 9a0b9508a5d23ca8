/**
 * The changes of one call before they are committed: what each path is once all of them are made. Only what they
 * touch is kept; everything else is what the storage has.
 */
import { ChangedPaths } from "../../backends/overlay/changed-paths.ts";
import { movedPath } from "../../backends/paths.ts";
import { applyOp } from "../apply.ts";
import type { Entry, Op, ReadEntry } from "../storage.ts";

/** A change that writes a file. */
type FileOp = Extract<Op, { readonly op: "put" | "link" }>;

/** A path that a draft has changed. */
interface DraftNode {
  /** The present entry; null where none exists. */
  readonly found: ReadEntry | null;
  /** For a directory: the stored directory whose content it shows. Absent for one that the draft made. */
  readonly source?: string | undefined;
}

/** Where a path of a draft is looked up: in the draft, or in the storage under the path there. */
export type DraftPlace = { readonly found: ReadEntry | null } | { readonly stored: string };

/** Returns what is at a path while the draft is made. */
type Look = (path: string) => Promise<ReadEntry | null>;

/** The state of a draft that can be restored. */
interface DraftMark {
  readonly nodes: ReadonlyMap<string, DraftNode>;
  readonly ops: number;
}

/** The changes of one call. */
export class StagedDraft {
  readonly #nodes = new ChangedPaths<DraftNode>();
  #ops: Op[] = [];
  #count = 0;

  /** The changes, in their order. */
  get ops(): readonly Op[] {
    return this.#ops;
  }

  get isEmpty(): boolean {
    return this.#ops.length === 0;
  }

  /** Returns the present state, which `restore` brings back: the changed paths, with what is there now. */
  mark(): DraftMark {
    return { nodes: this.#nodes.snapshot(), ops: this.#ops.length };
  }

  restore({ nodes, ops }: DraftMark): void {
    this.#nodes.restore(nodes);
    this.#ops = this.#ops.slice(0, ops);
  }

  clear(): void {
    this.restore({ nodes: new Map(), ops: 0 });
  }

  /** Returns where a path is looked up. */
  place(path: string): DraftPlace {
    const [at, own] = this.#nodes.nearest(path) ?? [];
    if (at === undefined || own === undefined) return { stored: path };
    if (at === path) return { found: own.found };
    if (own.found?.entry.type !== "dir" || own.source === undefined) return { found: null };
    return { stored: movedPath(path, at, own.source) };
  }

  /** Returns the directories whose listing is that of a stored one, at and below a path; and what the draft made. */
  below(prefix: string): {
    readonly shown: readonly (readonly [path: string, stored: string])[];
    readonly made: readonly ReadEntry[];
  } {
    const shown: [string, string][] = [];
    const made: ReadEntry[] = [];
    const top = this.place(prefix);
    const source = "stored" in top ? top.stored : this.#nodes.get(prefix)?.source;
    if (source !== undefined) shown.push([prefix, source]);
    for (const [path, node] of this.#nodes.below(prefix)) {
      if (node.found !== null) made.push(node.found);
      if (node.source !== undefined) shown.push([path, node.source]);
    }
    return { shown, made };
  }

  /** Returns true when a listing of a path may differ from that of the storage. */
  touches(prefix: string): boolean {
    return this.#nodes.nearest(prefix) !== undefined || !this.#nodes.below(prefix).next().done;
  }

  /** Makes one change, and returns the entries of the paths that it names and of the parents that it made. */
  async apply(op: Op, look: Look): Promise<readonly Entry[]> {
    const entries: Entry[] = [];
    let isKept = false;
    const set = (at: string, found: ReadEntry | null, source?: string): void => {
      this.#nodes.set(at, { found, source });
      if (found !== null) entries.push(found.entry);
    };
    await applyOp<FileOp>(op, {
      look: async (path) => (await look(path))?.entry ?? null,
      // What is stored in a directory is the commit's to find.
      isEmpty: (path) => [...this.#nodes.below(path)].every(([, { found }]) => found === null),
      keep: async (path) => {
        isKept = true;
        entries.push(((await look(path)) as ReadEntry).entry);
      },
      setFile: (file, mode) => {
        const size = file.op === "put" ? file.body.length : file.size;
        const entry = this.#entry(file.path, "file", { hash: file.hash ?? "", size, mode });
        set(file.path, file.op === "put" ? { entry, body: file.body } : { entry });
      },
      setDirectory: (path, mode) => set(path, { entry: this.#entry(path, "dir", { mode }) }),
      setLink: (path, target) => set(path, { entry: this.#entry(path, "symlink", { target }) }),
      setMode: async (path, mode) => {
        const there = (await look(path)) as ReadEntry;
        const entry = Object.freeze({ ...there.entry, mode, version: this.#version() });
        set(path, { ...there, entry }, this.#sourceOf(path, there));
      },
      take: async (path) => {
        const there = (await look(path)) as ReadEntry;
        const source = this.#sourceOf(path, there);
        const below = [...this.#nodes.below(path)];
        for (const [at] of below) this.#nodes.set(at, undefined);
        set(path, null);
        return (to) => {
          set(to, { ...there, entry: this.#renamed(there.entry, to) }, source);
          for (const [at, { found, source: own }] of below) {
            const moved = movedPath(at, path, to);
            const entry = found && this.#renamed(found.entry, moved);
            this.#nodes.set(moved, { found: entry && { ...found, entry }, source: own });
          }
        };
      },
    });
    if (!isKept) this.#ops.push(op);
    return entries;
  }

  /** Returns the stored directory whose content a directory shows; undefined for one that the draft made. */
  #sourceOf(path: string, { entry }: ReadEntry): string | undefined {
    if (entry.type !== "dir") return undefined;
    const own = this.#nodes.get(path);
    if (own !== undefined) return own.source;
    const place = this.place(path);
    return "stored" in place ? place.stored : undefined;
  }

  #version(): string {
    this.#count += 1;
    return `draft ${this.#count}`;
  }

  #entry(path: string, type: Entry["type"], facts: Partial<Entry>): Entry {
    return Object.freeze({ path, type, version: this.#version(), mtime: Date.now(), ...facts });
  }

  #renamed(entry: Entry, path: string): Entry {
    return Object.freeze({ ...entry, path, version: this.#version() });
  }
}
