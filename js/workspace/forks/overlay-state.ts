/**
 * The three-way merge of an overlay into its lower backend: what each changed path was when it was first changed,
 * what it is below now, and what it is here. The plan is that of the storages; here are its three sides.
 */
import type { FsStat } from "../../backends/backend.ts";
import { lstatOrNull, readVersioned } from "../../backends/fallback/fallback.ts";
import {
  type ChangedNode,
  nullIfKept,
  type Origin,
  type OverlayLayer,
} from "../../backends/overlay/overlay-layer.ts";
import { parentOf } from "../../backends/paths.ts";
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { EMPTY_BYTES } from "../../engine/wire/bytes.ts";
import type { MergeSides } from "../../storage/merge.ts";
import type { Entry } from "../../storage/storage.ts";

const MODE_MASK = 0o7777;
/** Stands for a content that may not be read: it is no text. */
const UNREADABLE_BYTES: Uint8Array = new Uint8Array(1);

/** What an overlay had changed at one moment. Later changes of the overlay do not show in it. */
export class OverlayState {
  readonly #layer: OverlayLayer;
  readonly #upper: ReadonlyMap<string, ChangedNode | null>;
  readonly #origins: ReadonlyMap<string, Origin | null>;
  readonly #gone: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly #goneDirectories: ReadonlySet<string>;
  readonly #modes: ReadonlyMap<string, number>;
  readonly #modesBefore: ReadonlyMap<string, number | undefined>;
  /** Size and time of the files of removed directories that were not changed before. */
  readonly #goneFiles = new Map<string, string>();
  readonly #hashes = new Map<ChangedNode, string>();
  readonly #hasModes: boolean;

  constructor(layer: OverlayLayer) {
    this.#layer = layer;
    this.#upper = new Map(layer.upper);
    this.#origins = new Map(layer.origins);
    this.#gone = new Map(layer.gone);
    this.#goneDirectories = new Set([...layer.goneDirectories.values()].flat());
    this.#modes = new Map(layer.modes);
    this.#modesBefore = new Map(layer.modesBefore);
    this.#hasModes = layer.lower.chmod !== undefined;
    for (const [top, files] of this.#gone) {
      if (!this.#upper.has(top)) continue;
      for (const [path, sign] of files) if (!this.#origins.has(path)) this.#goneFiles.set(path, sign);
    }
  }

  /** Every path that may differ from what it was. */
  get paths(): readonly string[] {
    const paths = new Set([...this.#upper.keys(), ...this.#modes.keys(), ...this.#goneFiles.keys()]);
    for (const path of this.#goneDirectories) paths.add(path);
    // A file that was changed, and then removed with its directory.
    for (const path of this.#origins.keys()) paths.add(path);
    return [...paths];
  }

  /** Returns the three sides of the merge. */
  sides(): MergeSides {
    return {
      base: {
        entries: async (paths) => paths.map((path) => this.#base(path)),
        bodies: async (paths) => paths.map((path) => this.#origins.get(path)?.bytes ?? EMPTY_BYTES),
      },
      ours: {
        entries: (paths) => mapInOrder(paths, (path) => this.#ours(path)),
        bodies: (paths) =>
          mapInOrder(paths, async (path) => {
            const found = await readVersioned(this.#layer.lower, path).catch(nullIfKept);
            // What may not be read is merged as one content.
            return found?.bytes ?? UNREADABLE_BYTES;
          }),
        children: async (path) => (await this.#layer.lower.listDir(path)).map((entry) => entry.path),
      },
      theirs: {
        entries: (paths) => mapInOrder(paths, (path) => this.#theirs(path)),
        bodies: (paths) =>
          mapInOrder(paths, async (path) => {
            const node = this.#upper.get(path);
            return node?.type === "file" ? this.#layer.content(node) : EMPTY_BYTES;
          }),
      },
    };
  }

  /**
   * Forgets what the lower backend has now: these changes were merged. A path that was changed here meanwhile keeps
   * its change, and what was merged is what it began with.
   */
  async forget(): Promise<void> {
    const { upper, base, origins, gone, goneDirectories, modes, modesBefore } = this.#layer;
    for (const [path, node] of this.#upper) {
      if (upper.get(path) !== node) {
        origins?.set(path, await this.#asOrigin(path, node));
        base.set(path, await this.#layer.versionBelow(path));
        continue;
      }
      upper.delete(path);
      base.delete(path);
      origins?.delete(path);
      gone.delete(path);
      goneDirectories.delete(path);
    }
    for (const path of this.#origins.keys()) {
      if (this.#upper.has(path) || upper.has(path)) continue;
      origins?.delete(path);
      base.delete(path);
    }
    for (const [path, mode] of this.#modes) {
      if (modes.get(path) !== mode) modesBefore.set(path, mode);
      else {
        modes.delete(path);
        modesBefore.delete(path);
      }
    }
  }

  async #asOrigin(path: string, node: ChangedNode | null): Promise<Origin | null> {
    if (node === null) return null;
    const version = (await this.#layer.versionBelow(path)) ?? "";
    if (node.type !== "file") return { stat: node.stat, version };
    const bytes = await this.#layer.content(node);
    return { stat: node.stat, version, bytes, hash: engine().sha256(bytes) };
  }

  #base(path: string): Entry | null {
    const origin = this.#origins.get(path);
    if (origin === null) return null;
    if (origin !== undefined && origin.stat.type !== "dir")
      return this.#entry(path, origin.stat, origin.version, origin.hash);
    const sign = this.#goneFiles.get(path);
    if (sign !== undefined) return unreadFile(path, sign);
    const wasDirectory = origin?.stat.type === "dir" || this.#goneDirectories.has(path);
    if (wasDirectory || this.#modes.has(path)) return directory(path, this.#modesBefore.get(path));
    return null;
  }

  async #ours(path: string): Promise<Entry | null> {
    const stat = await this.#stat(path);
    if (stat === null) return null;
    if (stat.type === "dir") return directory(path, this.#modes.has(path) ? stat.mode : undefined);
    const sign = this.#goneFiles.get(path);
    if (sign !== undefined) return unreadFile(path, `${stat.size}:${stat.mtime}`);
    if (stat.type !== "file") return this.#entry(path, stat, "", undefined);
    const origin = this.#origins.get(path);
    const version = await this.#layer.versionBelow(path);
    if (origin?.stat.type === "file" && version === origin.version)
      return this.#entry(path, stat, version, origin.hash);
    const found = await readVersioned(this.#layer.lower, path).catch(nullIfKept);
    if (found === null) return this.#entry(path, stat, version ?? "", `unread ${version}`);
    return this.#entry(path, stat, found.version, engine().sha256(found.bytes));
  }

  async #theirs(path: string): Promise<Entry | null> {
    const node = this.#upper.get(path);
    if (node === undefined) {
      if (!this.#modes.has(path) || this.#isCovered(path)) return null;
      return directory(path, this.#modes.get(path));
    }
    if (node === null) return null;
    if (node.type === "dir") return directory(path, this.#modes.get(path));
    if (node.type === "symlink") return this.#entry(path, node.stat, "", undefined);
    let hash = this.#hashes.get(node);
    if (hash === undefined) {
      hash = engine().sha256(await this.#layer.content(node));
      this.#hashes.set(node, hash);
    }
    return this.#entry(path, node.stat, node.stat.version ?? "", hash);
  }

  /** Returns true when the path lies below a changed one, so that nothing of the lower backend shows there. */
  #isCovered(path: string): boolean {
    for (let at = parentOf(path); at !== "/"; at = parentOf(at)) if (this.#upper.has(at)) return true;
    return false;
  }

  /** Directories above a root may not be read; they are there, and no links. */
  async #stat(path: string): Promise<FsStat | null> {
    try {
      return await lstatOrNull(this.#layer.lower, path);
    } catch (error) {
      if (error instanceof FilewrightError && error.code === "OUTSIDE_ALLOWED") return null;
      throw error;
    }
  }

  #entry(path: string, stat: FsStat, version: string, hash: string | undefined): Entry {
    const { type, mode, size, target } = stat;
    if (type === "symlink") return { path, type, version, target: target ?? "" };
    // What is neither file, directory nor link can be neither taken nor merged.
    if (type !== "file") return { path, type: "gone", version };
    const bits = mode === undefined || !this.#hasModes ? {} : { mode: mode & MODE_MASK };
    return { path, type, version, size, ...bits, ...(hash === undefined ? {} : { hash }) };
  }
}

/** The modes of directories count only where the overlay has changed them: new ones get those of the system. */
function directory(path: string, mode: number | undefined): Entry {
  const bits = mode === undefined ? {} : { mode: mode & MODE_MASK };
  return { path, type: "dir", version: "", ...bits };
}

/** A file of a removed directory, whose content was not read: size and time stand for its hash. */
function unreadFile(path: string, sign: string): Entry {
  return { path, type: "file", version: sign, hash: `unread ${sign}` };
}

async function mapInOrder<T>(paths: readonly string[], read: (path: string) => Promise<T>): Promise<T[]> {
  const found: T[] = [];
  for (let at = 0; at < paths.length; at += PATHS_AT_ONCE)
    found.push(...(await Promise.all(paths.slice(at, at + PATHS_AT_ONCE).map(read))));
  return found;
}

/** The number of paths that are read at the same time. */
const PATHS_AT_ONCE = 32;
