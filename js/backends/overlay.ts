/**
 * A backend laid over another one: changes stay in memory, everything else
 * shows through. For trying out a series of changes before any of them happens.
 *
 * Links of the lower backend are resolved by it; those made here are followed as
 * text. It promises what a preview needs, not what storage needs: permissions
 * beyond a missing write bit are found out when the change is made.
 */
import type {
  EntryType,
  FsBackend,
  FsEntry,
  FsStat,
  ReadOptions,
  TreeCounts,
  VersionedBytes,
  WriteOptions,
  WriteResult,
} from "./backend.ts";
import { checkSignal, failure } from "./failure.ts";
import { lstatOrNull, readVersioned, sortEntries } from "./fallback.ts";
import { walkTree } from "./fallback-tree.ts";
import { compileGlobs } from "./globs.ts";
import { childOf, isWithin, nameOf, normalise, parentOf, relativeTo } from "./paths.ts";
import { decodeText, encodeText } from "./text.ts";

/** What was put at a path. A file's content is here, or still where it was copied from. */
type Node =
  | {
      readonly type: "file";
      readonly bytes: Uint8Array | null;
      readonly from: FsStat | null;
      readonly stat: FsStat;
    }
  | { readonly type: "dir"; readonly stat: FsStat }
  | { readonly type: "symlink"; readonly target: string; readonly stat: FsStat };

const MAX_LINKS = 40;

/** Changes in memory over a backend that stays as it is. */
export class OverlayBackend implements FsBackend {
  readonly #lower: FsBackend;
  /** What was changed; null where something was taken away. A directory here hides the lower one. */
  readonly #upper: Map<string, Node | null> = new Map();
  #writes = 0;

  constructor(lower: FsBackend) {
    this.#lower = lower;
  }

  /** Whether what is at the path was changed here, or anything above it. */
  touched(path: string): boolean {
    return this.#cover(path) !== undefined || this.#upper.has(path);
  }

  async exists(path: string): Promise<boolean> {
    return (await this.#find(path, true).catch(() => null)) !== null;
  }
  async stat(path: string): Promise<FsStat> {
    return this.#present(path, true);
  }
  async lstat(path: string): Promise<FsStat> {
    return this.#present(path, false);
  }
  async realpath(path: string): Promise<string> {
    return this.#real(path, true);
  }
  async readLink(path: string): Promise<string> {
    const { target } = await this.#present(path, false);
    if (target === undefined) throw failure("INVALID_ARGUMENT", path, "is no symbolic link");
    return target;
  }
  async readText(path: string, options: { readonly encoding?: string } = {}): Promise<string> {
    return decodeText(await this.readBytes(path), options.encoding, path);
  }
  async readBytes(path: string): Promise<Uint8Array> {
    const real = await this.#real(path, true);
    const node = this.#upper.get(real);
    if (node === undefined && this.#cover(real) === undefined) return this.#lower.readBytes(real);
    if (node === undefined || node === null) throw failure("NOT_FOUND", path);
    if (node.type === "dir") throw failure("IS_DIRECTORY", path);
    if (node.type !== "file") throw failure("NOT_FOUND", path);
    if (node.bytes !== null) return node.bytes;
    return this.#lower.readBytes((node.from as FsStat).path);
  }
  async writeText(
    path: string,
    content: string,
    options: WriteOptions & { readonly encoding?: string } = {},
  ): Promise<WriteResult> {
    return this.writeBytes(path, encodeText(content, options.encoding, path), options);
  }
  async writeBytes(path: string, content: Uint8Array, options: WriteOptions = {}): Promise<WriteResult> {
    checkSignal(options.signal, path);
    const real = await this.#real(path, options.ifAbsent !== true);
    const there = await this.#find(real, false);
    if (there !== null && options.ifAbsent === true) throw failure("ALREADY_EXISTS", path);
    if (there?.isDir === true) throw failure("IS_DIRECTORY", path);
    if (there !== null && !there.isFile) throw failure("NOT_REGULAR_FILE", path);
    if (there?.mode !== undefined && (there.mode & 0o222) === 0) throw failure("PERMISSION_DENIED", path);
    if (there === null) await this.#parents(real, options.createDirs === true);
    const mode = options.mode ?? there?.mode ?? 0o644;
    const stat = this.#facts(real, "file", content.length, mode);
    this.#upper.set(real, { type: "file", bytes: content, from: null, stat });
    return { version: stat.version as string };
  }
  async delete(path: string): Promise<void> {
    const real = await this.#real(path, false);
    const there = await this.#present(real, false);
    if (there.isDir && (await this.listDir(real)).length > 0) throw failure("NOT_EMPTY", path);
    this.#remove(real);
  }
  async mkdir(
    path: string,
    options: { readonly parents?: boolean; readonly existOk?: boolean } = {},
  ): Promise<void> {
    const real = await this.#real(path, false);
    const there = await this.#find(real, true);
    if (there !== null) {
      if (!there.isDir || options.existOk === false) throw failure("ALREADY_EXISTS", path);
      return;
    }
    await this.#parents(real, options.parents ?? true);
    this.#upper.set(real, { type: "dir", stat: this.#facts(real, "dir", 0, 0o755) });
  }
  async listDir(path: string): Promise<readonly FsEntry[]> {
    const real = await this.#real(path, true);
    const stat = await this.#present(real, false);
    if (!stat.isDir) throw failure("NOT_DIRECTORY", path);
    const entries = new Map<string, FsEntry>();
    if (!this.#upper.has(real) && this.#cover(real) === undefined) {
      for (const entry of await this.#lower.listDir(real)) entries.set(entry.name, entry);
    }
    for (const [at, node] of this.#upper) {
      if (at === real || parentOf(at) !== real) continue;
      if (node === null) entries.delete(nameOf(at));
      else entries.set(nameOf(at), entryOf(node.stat));
    }
    return sortEntries([...entries.values()]);
  }
  async *iterFiles(root: string): AsyncGenerator<string> {
    for await (const entry of walkTree(this, root)) if (entry.type === "file") yield entry.path;
  }
  async glob(pattern: string, options: { readonly root?: string } = {}): Promise<readonly string[]> {
    const root = normalise(options.root ?? "/").path;
    const matcher = compileGlobs([pattern]);
    const found: string[] = [];
    for await (const path of this.iterFiles(root)) {
      if (matcher.matches(relativeTo(path, root) as string)) found.push(path);
    }
    return found;
  }
  async copyFile(from: string, to: string, options: { readonly overwrite?: boolean } = {}): Promise<void> {
    const source = await this.#real(from, true);
    const facts = await this.#present(source, false);
    if (facts.isDir) throw failure("IS_DIRECTORY", from);
    if (!facts.isFile) throw failure("NOT_REGULAR_FILE", from);
    const real = await this.#real(to, options.overwrite === true);
    const there = await this.#find(real, false);
    if (there !== null && options.overwrite !== true) throw failure("ALREADY_EXISTS", to);
    if (there?.isDir === true) throw failure("IS_DIRECTORY", to);
    if (there === null) await this.#parents(real, false);
    const node = this.#upper.get(source);
    const kept =
      node?.type === "file" ? { bytes: node.bytes, from: node.from } : { bytes: null, from: facts };
    this.#upper.set(real, {
      type: "file",
      ...kept,
      stat: this.#facts(real, "file", facts.size, facts.mode ?? 0o644),
    });
  }
  async symlink(target: string, path: string): Promise<void> {
    const real = await this.#real(path, false);
    if ((await this.#find(real, false)) !== null) throw failure("ALREADY_EXISTS", path);
    await this.#parents(real, false);
    this.#upper.set(real, {
      type: "symlink",
      target,
      stat: this.#facts(real, "symlink", target.length, 0o777, target),
    });
  }
  async chmod(path: string, mode: number): Promise<void> {
    const real = await this.#real(path, true);
    const stat = await this.#present(real, false);
    const node = this.#upper.get(real);
    if (node !== undefined && node !== null) this.#upper.set(real, { ...node, stat: { ...node.stat, mode } });
    else if (stat.isFile)
      this.#upper.set(real, { type: "file", bytes: null, from: stat, stat: { ...stat, mode } });
  }
  async removeTree(path: string, options: { readonly signal?: AbortSignal } = {}): Promise<TreeCounts> {
    const real = await this.#real(path, false);
    const top = await this.#present(real, false);
    const counts = { files: 0, directories: 0, bytes: 0 };
    const add = ({ type, size }: { readonly type: EntryType; readonly size?: number }): void => {
      if (type === "dir") counts.directories += 1;
      else counts.files += 1;
      if (type === "file") counts.bytes += size ?? 0;
    };
    add(top);
    if (top.type === "dir") for await (const entry of walkTree(this, real, options.signal)) add(entry);
    this.#remove(real);
    return counts;
  }

  /** Takes a path away, with everything below it. */
  #remove(real: string): void {
    for (const at of this.#upper.keys()) if (isWithin(at, real)) this.#upper.delete(at);
    this.#upper.set(real, null);
  }

  /** The nearest change above a path: what is below it is not the lower backend's. */
  #cover(path: string): Node | null | undefined {
    for (let at = parentOf(path); at !== "/"; at = parentOf(at)) {
      const node = this.#upper.get(at);
      if (node !== undefined) return node;
    }
    return undefined;
  }

  /** The path under which a path is known here. */
  async #real(path: string, follow: boolean): Promise<string> {
    let at = normalise(path).path;
    for (let links = 0; links <= MAX_LINKS; links++) {
      const next = this.#followed(at, follow);
      if (next === undefined) break;
      if (links === MAX_LINKS) throw failure("LOOP", path);
      at = next;
    }
    if (at === "/" || this.#upper.has(at) || this.#lower.realpath === undefined) return at;
    if (this.#cover(at) !== undefined) return at;
    if (follow) return this.#lower.realpath(at);
    try {
      return childOf(await this.#lower.realpath(parentOf(at)), nameOf(at));
    } catch (error) {
      // Above a root nothing may be looked at; a root is real as it is.
      if ((error as { readonly code?: unknown }).code === "OUTSIDE_ALLOWED") return at;
      throw error;
    }
  }

  /** The path with the first link that was made here followed; undefined where there is none. */
  #followed(path: string, follow: boolean): string | undefined {
    for (const [at, node] of this.#upper) {
      if (node?.type !== "symlink" || !isWithin(path, at) || (path === at && !follow)) continue;
      const target = node.target.startsWith("/") ? node.target : `${parentOf(at)}/${node.target}`;
      return normalise(`${target}${path.slice(at.length)}`).path;
    }
    return undefined;
  }

  async #find(path: string, follow: boolean): Promise<FsStat | null> {
    const real = await this.#real(path, follow);
    const node = this.#upper.get(real);
    if (node === null) return null;
    if (node !== undefined) return node.stat;
    const cover = this.#cover(real);
    if (cover !== undefined) return null;
    if (!follow) return lstatOrNull(this.#lower, real);
    try {
      return await this.#lower.stat(real);
    } catch (error) {
      if ((error as { readonly code?: unknown }).code === "NOT_FOUND") return null;
      throw error;
    }
  }

  async #present(path: string, follow: boolean): Promise<FsStat> {
    const found = await this.#find(path, follow);
    if (found === null) throw failure("NOT_FOUND", path);
    return found;
  }

  async #parents(path: string, create: boolean): Promise<void> {
    const missing: string[] = [];
    let at = parentOf(path);
    for (; at !== "/"; at = parentOf(at)) {
      const there = await this.#find(at, true);
      if (there?.isDir === true) break;
      if (there !== null) throw failure("NOT_DIRECTORY", path);
      missing.push(at);
    }
    if (missing.length > 0 && !create)
      throw failure("NOT_FOUND", path, "the parent directory does not exist");
    for (const directory of missing.reverse()) {
      this.#upper.set(directory, { type: "dir", stat: this.#facts(directory, "dir", 0, 0o755) });
    }
  }

  #facts(path: string, type: EntryType, size: number, mode: number, target?: string): FsStat {
    const mtime = Date.now();
    return Object.freeze({
      path,
      type,
      size,
      isDir: type === "dir",
      isFile: type === "file",
      mtime,
      mode,
      nlink: 1,
      ...(target === undefined ? {} : { target }),
      version: `overlay:${++this.#writes}`,
    });
  }

  /** Content with its version; what was not changed has the lower backend's. */
  async read(path: string, options: ReadOptions = {}): Promise<VersionedBytes | null> {
    const real = await this.#real(path, true);
    if (!this.touched(real)) return readVersioned(this.#lower, real, options);
    const stat = await this.#present(real, false);
    if (stat.isDir) throw failure("IS_DIRECTORY", path);
    const version = stat.version as string;
    if (options.ifNoneMatch === version) return null;
    const whole = await this.readBytes(real);
    const { start, end } = options.range ?? { start: 0, end: whole.length };
    const bytes = whole.slice(start, end);
    if (bytes.length > (options.maxBytes ?? Infinity)) {
      const details = { size: bytes.length, limit: options.maxBytes };
      throw failure("TOO_LARGE", path, "more bytes than the limit", { details });
    }
    return Object.freeze({ bytes, version, stat });
  }
}

function entryOf(stat: FsStat): FsEntry {
  const { path, type, isDir, isFile, size, mtime, target } = stat;
  return Object.freeze({
    name: nameOf(path),
    path,
    type,
    isDir,
    isFile,
    ...(isDir ? {} : { size, mtime }),
    ...(target === undefined ? {} : { target }),
  });
}
