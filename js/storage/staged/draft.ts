/**
 * The changes of one call before they are committed: what each path is once all of them are made. Only what they
 * touch is kept; everything else is what the storage has.
 */
import { DEFAULT_DIR_MODE, DEFAULT_FILE_MODE, PERMISSION_BITS } from "../../backends/entry.ts";
import { backendError } from "../../backends/failure.ts";
import { ChangedPaths } from "../../backends/overlay/changed-paths.ts";
import { childOf, parentOf } from "../../backends/paths.ts";
import type { Entry, Op, ReadEntry } from "../storage.ts";

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
    return { stored: under(own.source, path, at) };
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

  /** Returns true when the draft has made something below a path. */
  holdsMade(path: string): boolean {
    return [...this.#nodes.below(path)].some(([, { found }]) => found !== null);
  }

  /** Returns true when a listing of a path may differ from that of the storage. */
  touches(prefix: string): boolean {
    return this.#nodes.nearest(prefix) !== undefined || !this.#nodes.below(prefix).next().done;
  }

  /** Makes one change, and returns the entries of the paths that it names and of the parents that it made. */
  async apply(op: Op, look: Look): Promise<readonly Entry[]> {
    const path = op.op === "move" ? op.from : op.path;
    const there = await look(path);
    const entries: Entry[] = [];
    const set = (at: string, found: ReadEntry | null, source?: string): void => {
      this.#nodes.set(at, { found, source });
      if (found !== null) entries.push(found.entry);
    };
    switch (op.op) {
      case "put":
      case "link": {
        if (there?.entry.type === "dir") throw backendError("IS_DIRECTORY", path);
        await this.#makeParents(path, look, set);
        const kept = there?.entry.type === "file" ? there.entry.mode : undefined;
        const size = op.op === "put" ? op.body.length : op.size;
        const facts = { hash: op.hash, size, mode: (op.mode ?? kept ?? DEFAULT_FILE_MODE) & PERMISSION_BITS };
        const entry = this.#entry(path, "file", facts as Partial<Entry>);
        set(path, op.op === "put" ? { entry, body: op.body } : { entry });
        break;
      }
      case "mkdir":
        if (there !== null && there.entry.type !== "dir") throw backendError("ALREADY_EXISTS", path);
        if (there !== null) return [there.entry];
        await this.#makeParents(path, look, set);
        set(path, {
          entry: this.#entry(path, "dir", { mode: (op.mode ?? DEFAULT_DIR_MODE) & PERMISSION_BITS }),
        });
        break;
      case "symlink":
        if (there !== null) throw backendError("ALREADY_EXISTS", path);
        await this.#makeParents(path, look, set);
        set(path, { entry: this.#entry(path, "symlink", { target: op.target }) });
        break;
      case "chmod": {
        if (there === null) throw backendError("NOT_FOUND", path);
        if (there.entry.type === "symlink")
          throw backendError("INVALID_ARGUMENT", path, "a link has no mode");
        const entry = { ...there.entry, mode: op.mode & PERMISSION_BITS, version: this.#version() };
        set(path, { ...there, entry: Object.freeze(entry) }, this.#sourceOf(path, there));
        break;
      }
      case "remove":
        if (there === null) throw backendError("NOT_FOUND", path);
        this.#drop(path);
        set(path, null);
        break;
      case "move": {
        if (there === null) throw backendError("NOT_FOUND", path);
        if ((await look(op.to)) !== null) throw backendError("ALREADY_EXISTS", op.to);
        const source = this.#sourceOf(path, there);
        const below = [...this.#nodes.below(path)];
        this.#drop(path);
        set(path, null);
        await this.#makeParents(op.to, look, set);
        set(op.to, { ...there, entry: this.#renamed(there.entry, op.to) }, source);
        for (const [at, { found, source: own }] of below) {
          const to = under(op.to, at, path);
          const moved = found && { ...found, entry: this.#renamed(found.entry, to) };
          this.#nodes.set(to, { found: moved, source: own });
        }
      }
    }
    this.#ops.push(op);
    return entries;
  }

  /** Makes the missing directories above a path. @throws NOT_DIRECTORY */
  async #makeParents(path: string, look: Look, set: (at: string, found: ReadEntry) => void): Promise<void> {
    const missing: string[] = [];
    for (let at = parentOf(path); at !== "/"; at = parentOf(at)) {
      const there = await look(at);
      if (there === null) {
        missing.push(at);
        continue;
      }
      if (there.entry.type !== "dir") throw backendError("NOT_DIRECTORY", at);
      break;
    }
    for (const at of missing.reverse())
      set(at, { entry: this.#entry(at, "dir", { mode: DEFAULT_DIR_MODE }) });
  }

  #drop(top: string): void {
    for (const [path] of this.#nodes.below(top)) this.#nodes.set(path, undefined);
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

/** Returns a path below one directory as the same path below another. */
export function under(top: string, path: string, from: string): string {
  if (path === from) return top;
  return childOf(top, path.slice(from === "/" ? 1 : from.length + 1));
}
