/** Reads files for tools that need them whole, with their version. */
import type { Location } from "../../policy/index.ts";
import type { FsBackend, FsStat, VersionedBytes, WriteOptions } from "../../backends/backend.ts";
import { lstatOrNull, readVersioned } from "../../backends/fallback/fallback.ts";
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { FileKind, Page, PageRequest } from "../../engine/read.ts";
import { type Call, refuse } from "./tool.ts";

/**
 * Refuses a path that ends in `/` for an operation on a file: it names a directory or nothing.
 * @throws IS_DIRECTORY, NOT_DIRECTORY, NOT_FOUND
 */
export async function assertFile(fs: FsBackend, at: Location): Promise<void> {
  if (!at.directory) return;
  const { isDir } = await fs.stat(at.path);
  throw refuse(isDir ? "IS_DIRECTORY" : "NOT_DIRECTORY", at);
}

/** Returns the facts about a path, links followed, or null where nothing exists. */
export async function statOrNull(fs: FsBackend, path: string): Promise<FsStat | null> {
  return absentAsNull(() => fs.stat(path));
}

async function absentAsNull<T>(get: () => T | Promise<T>): Promise<T | null> {
  try {
    return await get();
  } catch (error) {
    if (error instanceof FilewrightError && error.code === "NOT_FOUND") return null;
    throw error;
  }
}

/** Returns true for a kind of file that consists of lines. */
export function isTextKind(kind: FileKind): boolean {
  return kind === "text" || kind === "svg" || kind === "empty";
}

/** Reads a whole file with its version. @throws TOO_LARGE with size and limit */
export async function readWhole(call: Call, at: Location, limit: number): Promise<VersionedBytes> {
  await assertFile(call.fs, at);
  const found = await readVersioned(call.fs, at.path, { maxBytes: limit, signal: call.signal });
  return found as VersionedBytes; // `null` only answers `ifNoneMatch`.
}

/** Reads a page of a file: through the backend's `readLines`, or else from the whole content. */
export async function readPage(call: Call, at: Location, request: PageRequest): Promise<Page> {
  const { fs, signal } = call;
  // The signal comes first: a key added after a spread costs ten times as much.
  if (fs.readLines !== undefined) return fs.readLines(at.path, { signal, ...request });
  const { bytes, version, stat } = (await readVersioned(fs, at.path, { signal })) as VersionedBytes;
  const page =
    bytes.length > MIN_BACKGROUND_PAGE_BYTES
      ? await engine().readPageAsync(bytes, request, at.path, { signal })
      : engine().readPage(bytes, request, at.path);
  return Object.assign(page, { version, mtime: stat.mtime });
}

/** The size above which a page is cut on another thread: about 100 µs of work. */
const MIN_BACKGROUND_PAGE_BYTES = 64 * 1024;

/**
 * Returns the current version of a path, or null where nothing exists. Without versions in the
 * backend, it is the content's hash.
 */
export async function currentVersion(fs: FsBackend, path: string, entry: boolean): Promise<string | null> {
  const stat = await (entry ? lstatOrNull(fs, path) : statOrNull(fs, path));
  if (stat === null) return null;
  if (stat.version !== undefined) return stat.version;
  if (stat.isFile) return engine().sha256(await fs.readBytes(path));
  if (!stat.isDir) return `${stat.type} ${stat.mtime}`;
  // Two changes of a directory may fall into one tick of its clock, so the names are compared too.
  const names = (await fs.listDir(path)).map(({ name }) => name).sort();
  return `dir ${stat.mtime} ${names.join("/")}`;
}

/** @throws CONFLICT when the content has another hash than the caller expects */
export function expectHash(at: Location, expected: string | undefined, found: string | null): void {
  if (expected === undefined || expected === found) return;
  throw refuse(
    "CONFLICT",
    at,
    found === null
      ? { message: "does not exist, and expected_hash names content", details: { expected } }
      : { message: "is not the version that expected_hash names", details: { expected, found } },
  );
}

/** Returns a hash in the form of `expected_hash`: lower case, with its prefix. */
export function normalHash(hash: string): string {
  const text = hash.trim().toLowerCase();
  return text.startsWith("sha256:") ? text : `sha256:${text}`;
}

/**
 * Converts ALREADY_EXISTS and NOT_FOUND of a changed file to the CONFLICT after which the tool
 * plans again.
 */
export function toConflict(error: unknown, condition: WriteOptions, mayExist: boolean): unknown {
  if (!(error instanceof FilewrightError)) return error;
  const appeared = error.code === "ALREADY_EXISTS" && condition.ifAbsent === true && mayExist;
  const vanished = error.code === "NOT_FOUND" && condition.ifVersion !== undefined;
  return appeared || vanished
    ? new FilewrightError("CONFLICT", "changed while it was written", { path: error.path, cause: error })
    : error;
}
