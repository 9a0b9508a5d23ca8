/**
 * A backend laid over another one: changes stay in memory, unchanged files come from the lower
 * backend. For trying out a series of changes before any of them happens: `changes()` lists them,
 * `commit()` writes them.
 *
 * It offers links and modes where the lower backend has them. Permissions beyond a missing write
 * bit are checked only by the commit.
 */
import type { Files } from "../files.ts";
import { shortcutsOf, contentsOf, inheritShortcuts } from "../abilities.ts";
import { checkCalls, standardChecks } from "../call-options.ts";
import type {
  DeleteOptions,
  FsBackend,
  FsEntry,
  FsStat,
  MkdirOptions,
  MoveOptions,
  ReadOptions,
  TreeCounts,
  VersionedBytes,
  WriteOptions,
  WriteResult,
} from "../backend.ts";
import { CompleteFiles } from "../complete.ts";
import {
  checkCopied,
  checkCopyTarget,
  checkNew,
  checkParent,
  checkRemoval,
  checkReplaced,
  checkWrite,
} from "../tree/checks.ts";
import { asFiles } from "../host-files.ts";
import { checkSignal, backendError } from "../failure.ts";
import { readWhole, sortEntries, statWithPath } from "../fallback/fallback.ts";
import { walkTree } from "../fallback/walk-tree.ts";
import { changesOfLayer, commitLayer, type OverlayChange, type OverlayCommit } from "./overlay-commit.ts";
import { CachedWalks } from "../search/cached-walk.ts";
import type { ContentProvider } from "../search/held.ts";
import { FileInMemory, type HeldFile } from "../search/held-file.ts";
import { BACKEND_OPTIONS } from "../option-schema.ts";
import type { OverlayPlace } from "./edit.ts";
import { OverlayLayer } from "./overlay-layer.ts";
import { ConfinedSearches, OverlaySearch } from "./overlay-search.ts";
import { checkTarget, childOf, normalise } from "../paths.ts";
import { optionChecker } from "../../schema/option.ts";
import type { Signalled } from "../../engine/errors.ts";
import type { FindQuery, FindResult, SearchQuery, SearchResult } from "../../engine/search-types.ts";

const checkLower = optionChecker("OverlayBackend", BACKEND_OPTIONS);

/**
 * Changes in memory over a backend that stays as it is.
 *
 * @example
 * const overlay = new OverlayBackend(disk);
 * await overlay.writeText("/repo/a.txt", "new\n");
 * await overlay.changes(); // [{ path: "/repo/a.txt", change: "changed", type: "file" }]
 * await overlay.commit();
 */
export class OverlayBackend extends CompleteFiles {
  readonly #layer: OverlayLayer;
  /** The searches where the lower files have their own; undefined where the merged tree is walked. */
  readonly #search: OverlaySearch | undefined;
  /** The searches under policies; undefined where the lower files do not confine themselves. */
  readonly #confined: ConfinedSearches | undefined;

  /** @throws FilewrightError INVALID_ARGUMENT for a value that is no backend */
  constructor(lower: FsBackend);
  // The second argument is no part of the type: `forkOverlay` gives a layer that keeps more.
  constructor(given: FsBackend, layer?: unknown) {
    checkLower(given);
    const kept = layer instanceof OverlayLayer ? layer : new OverlayLayer(asFiles(given));
    const { lower } = kept;
    const { links, modes, ranges } = lower.abilities;
    super({ conditions: true, links, modes, ranges });
    this.#layer = kept;
    const { readBytes, listDir } = OverlayBackend.prototype;
    const own = () => this.readBytes === readBytes && this.listDir === listDir;
    const { confine, ownCursors } = shortcutsOf(lower);
    inheritShortcuts(this, lower, {
      passes: ["ownCursors", "paths", "maxAnswerBytes"],
      drops: [
        "readAhead",
        "searchCode",
        "moments",
        "refusesLinks",
        "stage",
        "enterStage",
        "checkNames",
        "confine",
        "recordedList",
        "keeper",
      ],
      gives: {
        contents: overlayContents(this.#layer, own),
        searchUnder: (searcher) => this.#confined?.under(searcher),
      },
    });
    this.#search = ownCursors ? new OverlaySearch(this.#layer, this, lower) : undefined;
    this.#confined =
      ownCursors && confine !== undefined ? new ConfinedSearches(this.#layer, { confine }) : undefined;
  }

  /** Closes what searches have opened. The changes and the backend below stay. */
  override close(): void {
    this.#confined?.close();
  }

  override async grep(root: string, query: SearchQuery & Signalled): Promise<SearchResult> {
    return (await this.#search?.grep(root, query)) ?? super.grep(root, query);
  }
  override async find(root: string, query: FindQuery & Signalled): Promise<FindResult> {
    return (await this.#search?.find(root, query)) ?? super.find(root, query);
  }

  /**
   * Returns the differences from the lower backend, by path. Files rewritten with their old
   * content are not included.
   */
  changes(): Promise<readonly OverlayChange[]> {
    return this.#inTurn(() => changesOfLayer(this.#layer));
  }
  /**
   * Commits the changes to the lower backend, and is empty then. All or none: where one fails,
   * those before it are rolled back.
   * @throws CONFLICT, and changes nothing, where a changed file has been changed in the lower
   * backend too
   */
  commit(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<OverlayCommit> {
    return this.#inTurn(() => commitLayer(this.#layer, options.signal));
  }
  /** Discards every change. */
  discard(): Promise<void> {
    return this.#inTurn(async () => this.#layer.draft.clear());
  }
  /** Returns true when the path or any of its parents was written or removed here; permission bits do not count. */
  touched(path: string): boolean {
    return this.#layer.draft.isCovered(path);
  }

  override async exists(path: string): Promise<boolean> {
    try {
      return (await this.#layer.at(await this.#layer.real(path, true))) !== null;
    } catch {
      return false;
    }
  }
  async stat(path: string): Promise<FsStat> {
    return statWithPath(found(await this.#layer.place(path, true, true), path), path);
  }
  override async lstat(path: string): Promise<FsStat> {
    return statWithPath(found(await this.#layer.place(path, false), path), path);
  }
  override async readLink(path: string): Promise<string> {
    const { type, target } = await this.lstat(path);
    if (type !== "symlink" || target === undefined)
      throw backendError("INVALID_ARGUMENT", path, "is no symbolic link");
    return target;
  }
  override async realpath(path: string): Promise<string> {
    return this.#layer.lower.abilities.links ? this.#layer.real(path, true, true) : path;
  }
  override async gitExclude(directory: string): Promise<Uint8Array | undefined> {
    const real = await this.#layer.real(directory, true);
    const isChanged = this.#layer.draft.isCovered(childOf(real, ".git"));
    return isChanged ? undefined : this.#layer.lower.gitExclude(real);
  }
  override async readBytes(path: string): Promise<Uint8Array> {
    const real = await this.#layer.real(path, true);
    if (!this.#layer.draft.isCovered(real)) return this.#layer.lower.readBytes(real);
    if ((await this.stat(path)).isDir) throw backendError("IS_DIRECTORY", path);
    const node = this.#layer.draft.node(real);
    if (node?.type !== "file") throw backendError("NOT_FOUND", path);
    return (await this.#layer.content(node)).slice();
  }
  /** Returns content with its version; an unchanged file has the lower backend's. */
  async read(path: string, options: ReadOptions = {}): Promise<VersionedBytes | null> {
    checkSignal(options.signal, path);
    const real = await this.#layer.real(path, true);
    if (!this.#layer.draft.isCovered(real)) {
      const found = await this.#layer.lower.read(real, options);
      return found === null ? null : Object.freeze({ ...found, stat: statWithPath(found.stat, path) });
    }
    // Changed files have content and facts in memory.
    return readWhole(this, path, options);
  }
  writeBytes(path: string, content: Uint8Array, options: WriteOptions = {}): Promise<WriteResult> {
    const bytes = content.slice();
    return this.#inTurn(() => this.#write(path, bytes, options));
  }
  async #write(path: string, bytes: Uint8Array, options: WriteOptions): Promise<WriteResult> {
    const { ifAbsent, ifVersion, mode, signal } = options;
    checkSignal(signal, path);
    const place = await this.#layer.place(path, ifAbsent !== true, ifVersion !== undefined);
    if (place.entry !== undefined && ifAbsent === true) throw backendError("ALREADY_EXISTS", path);
    if (normalise(path).directory && place.stat?.isDir !== true)
      throw backendError("NOT_DIRECTORY", path, "a file's path cannot end in a slash");
    checkWrite(place, options, path);
    await this.#layer.change(place, (tree) => tree.put(place.path, { source: bytes, mode }));
    const node = this.#layer.draft.node(place.path);
    return Object.freeze({ version: node?.stat.version as string });
  }
  delete(path: string, { ifVersion }: DeleteOptions = {}): Promise<void> {
    return this.#inTurn(async () => {
      const place = await this.#layer.place(path, false, ifVersion !== undefined);
      checkRemoval(place, ifVersion, path);
      if (found(place, path).isDir && (await this.listDir(place.path)).length > 0)
        throw backendError("NOT_EMPTY", path);
      await this.#layer.change(place, (tree) => tree.remove(place.path));
    });
  }
  mkdir(path: string, { parents = true, existOk = true }: MkdirOptions = {}): Promise<void> {
    return this.#inTurn(async () => {
      const place = await this.#layer.place(path, false);
      if (place.stat !== undefined) {
        // A link that leads nowhere, or in a circle, is there and no directory.
        const isDir = place.stat.isDir || (await this.stat(path).catch(() => null))?.isDir;
        if (isDir !== true || !existOk) throw backendError("ALREADY_EXISTS", path);
        return;
      }
      if (!parents) checkParent(place, path);
      await this.#layer.change(place, (tree) => tree.mkdir(place.path));
    });
  }
  async listDir(path: string): Promise<readonly FsEntry[]> {
    const place = await this.#layer.place(path, true);
    if (!found(place, path).isDir) throw backendError("NOT_DIRECTORY", path);
    const asked = normalise(path).path;
    const entries = (await this.#layer.entries(place.path)).map((entry) =>
      Object.freeze({ ...entry, path: childOf(asked, entry.name) }),
    );
    return Object.freeze(sortEntries(entries));
  }
  /** Copies a file; its content is not read until it is needed. */
  override copyFile(from: string, to: string, options: MoveOptions = {}): Promise<WriteResult> {
    const { overwrite, ifVersion } = options;
    return this.#inTurn(async () => {
      const layer = this.#layer;
      const source = await layer.place(from, true, true);
      checkCopied(source, ifVersion, from);
      const facts = found(source, from);
      const target = await layer.place(to, overwrite === true);
      checkReplaced(target, overwrite, to);
      checkCopyTarget(source, target, to);
      const node = layer.draft.node(source.path);
      const content = node?.type === "file" ? node.content : await layer.copied(source.path, facts);
      await layer.change(target, (tree) => tree.put(target.path, { source: content, mode: facts.mode }));
      return {};
    });
  }
  override symlink(target: string, path: string): Promise<void> {
    return this.#layer.lower.abilities.links
      ? this.#inTurn(() => this.#symlink(target, path))
      : super.symlink(target, path);
  }
  async #symlink(target: string, path: string): Promise<void> {
    checkTarget(target, path);
    const place = await this.#layer.place(path, false);
    checkNew(place, path);
    await this.#layer.change(place, (tree) => tree.symlink(place.path, target));
  }
  override chmod(path: string, mode: number): Promise<void> {
    return this.#layer.lower.abilities.modes
      ? this.#inTurn(() => this.#chmod(path, mode))
      : super.chmod(path, mode);
  }
  async #chmod(path: string, mode: number): Promise<void> {
    const place = await this.#layer.place(path, true, true);
    if (found(place, path).type !== "other")
      await this.#layer.change(place, (tree) => tree.chmod(place.path, mode));
  }
  override removeTree(
    path: string,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<TreeCounts> {
    return this.#inTurn(async () => {
      const place = await this.#layer.place(path, false);
      checkRemoval(place, undefined, path);
      const counts = { files: 0, directories: 0, bytes: 0 };
      const add = async (entry: FsStat | FsEntry): Promise<void> => {
        if (entry.isDir) counts.directories += 1;
        else counts.files += 1;
        if (entry.isFile) counts.bytes += entry.size ?? (await this.lstat(entry.path)).size;
      };
      const top = found(place, path);
      await add(top);
      if (top.type === "dir")
        for await (const entry of walkTree(this, place.path, options.signal)) await add(entry);
      await this.#layer.change(place, (tree) => tree.remove(place.path));
      return Object.freeze(counts);
    });
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    return this.#layer.inTurn(run);
  }
}

checkCalls(OverlayBackend.prototype, standardChecks("OverlayBackend"));

/** Returns the facts about what stands at a place. @throws NOT_FOUND */
function found({ stat }: OverlayPlace, path: string): FsStat {
  if (stat === undefined) throw backendError("NOT_FOUND", path);
  return stat;
}

/** Makes an overlay whose layer keeps what a three-way merge needs, with that layer. */
export function forkOverlay(lower: Files): {
  readonly overlay: OverlayBackend;
  readonly layer: OverlayLayer;
} {
  const layer = new OverlayLayer(lower, true);
  const Overlay = OverlayBackend as new (lower: Files, layer: OverlayLayer) => OverlayBackend;
  return { overlay: new Overlay(lower, layer), layer };
}

/**
 * Returns the contents of an overlay, or undefined where the lower backend has none. `own` is true
 * while no caller has replaced one of the overlay's methods.
 */
function overlayContents(layer: OverlayLayer, own: () => boolean): ContentProvider | undefined {
  const held = contentsOf(layer.lower);
  if (held === undefined) return undefined;
  return {
    signs: held.signs,
    walks: new CachedWalks(),
    fresh: held.fresh,
    source: held.source,
    view: "",
    shape: () => `${held.shape()} ${layer.draft.revision}`,
    stamp(directory) {
      // The path may resolve to another directory than in the lower backend.
      if (layer.draft.isCovered(directory) || layer.draft.hasLinks) return undefined;
      const below = held.stamp(directory);
      return below === undefined ? undefined : `${below} ${layer.draft.revision}`;
    },
    watch: held.watch,
    async file(path): Promise<HeldFile> {
      const real = await layer.real(path, true);
      if (!layer.draft.isCovered(real)) return held.file(real);
      const node = layer.draft.node(real);
      if (node?.type === "dir") throw backendError("IS_DIRECTORY", path);
      if (node?.type !== "file" || !(node.content instanceof Uint8Array))
        throw backendError("NOT_FOUND", path);
      return new FileInMemory({ bytes: node.content });
    },
    // The source of a pending copy may change in the lower backend, which is a conflict then.
    intact: () => own() && held.intact() && !layer.draft.hasCopies,
  };
}
