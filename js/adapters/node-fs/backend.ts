/**
 * A backend over an object in the shape of Node's `fs`: memfs, ZenFS, unionfs and other
 * imitations.
 *
 * Only `fs.promises` is used. Features that the object lacks beyond the first seven methods, such
 * as links or permission bits, the backend lacks too. Versions are content hashes, so that a
 * coarse clock hides no change. Use `LocalBackend` for real disks: this one resolves paths in one
 * step and opens them in another.
 *
 * @module filewright/node-fs
 */
import type { EntryType, FsBackend, FsEntry, FsStat, WriteOptions } from "../../backends/backend.ts";
import { checkSignal, checkWritable, backendError } from "../../backends/failure.ts";
import { sortEntries } from "../../backends/fallback/fallback.ts";
import { compileGlobs, filesBelow } from "../../backends/fallback/walk-tree.ts";
import {
  checkPath,
  checkTarget,
  childOf,
  isLongName,
  nameOf,
  normalise,
  parentOf,
  relativeTo,
  sortCodePoints,
} from "../../backends/paths.ts";
import { decodeText, encodeText } from "../../backends/text.ts";
import { optionChecker, instance, required } from "../../schema/option.ts";
import {
  errnoCodeOf,
  translateError,
  realPathOf,
  type RealOptions,
  type NodeFs,
  type NodeFsPromises,
  type NodeStats,
} from "./host.ts";

export type { NodeFs, NodeFsPromises, NodeStats };

const checkFs = optionChecker(
  "fromNodeFs",
  instance<NodeFs>("NodeFs", "an object with promises, like node:fs", {
    promises: required(instance<NodeFsPromises>("NodeFsPromises", "the promises of node:fs", {})),
  }),
);

/**
 * A backend over such an object.
 *
 * @example
 * import { fs } from "memfs";
 * const ws = await openWorkspace({ backend: fromNodeFs(fs), root: "/project" });
 */
export function fromNodeFs(fs: NodeFs): FsBackend {
  checkFs(fs);
  const { promises: host } = fs;
  const at = (path: string): string => {
    checkPath(path);
    const { path: file } = normalise(path);
    if (file.split("/").some(isLongName)) throw backendError("NAME_TOO_LONG", path);
    return file;
  };
  // On a system where `\` separates names too, a name that contains one would lead to another path than
  // the checked one.
  let separates: Promise<boolean> | undefined;
  const place = async (path: string): Promise<string> => {
    const file = at(path);
    if (file.includes("\\")) {
      separates ??= isRoot(host, "/\\");
      if (await separates)
        throw backendError("INVALID_ARGUMENT", path, "a name with a backslash is a path in this storage");
    }
    return file;
  };
  const resolve = async (path: string, options: RealOptions): Promise<string> => {
    const file = await place(path);
    if (file === "/" || !normalise(path).directory) return realPathOf(host, file, options);
    // A path that ends in a slash names a directory, even through a link.
    const real = await realPathOf(host, file, { ...options, follow: true });
    const there = (await (host.lstat ?? host.stat).call(host, real).catch(() => undefined)) as
      | NodeStats
      | undefined;
    if (there?.isDirectory() === false) throw backendError("NOT_DIRECTORY", path);
    return real;
  };
  /** Runs on the entry itself: links of its parents are followed, its own is not. */
  const run: RunOperation = (path, operation) =>
    translateError(path, async () => operation(await resolve(path, { follow: false })));
  /** Runs on the path with all links resolved. */
  const follow: RunOperation = (path, operation) =>
    translateError(path, async () => operation(await resolve(path, { follow: true })));
  const realpath = (path: string): Promise<string> =>
    translateError(path, () => resolve(path, { follow: true, keepMissingDirectory: true }));

  const stat = (path: string): Promise<FsStat> =>
    follow(path, async (file) => toFsStat(at(path), (await host.stat(file)) as NodeStats));
  const lstat = (path: string): Promise<FsStat> =>
    run(path, async (file) => {
      const facts = toFsStat(at(path), (await (host.lstat ?? host.stat).call(host, file)) as NodeStats);
      if (facts.type !== "symlink" || host.readlink === undefined) return facts;
      return Object.freeze({ ...facts, target: String(await host.readlink(file)) });
    });
  const standing = async (path: string): Promise<FsStat | undefined> => {
    try {
      return await lstat(path);
    } catch (error) {
      if (["NOT_FOUND", "NOT_DIRECTORY"].includes(errnoCodeOf(error))) return undefined;
      throw error;
    }
  };
  const readBytes = (path: string): Promise<Uint8Array> =>
    follow(path, async (file) => {
      const { isFile, isDir } = await stat(file);
      if (isDir) throw backendError("IS_DIRECTORY", path);
      if (!isFile) throw backendError("NOT_REGULAR_FILE", path);
      const bytes = (await host.readFile(file)) as Uint8Array;
      return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength).slice();
    });
  const writeBytes = (
    path: string,
    content: Uint8Array,
    options: WriteOptions = {},
  ): Promise<Record<never, never>> =>
    // The content is written through a link, and the link stays.
    follow(path, async (to) => {
      checkSignal(options.signal, path);
      if (options.ifAbsent === true && (await standing(path)) !== undefined)
        throw backendError("ALREADY_EXISTS", path);
      const old = await standing(to);
      if (old?.isDir) throw backendError("IS_DIRECTORY", path);
      if (normalise(path).directory)
        throw backendError("NOT_DIRECTORY", path, "a file's path cannot end in a slash");
      if (old !== undefined && !old.isFile) throw backendError("NOT_REGULAR_FILE", path);
      // A host's rename would replace even a read-only file.
      checkWritable(old, path);
      if (options.createDirs === true && old === undefined)
        await host.mkdir(parentOf(to), { recursive: true });
      await replaceFile(host, to, content, options.mode ?? old?.mode);
      return {};
    });
  const listDir = (path: string): Promise<readonly FsEntry[]> =>
    follow(path, async (directory) => {
      if (!(await stat(directory)).isDir) throw backendError("NOT_DIRECTORY", path);
      const entries: FsEntry[] = [];
      for (const name of (await host.readdir(directory)) as readonly string[]) {
        const facts = await standing(childOf(at(path), String(name)));
        // The entry has vanished since it was listed.
        if (facts === undefined) continue;
        const { path: full, type, isDir, isFile, size, mtime, target: to } = facts;
        entries.push(
          Object.freeze({
            name: nameOf(full),
            path: full,
            type,
            isDir,
            isFile,
            ...(isFile ? { size } : {}),
            mtime,
            ...(to === undefined ? {} : { target: to }),
          }),
        );
      }
      return sortEntries(entries);
    });
  async function* iterFiles(root: string): AsyncGenerator<string> {
    yield* filesBelow({ listDir }, at(root));
  }

  const backend: FsBackend = {
    async exists(path) {
      try {
        await stat(path);
        return true;
      } catch {
        return false;
      }
    },
    stat,
    readBytes,
    writeBytes,
    listDir,
    iterFiles,
    readText: async (path, { encoding } = {}) => decodeText(await readBytes(path), encoding, path),
    writeText: async (path, content, options = {}) =>
      writeBytes(path, encodeText(content, options.encoding, path), options),
    delete: (path) =>
      run(path, async (file) => {
        if (!(await lstat(file)).isDir) return host.unlink(file);
        // Some imitations also remove the content.
        if (((await host.readdir(file)) as readonly unknown[]).length > 0)
          throw backendError("NOT_EMPTY", path);
        return host.rmdir(file);
      }),
    mkdir: (path, { parents = true, existOk = true } = {}) =>
      run(path, async (file) => {
        const there = await standing(file);
        if (there !== undefined) {
          if (existOk && (await backend.exists(file)) && (await stat(file)).isDir) return;
          throw backendError("ALREADY_EXISTS", path);
        }
        await host.mkdir(file, { recursive: parents });
      }),
    async glob(pattern, { root = "/" } = {}) {
      const matcher = compileGlobs([pattern]);
      const found: string[] = [];
      const base = at(root);
      for await (const file of iterFiles(base))
        if (matcher.matches(relativeTo(file, base) ?? file)) found.push(file);
      return Object.freeze(sortCodePoints(found));
    },
  };
  return Object.freeze({
    ...backend,
    ...linkAndModeMethodsOf(host, run, follow, lstat, realpath),
    ...moveMethodsOf(host, run, standing),
  });
}

type RunOperation = <T>(path: string, operation: (path: string) => Promise<T>) => Promise<T>;

/** Returns the methods for links and permission bits that the object supports. */
function linkAndModeMethodsOf(
  host: NodeFsPromises,
  run: RunOperation,
  follow: RunOperation,
  lstat: (path: string) => Promise<FsStat>,
  realpath: (path: string) => Promise<string>,
): Partial<FsBackend> {
  const { readlink, symlink, chmod } = host;
  if (host.lstat === undefined || readlink === undefined) return {};
  return {
    lstat,
    realpath,
    readLink: (path) =>
      run(path, async (file) => {
        if ((await lstat(file)).type !== "symlink")
          throw backendError("INVALID_ARGUMENT", path, "not a symbolic link");
        return String(await readlink.call(host, file));
      }),
    ...(symlink === undefined
      ? {}
      : {
          symlink: async (target, path) => {
            checkTarget(target, path);
            return run(path, (file) => symlink.call(host, target, file));
          },
        }),
    ...(chmod === undefined
      ? {}
      : { chmod: (path, mode) => follow(path, (file) => chmod.call(host, file, mode)) }),
  };
}

/** Returns the method `rename`, if the object supports it. */
function moveMethodsOf(
  host: NodeFsPromises,
  run: RunOperation,
  standing: (path: string) => Promise<FsStat | undefined>,
): Partial<FsBackend> {
  const { rename, readlink, symlink } = host;
  if (rename === undefined) return {};
  return {
    rename: (from, to, { overwrite = false } = {}) =>
      run(from, async (source) => {
        const destination = await realPathOf(host, normalise(to).path, { follow: false });
        const moved = await standing(source);
        if (moved === undefined) throw backendError("NOT_FOUND", from);
        if (relativeTo(destination, source) !== null && destination !== source)
          throw backendError("INVALID_ARGUMENT", to, "a directory cannot be moved into itself");
        const there = await standing(destination);
        if (there !== undefined && !overwrite) throw backendError("ALREADY_EXISTS", to);
        if (destination === source) throw backendError("SAME_FILE", to);
        if (there !== undefined && there.isDir !== moved.isDir)
          throw backendError(there.isDir ? "IS_DIRECTORY" : "NOT_DIRECTORY", to);
        if (there?.isDir && ((await host.readdir(destination)) as readonly unknown[]).length > 0)
          throw backendError("NOT_EMPTY", to);
        checkWritable(there, to);
        await translateError(to, async () => {
          if (moved.type !== "symlink" || readlink === undefined || symlink === undefined)
            return renameReplacingLink(host, rename, source, destination, there);
          // Some imitations would move the link's target.
          const target = String(await readlink.call(host, source));
          if (there !== undefined) await host.unlink(destination);
          await symlink.call(host, target, destination);
          await host.unlink(source);
        });
      }),
  };
}

/** Renames a file or a directory, and replaces a link at the destination instead of following it. */
async function renameReplacingLink(
  host: NodeFsPromises,
  rename: NonNullable<NodeFsPromises["rename"]>,
  source: string,
  destination: string,
  there: FsStat | undefined,
): Promise<void> {
  try {
    await rename.call(host, source, destination);
  } catch (error) {
    // ZenFS refuses a file in place of a link to a directory.
    if (there?.type !== "symlink" || (error as { readonly code?: unknown }).code !== "EISDIR") throw error;
    await host.unlink(destination);
    await rename.call(host, source, destination);
  }
}

/** Returns true when a path names the root in another spelling. */
async function isRoot(host: NodeFsPromises, path: string): Promise<boolean> {
  try {
    return ((await host.stat(path)) as NodeStats).isDirectory();
  } catch {
    return false;
  }
}

/**
 * Replaces a file. If the object can rename, the content is written to a temporary file first, so that the change
 * is atomic.
 */
async function replaceFile(
  host: NodeFsPromises,
  path: string,
  content: Uint8Array,
  mode: number | undefined,
): Promise<void> {
  const { rename, chmod } = host;
  if (rename === undefined) return host.writeFile(path, content);
  const temporary = childOf(parentOf(path), `.fw-${crypto.randomUUID()}.tmp`);
  try {
    await host.writeFile(temporary, content, { flag: "wx" });
    if (mode !== undefined) await chmod?.call(host, temporary, mode);
    await rename.call(host, temporary, path);
  } catch (error) {
    await host.unlink(temporary).catch(() => undefined);
    throw error;
  }
}

function toFsStat(path: string, stats: NodeStats): FsStat {
  const type = entryTypeOf(stats);
  const time = (key: "ctime" | "atime" | "birthtime"): Partial<FsStat> => {
    const value = stats[`${key}Ms`];
    return value === undefined ? {} : { [key]: Number(value) };
  };
  return Object.freeze({
    path,
    type,
    size: Number(stats.size),
    isDir: type === "dir",
    isFile: type === "file",
    mtime: Number(stats.mtimeMs),
    ...time("ctime"),
    ...time("atime"),
    ...time("birthtime"),
    ...(stats.mode === undefined ? {} : { mode: Number(stats.mode) & 0o7777 }),
    ...(stats.nlink === undefined ? {} : { nlink: Number(stats.nlink) }),
  });
}

function entryTypeOf(stats: NodeStats): EntryType {
  if (stats.isSymbolicLink()) return "symlink";
  if (stats.isDirectory()) return "dir";
  return stats.isFile() ? "file" : "other";
}
