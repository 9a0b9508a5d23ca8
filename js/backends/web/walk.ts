/**
 * Resolves paths to handles. Every name is a call to the browser, so directory handles are cached;
 * one that fails is dropped, and the path is resolved again from the top.
 */
import { backendError } from "../failure.ts";
import { checkPath, isLongName, isWithin, nameOf, normalise, parentOf } from "../paths.ts";
import { convertException, exceptionName, toHandleName } from "./platform.ts";

/** A handle with its type. */
export type HandleLookup =
  | { readonly type: "file"; readonly handle: FileSystemFileHandle }
  | { readonly type: "dir"; readonly handle: FileSystemDirectoryHandle };

/** The maximum number of cached directory handles. */
const MAX_CACHED_HANDLES = 2000;

/** The tree below one directory handle. */
export class HandleTree {
  readonly #top: () => Promise<FileSystemDirectoryHandle>;
  readonly #known = new Map<string, FileSystemDirectoryHandle>();

  constructor(top: () => Promise<FileSystemDirectoryHandle>) {
    this.#top = top;
  }

  /** Checks and normalises a path. @throws INVALID_ARGUMENT, NAME_TOO_LONG */
  path(given: string): string {
    checkPath(given);
    const { path } = normalise(given);
    for (const name of path.split("/")) if (isLongName(name)) throw backendError("NAME_TOO_LONG", given);
    return path;
  }

  /** Drops the handles of a directory that was moved or removed, and of everything below it. */
  forget(path: string): void {
    for (const known of this.#known.keys()) if (isWithin(known, path)) this.#known.delete(known);
  }

  /** Returns the handle of a directory. @throws NOT_FOUND, NOT_DIRECTORY */
  async directory(path: string): Promise<FileSystemDirectoryHandle> {
    return this.using(path, async (handle) => handle);
  }

  /** Runs an operation on a directory, a second time from the top where a cached handle is stale. */
  async using<T>(path: string, run: (handle: FileSystemDirectoryHandle) => Promise<T>): Promise<T> {
    const known = this.#known.get(path);
    try {
      if (known !== undefined) {
        try {
          return await run(known);
        } catch (error) {
          if (exceptionName(error) !== "NotFoundError") throw error;
        }
      }
      return await run(await this.#enter(path));
    } catch (error) {
      throw await convertException(error, path);
    }
  }

  /** Resolves a directory from the nearest cached one above that still works. */
  async #enter(path: string): Promise<FileSystemDirectoryHandle> {
    if (path === "/") return this.#top();
    const above = parentOf(path);
    const name = toHandleName(nameOf(path), path);
    const into = async (parent: FileSystemDirectoryHandle): Promise<FileSystemDirectoryHandle> => {
      const handle = await parent.getDirectoryHandle(name);
      if (this.#known.size >= MAX_CACHED_HANDLES) this.#known.clear();
      this.#known.set(path, handle);
      return handle;
    };
    this.#known.delete(path);
    const known = this.#known.get(above);
    if (known !== undefined) {
      try {
        return await into(known);
      } catch (error) {
        if (exceptionName(error) !== "NotFoundError") throw error;
      }
    }
    return into(await this.#enter(above));
  }

  /** Returns the handle at a path, or null where nothing exists. @throws NOT_DIRECTORY below a file */
  async find(path: string): Promise<HandleLookup | null> {
    if (path === "/") return { type: "dir", handle: await this.#top() };
    const name = toHandleName(nameOf(path), path);
    try {
      return await this.using(parentOf(path), async (parent): Promise<HandleLookup | null> => {
        try {
          return { type: "file", handle: await parent.getFileHandle(name) };
        } catch (error) {
          if (exceptionName(error) === "TypeMismatchError")
            return { type: "dir", handle: await parent.getDirectoryHandle(name) };
          throw error;
        }
      });
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "NOT_FOUND") return null;
      throw error;
    }
  }

  /** {@link find}, or the error. @throws NOT_FOUND, NOT_DIRECTORY */
  async get(path: string): Promise<HandleLookup> {
    const found = await this.find(path);
    if (found === null) throw backendError("NOT_FOUND", path);
    return found;
  }

  /** Returns the handle of a file. @throws NOT_FOUND, IS_DIRECTORY */
  async file(path: string): Promise<FileSystemFileHandle> {
    const found = await this.get(path);
    if (found.type === "dir") throw backendError("IS_DIRECTORY", path);
    return found.handle;
  }

  /**
   * Makes a directory and its parents; returns the created ones, innermost first. @throws
   * NOT_DIRECTORY
   */
  async make(path: string): Promise<readonly string[]> {
    const made: string[] = [];
    let at = path;
    while (at !== "/" && (await this.find(at)) === null) {
      made.push(at);
      at = parentOf(at);
    }
    for (const directory of [...made].reverse()) {
      await this.using(parentOf(directory), (parent) =>
        parent.getDirectoryHandle(toHandleName(nameOf(directory), directory), { create: true }),
      );
    }
    if (made.length === 0) await this.directory(path);
    return made;
  }
}
