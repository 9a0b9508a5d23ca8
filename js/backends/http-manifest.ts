/**
 * The manifest of an HTTP server, which names its files because HTTP cannot list them, and the directory tree that
 * is built from it.
 */
import type { FsEntry } from "./backend.ts";
import { backendError } from "./failure.ts";
import { checkPath, childOf, isLongName, nameOf, normalise, parentOf } from "./paths.ts";
import { sortEntries } from "./fallback/fallback.ts";

/** A file of the manifest. */
export interface HttpFile {
  /** The path of a file relative to the base address, with `/`. */
  readonly path: string;
  /** The size of a file in bytes. */
  readonly size?: number | undefined;
  /** The time of the last change of a file, in milliseconds since 1970. */
  readonly mtime?: number | undefined;
}

/** The files and directories of a server. */
export interface HttpManifest {
  readonly files: readonly (string | HttpFile)[];
  /** Directories that exist although they contain no file. */
  readonly directories?: readonly string[] | undefined;
}

/** The files and directories of a manifest by absolute path. */
export interface ManifestIndex {
  readonly files: ReadonlyMap<string, HttpFile>;
  /** The entries of each directory, in the order of a listing. */
  readonly directories: ReadonlyMap<string, readonly FsEntry[]>;
}

/** Builds the tree of a manifest. @throws IO_ERROR for a path outside the base address */
export function indexManifest(manifest: HttpManifest): ManifestIndex {
  const files = new Map<string, HttpFile>();
  const tree = new Map<string, Map<string, FsEntry>>([["/", new Map()]]);
  const enter = (path: string): Map<string, FsEntry> => {
    const known = tree.get(path);
    if (known !== undefined) return known;
    if (files.has(path)) throw invalidManifestError(path, "is a file and a directory");
    const made = new Map<string, FsEntry>();
    tree.set(path, made);
    put(path, { type: "dir", isDir: true, isFile: false });
    return made;
  };
  const put = (path: string, facts: Omit<FsEntry, "name" | "path">): void => {
    const name = nameOf(path);
    enter(parentOf(path)).set(name, Object.freeze({ name, path, ...facts }));
  };
  if (!Array.isArray(manifest?.files)) throw invalidManifestError("/", "has no list of files");
  for (const given of manifest.files) {
    const file = typeof given === "string" ? { path: given } : given;
    const path = checkedAbsolutePath(file?.path);
    if (tree.has(path)) throw invalidManifestError(path, "is a file and a directory");
    files.set(path, file);
    const { size, mtime } = file;
    const known = { ...(size === undefined ? {} : { size }), ...(mtime === undefined ? {} : { mtime }) };
    put(path, { type: "file", isDir: false, isFile: true, ...known });
  }
  for (const path of manifest.directories ?? []) enter(checkedAbsolutePath(path));
  const directories = new Map([...tree].map(([path, entries]) => [path, sortEntries([...entries.values()])]));
  return { files, directories };
}

/**
 * Returns a path of the manifest as an absolute path, after checking it: the manifest may come from an untrusted
 * server.
 */
function checkedAbsolutePath(path: unknown): string {
  if (typeof path !== "string") throw invalidManifestError("/", "has a file without a path");
  const whole = childOf("/", path.replace(/\/$/, ""));
  try {
    checkPath(whole);
  } catch {
    throw invalidManifestError("/", "has a path that cannot be one");
  }
  if (normalise(whole).path !== whole || whole === "/" || whole.split("/").some(isLongName))
    throw invalidManifestError("/", "has a path that leads elsewhere");
  return whole;
}

function invalidManifestError(path: string, what: string): Error {
  return backendError("IO_ERROR", path, `the manifest ${what}`);
}
