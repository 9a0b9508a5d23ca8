/**
 * Combines several backends into one tree. Each is mounted at a directory. A rename between mounts is
 * refused; `moveEntry` then copies. A mount point, or a directory that contains one, cannot be moved or removed.
 *
 * A backend is confined to its own directory: a link in it cannot lead out, and the target of an absolute link is
 * shown as its path in the tree.
 */
import { CompleteFiles } from "./complete.ts";
import type { FileAbilities, Files } from "./files.ts";
import { callChecks, checkCalls } from "./call-options.ts";
import { LOCAL_TRANSFER_OPTIONS, LOCAL_WRITE_OPTIONS } from "./local/local-options.ts";
import {
  either,
  flag,
  optionChecker,
  mapOf,
  type Options,
  options as described,
  required,
  text,
} from "../schema/option.ts";
import { BACKEND_OPTIONS } from "./option-schema.ts";
import { engine } from "../engine/current.ts";
import { FilewrightError, makeError, type Signalled } from "../engine/errors.ts";
import type {
  DeleteOptions,
  FsBackend,
  FsEntry,
  FsStat,
  ListOptions,
  MaybePromise,
  MoveOptions,
  ReadOptions,
  TreeCounts,
  VersionedBytes,
  WriteOptions,
  WriteResult,
} from "./backend.ts";
import { backendError } from "./failure.ts";
import { asFiles } from "./host-files.ts";
import { sortEntries } from "./fallback/fallback.ts";
import { checkPath, childOf, isWithin, nameOf, normalise, parentOf, relativeTo } from "./paths.ts";
import { shortcutsOf, inheritShortcuts } from "./abilities.ts";
import { SandboxedBackend } from "./confined/sandboxed.ts";
import { hasFoldedNames, hasWindowsPaths, pathConverterOf, withInnerDrive } from "./windows-paths.ts";

/** A backend, and how it is mounted. */
export interface MountOptions {
  /** The backend that is mounted. */
  readonly backend: FsBackend;
  /** The directory of the mounted backend that is shown; nothing else of it can be reached. Default `/`. */
  readonly root?: string | undefined;
  /** With true, every change in a mounted backend is refused. Default false. */
  readonly readOnly?: boolean | undefined;
}

/**
 * The options of a mount.
 *
 * @printed
 */
export const MOUNT_OPTIONS: Options<MountOptions> = described("MountOptions", {
  backend: required(BACKEND_OPTIONS),
  root: text(),
  readOnly: flag(),
});

const checkMounts = optionChecker("MountBackend", mapOf(either(BACKEND_OPTIONS, MOUNT_OPTIONS)));

interface MountPoint {
  /** The absolute path at which the backend is mounted. */
  readonly at: string;
  readonly root: string;
  readonly backend: Files;
  /** Converts a path of the backend to its one spelling; undefined where every path has one. */
  readonly convert: ((path: string) => string) | undefined;
}

/** A path of the tree, resolved to a mount. */
interface MountedPath extends MountPoint {
  /** The path in the mounted backend. */
  readonly path: string;
}

/** The facts about a directory above the mount points, which exists only in the tree. */
const VIRTUAL_DIRECTORY: FsStat = Object.freeze({
  path: "/",
  type: "dir",
  size: 0,
  isDir: true,
  isFile: false,
  mtime: 0,
});

/**
 * Several backends as one.
 *
 * @example
 * const backend = new MountBackend({
 *   "/project": new OpfsBackend(),
 *   "/docs": { backend: new LocalBackend(), root: "/usr/share/doc", readOnly: true },
 * });
 */
export class MountBackend extends CompleteFiles {
  static {
    // A mounted disk has options of its own; the other backends refuse them.
    checkCalls(
      MountBackend.prototype,
      callChecks("MountBackend", LOCAL_WRITE_OPTIONS, LOCAL_TRANSFER_OPTIONS),
    );
  }

  readonly #mounts: readonly MountPoint[];

  constructor(mounts: Readonly<Record<string, FsBackend | MountOptions>>) {
    const points = Object.entries(checkMounts(mounts))
      .map(([at, given]) => mountPointOf(at, "backend" in given ? given : { backend: given }))
      .sort((a, b) => b.at.length - a.at.length);
    super(abilitiesOfMounts(points));
    this.#mounts = points;
    // A rule about this tree has to see the names that the disks see.
    const isFolding = this.#mounts.some(
      ({ backend, root }) => hasWindowsPaths(backend) || hasFoldedNames(backend, root),
    );
    inheritShortcuts(this, undefined, {
      passes: [],
      drops: [
        "contents",
        "readAhead",
        "ownCursors",
        "searchUnder",
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
        paths: isFolding ? () => true : "posix",
        maxAnswerBytes: Math.min(...this.#mounts.map(({ backend }) => shortcutsOf(backend).maxAnswerBytes)),
      },
    });
    if (this.#mounts.length === 0) throw backendError("INVALID_ARGUMENT", "/", "there is nothing to mount");
  }

  override async exists(path: string): Promise<boolean> {
    try {
      const place = this.#place(path);
      return place === null || (await place.backend.exists(place.path)) || this.#holds(normalise(path).path);
    } catch {
      return false;
    }
  }
  async stat(path: string): Promise<FsStat> {
    return this.#facts(path, async ({ backend, path }) => {
      const facts = await backend.stat(path);
      if (!facts.isFile || facts.version !== undefined) return facts;
      return { ...facts, version: engine().sha256(await backend.readBytes(path)) };
    });
  }
  override async lstat(path: string): Promise<FsStat> {
    return this.#facts(path, async (place) => {
      const facts = await place.backend.lstat(place.path);
      return facts.target === undefined ? facts : { ...facts, target: toMountPath(facts.target, place) };
    });
  }
  async #facts(path: string, look: (place: MountedPath) => MaybePromise<FsStat>): Promise<FsStat> {
    const at = normalise(path).path;
    const place = this.#place(path);
    if (place === null) return Object.freeze({ ...VIRTUAL_DIRECTORY, path: at });
    try {
      return await this.#in(path, async (place) => Object.freeze({ ...(await look(place)), path: at }));
    } catch (error) {
      // A directory on the way to a mount exists, even where the backend above does not have it.
      if (errorCodeOf(error) === "NOT_FOUND" && this.#holds(at))
        return Object.freeze({ ...VIRTUAL_DIRECTORY, path: at });
      throw error;
    }
  }
  override async readBytes(path: string): Promise<Uint8Array> {
    if (this.#place(path) === null) throw backendError("IS_DIRECTORY", path);
    return this.#in(path, ({ backend, path }) => backend.readBytes(path));
  }
  async read(path: string, options: ReadOptions = {}): Promise<VersionedBytes | null> {
    if (this.#place(path) === null) throw backendError("IS_DIRECTORY", path);
    return this.#in(path, async (place) => {
      const found = await place.backend.read(place.path, options);
      if (found === null) return null;
      const stat = { ...found.stat, path: normalise(path).path, version: found.version };
      return Object.freeze({ ...found, stat: Object.freeze(stat) });
    });
  }
  async writeBytes(path: string, content: Uint8Array, options: WriteOptions = {}): Promise<WriteResult> {
    if (this.#holds(normalise(path).path)) throw backendError("IS_DIRECTORY", path);
    return this.#in(path, ({ backend, path }) => backend.writeBytes(path, content, options));
  }
  async delete(path: string, { ifVersion }: DeleteOptions = {}): Promise<void> {
    this.#spare(path);
    return this.#in(path, ({ backend, path }) => backend.delete(path, { ifVersion }));
  }
  async mkdir(
    path: string,
    options: { readonly parents?: boolean; readonly existOk?: boolean } = {},
  ): Promise<void> {
    if (this.#holds(normalise(path).path)) {
      if (options.existOk === false) throw backendError("ALREADY_EXISTS", path);
      return;
    }
    return this.#in(path, ({ backend, path }) => backend.mkdir(path, options));
  }
  async listDir(path: string, options?: ListOptions): Promise<readonly FsEntry[]> {
    const at = normalise(path).path;
    const entries = new Map<string, FsEntry>();
    if (this.#place(path) !== null) {
      try {
        for (const entry of await this.#in(path, async (place) =>
          (await place.backend.listDir(place.path, options)).map((one) => shownMountPath(one, at, place)),
        ))
          entries.set(entry.name, entry);
      } catch (error) {
        if (errorCodeOf(error) !== "NOT_FOUND" || !this.#holds(at)) throw error;
      }
    }
    for (const mount of this.#mounts) {
      if (mount.at === at || !isWithin(mount.at, at)) continue;
      const name = (relativeTo(mount.at, at) as string).split("/")[0] as string;
      const facts = { name, path: childOf(at, name), type: "dir", isDir: true, isFile: false } as const;
      entries.set(name, Object.freeze(facts));
    }
    return Object.freeze(sortEntries([...entries.values()]));
  }
  /** Moves within one backend. @throws UNSUPPORTED_OPERATION between two, which takes a copy */
  override async rename(from: string, to: string, options: MoveOptions = {}): Promise<WriteResult> {
    this.#spare(from);
    this.#spare(to);
    const [source, target] = [this.#need(from), this.#need(to)];
    if (source.at !== target.at)
      throw backendError("UNSUPPORTED_OPERATION", from, "cannot be moved there in one step");
    return this.#in(from, async () => source.backend.rename(source.path, target.path, options));
  }
  /** Copies a file; within one backend by its own `copyFile`. */
  override async copyFile(
    from: string,
    to: string,
    options: MoveOptions & Signalled = {},
  ): Promise<WriteResult> {
    const [source, target] = [this.#need(from), this.#need(to)];
    if (source.at !== target.at) return super.copyFile(from, to, options);
    return this.#in(from, () => source.backend.copyFile(source.path, target.path, options));
  }
  override async readLink(path: string): Promise<string> {
    return this.#in(path, async (place) => toMountPath(await place.backend.readLink(place.path), place));
  }
  override async realpath(path: string): Promise<string> {
    if (this.#place(path) === null) return normalise(path).path; // It exists only in the tree.
    return this.#in(path, async (place) => toMountPath(await place.backend.realpath(place.path), place));
  }
  override async symlink(target: string, path: string): Promise<void> {
    return this.#in(path, (place) => place.backend.symlink(toBackendTarget(target, place, path), place.path));
  }
  override async chmod(path: string, mode: number): Promise<void> {
    return this.#in(path, ({ backend, path }) => backend.chmod(path, mode));
  }
  override async removeTree(
    path: string,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<TreeCounts> {
    this.#spare(path);
    return this.#in(path, ({ backend, path }) => backend.removeTree(path, options));
  }
  /** Removes temporary files through the backend that is mounted at the path. */
  override async sweep(path: string): Promise<void> {
    const place = this.#place(path);
    await place?.backend.sweep(place.path);
  }

  /** Resolves a path to a mount, or to null above every mount. @throws INVALID_ARGUMENT, NOT_FOUND */
  #place(given: string): MountedPath | null {
    checkPath(given);
    const { path } = normalise(given);
    for (const mount of this.#mounts) {
      if (!isWithin(path, mount.at)) continue;
      const rest = relativeTo(path, mount.at) as string;
      const below = rest === "." ? mount.root : childOf(mount.root, rest);
      assertOneSpelling(below, given, mount);
      return { ...mount, path: below };
    }
    if (this.#holds(path)) return null;
    throw backendError("NOT_FOUND", given);
  }
  #need(path: string): MountedPath {
    const place = this.#place(path);
    if (place === null) throw backendError("PROTECTED_PATH", path, "holds a mount");
    return place;
  }
  /** Returns true when a mount point is below the path. */
  #holds(path: string): boolean {
    return this.#mounts.some(({ at }) => at !== path && isWithin(at, path));
  }
  #spare(path: string): void {
    const at = normalise(path).path;
    if (this.#holds(at) || this.#mounts.some((mount) => mount.at === at))
      throw backendError("PROTECTED_PATH", path, "is a mount, or holds one");
  }
  /** Runs an operation on the backend at a path. Its errors name the path in the tree. */
  async #in<T>(path: string, run: (place: MountedPath) => MaybePromise<T>): Promise<T> {
    const place = this.#need(path);
    try {
      return await run(place);
    } catch (error) {
      if (!(error instanceof FilewrightError) || error.path === path) throw error;
      const { code, message, hint, details, cause } = error;
      const { path: at = place.path } = error;
      const inTree = isWithin(at, place.root) ? toMountPath(at, place) : path;
      throw makeError(code, message, { path: inTree, hint, details, cause });
    }
  }
}

/**
 * Checks a path of a backend with Windows paths. @throws INVALID_ARGUMENT for another spelling of a name, of which
 * rules about the tree would see only the text; INVALID_ARGUMENT, OUTSIDE_ALLOWED for a name that Windows gives another
 * meaning
 */
function assertOneSpelling(path: string, asked: string, { convert, root }: MountPoint): void {
  if (convert === undefined || path === "/" || path === root || convert(path) === path) return;
  throw backendError("INVALID_ARGUMENT", asked, "write names on a Windows disk as a listing shows them");
}

function mountPointOf(given: string, options: MountOptions): MountPoint {
  const { readOnly = false } = options;
  const backend = asFiles(options.backend);
  const windows = hasWindowsPaths(backend);
  const root = windows ? withInnerDrive(options.root ?? "/") : (options.root ?? "/");
  for (const path of [given, root]) {
    checkPath(path);
    if (!path.startsWith("/")) throw backendError("INVALID_ARGUMENT", path, "a mount needs absolute paths");
  }
  const at = normalise(given).path;
  const top = normalise(root).path;
  const convert = windows ? pathConverterOf({ paths: "windows", cwd: top }, [top]) : undefined;
  if (top === "/" && !readOnly) return Object.freeze({ at, root: top, backend, convert });
  const confined = new SandboxedBackend(backend, {
    cwd: top,
    read: [top],
    write: [top],
    deny: [],
    protect: false,
    readOnly,
    followSymlinks: "inside",
  });
  return Object.freeze({ at, root: top, backend: confined, convert });
}

/** Returns how several mounted backends work: one that cannot do something refuses it below its mount. */
function abilitiesOfMounts(mounts: readonly MountPoint[]): Partial<FileAbilities> {
  const all = (name: keyof FileAbilities): boolean => mounts.every(({ backend }) => backend.abilities[name]);
  const any = (name: keyof FileAbilities): boolean => mounts.some(({ backend }) => backend.abilities[name]);
  return {
    conditions: all("conditions"),
    ranges: all("ranges"),
    links: any("links"),
    modes: any("modes"),
    moves: any("moves"),
  };
}

/** Returns the path in the tree for a path of a backend. A relative path is returned unchanged. */
function toMountPath(path: string, { at, root }: MountPoint): string {
  if (!path.startsWith("/")) return path;
  const rest = relativeTo(normalise(path).path, root);
  if (rest === null) return path;
  return rest === "." ? at : childOf(at, rest);
}

/**
 * Returns the target of a link as a path of the backend. @throws UNSUPPORTED_OPERATION if it leads to another
 * backend
 */
function toBackendTarget(target: string, { at, root, path }: MountedPath, asked: string): string {
  const absolute = target.startsWith("/");
  const whole = absolute ? target : childOf(parentOf(toMountPath(path, { at, root } as MountPoint)), target);
  const rest = relativeTo(normalise(whole).path, at);
  if (rest === null)
    throw backendError("UNSUPPORTED_OPERATION", asked, "a link cannot lead from one mount to another");
  if (!absolute) return target;
  return rest === "." ? root : childOf(root, rest);
}

function shownMountPath(entry: FsEntry, directory: string, mount: MountPoint): FsEntry {
  const { target } = entry;
  return Object.freeze({
    ...entry,
    path: childOf(directory, nameOf(entry.path)),
    ...(target === undefined ? {} : { target: toMountPath(target, mount) }),
  });
}

function errorCodeOf(error: unknown): string | undefined {
  return error instanceof FilewrightError ? error.code : undefined;
}
