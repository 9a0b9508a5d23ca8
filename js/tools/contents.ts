/**
 * Reading files for tools that need them whole, with the version they belong to.
 */
import type { Location } from "../access/index.ts";
import type { FsBackend, FsStat, VersionedBytes, WriteOptions } from "../backends/backend.ts";
import { lstatOrNull, readVersioned } from "../backends/fallback.ts";
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { FileKind, Page, PageRequest } from "../engine/read.ts";
import { type Call, refuse } from "./tool.ts";

/**
 * Refuses a path that ends in `/` where a file is wanted: a directory is one,
 * and a file is not what the path says. @throws IS_DIRECTORY, NOT_DIRECTORY, NOT_FOUND
 */
export async function wantFile(fs: FsBackend, at: Location): Promise<void> {
  if (!at.directory) return;
  const { isDir } = await fs.stat(at.path);
  throw refuse(isDir ? "IS_DIRECTORY" : "NOT_DIRECTORY", at);
}

/** The facts about what a path leads to, or null where nothing is there. */
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

/** Whether a kind of file is made of lines. */
export function isTextKind(kind: FileKind): boolean {
  return kind === "text" || kind === "svg" || kind === "empty";
}

/** A whole file with its version. @throws TOO_LARGE with size and limit */
export async function readWhole(call: Call, at: Location, limit: number): Promise<VersionedBytes> {
  await wantFile(call.fs, at);
  const found = await readVersioned(call.fs, at.path, { maxBytes: limit, signal: call.signal });
  return found as VersionedBytes; // null only answers `ifNoneMatch`
}

/** A page of a file: by the backend itself where it can, else of its bytes. */
export async function readPage(call: Call, at: Location, request: PageRequest): Promise<Page> {
  const { fs, signal } = call;
  // The signal first: a key added behind a spread costs ten times as much.
  if (fs.readLines !== undefined) return fs.readLines(at.path, { signal, ...request });
  const { bytes, version, stat } = (await readVersioned(fs, at.path, { signal })) as VersionedBytes;
  const page =
    bytes.length > OFF_LOOP_BYTES
      ? await engine().readPageAsync(bytes, request, at.path, { signal })
      : engine().readPage(bytes, request, at.path);
  return Object.assign(page, { version, mtime: stat.mtime });
}

/** Above this much a page is cut off the event loop: about 100 µs of work. */
const OFF_LOOP_BYTES = 64 * 1024;

/** The version of what is at a path now; null for nothing. Where a backend has none, the content's hash is one. */
export async function currentVersion(fs: FsBackend, path: string, entry: boolean): Promise<string | null> {
  const stat = await (entry ? lstatOrNull(fs, path) : statOrNull(fs, path));
  if (stat === null) return null;
  if (stat.version !== undefined) return stat.version;
  if (stat.isFile) return engine().sha256(await fs.readBytes(path));
  if (!stat.isDir) return `${stat.type} ${stat.mtime}`;
  // Two changes of a directory may fall into one tick of its clock.
  const names = (await fs.listDir(path)).map(({ name }) => name).sort();
  return `dir ${stat.mtime} ${names.join("/")}`;
}

/** @throws CONFLICT where the bytes are not those the caller read */
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

/** A hash as `expected_hash` takes it: with or without its prefix, in any case. */
export function normalHash(hash: string): string {
  const text = hash.trim().toLowerCase();
  return text.startsWith("sha256:") ? text : `sha256:${text}`;
}

/** Turns "it is there by now" and "it is gone by now" into the CONFLICT that has the tool plan again. */
export function movedOn(error: unknown, condition: WriteOptions, mayExist: boolean): unknown {
  if (!(error instanceof FilewrightError)) return error;
  const appeared = error.code === "ALREADY_EXISTS" && condition.ifAbsent === true && mayExist;
  const vanished = error.code === "NOT_FOUND" && condition.ifVersion !== undefined;
  return appeared || vanished
    ? new FilewrightError("CONFLICT", "changed while it was written", { path: error.path, cause: error })
    : error;
}
