/** Reads files for tools that need them whole, with their version. */
import type { Files } from "../../backends/files.ts";
import type { Location } from "../../policy/index.ts";
import type { FsStat, VersionedBytes, WriteOptions } from "../../backends/backend.ts";
import { lstatOrNull } from "../../backends/fallback/fallback.ts";
import { engine } from "../../engine/current.ts";
import { untilAborted } from "../../engine/threads.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { FileKind, Page, PageRequest } from "../../engine/read.ts";
import { type Call, locationError } from "./tool.ts";

/**
 * Refuses a path that ends in `/` for an operation on a file: it names a directory or nothing.
 * @throws IS_DIRECTORY, NOT_DIRECTORY, NOT_FOUND
 */
export async function assertFile(fs: Files, at: Location): Promise<void> {
  if (!at.directory) return;
  const { isDir } = await fs.stat(at.path);
  throw locationError(isDir ? "IS_DIRECTORY" : "NOT_DIRECTORY", at);
}

/** Returns the facts about a path, or null when nothing exists there. Links are followed. */
export async function statOrNull(fs: Files, path: string): Promise<FsStat | null> {
  try {
    return await fs.stat(path);
  } catch (error) {
    if (error instanceof FilewrightError && error.code === "NOT_FOUND") return null;
    throw error;
  }
}

/** Returns true for a kind of file that can be paged by lines: text, SVG, or an empty file. */
export function isTextKind(kind: FileKind): boolean {
  return kind === "text" || kind === "svg" || kind === "empty";
}

/**
 * Reads a whole file with its version. @throws TOO_LARGE, with the size and the limit in bytes, when it is
 * larger than `limit` bytes
 */
export async function readWholeFile(call: Call, at: Location, limit: number): Promise<VersionedBytes> {
  if (at.directory) await assertFile(call.fs, at);
  const found = await call.fs.read(at.path, { maxBytes: limit, signal: call.signal });
  return found as VersionedBytes; // `null` only answers `ifNoneMatch`.
}

/** Reads a page of a file. */
export function readPage({ fs, signal }: Call, at: Location, request: PageRequest): Promise<Page> {
  // The signal is the first key, because adding a key after a spread takes ten times as long.
  return fs.readLines(at.path, { signal, ...request });
}

/** Some consecutive lines of a text. */
export interface LineSpan {
  /** The first line, from 0. */
  readonly first: number;
  readonly count: number;
}

/** The most lines between two wanted spans that are read with them, because another page costs more. */
const MAX_GAP_LINES = 1000;

/** Returns the lines of a text in each of some spans, without their line endings; fewer of a span behind its end. */
export async function linesIn(
  text: { readonly bytes: Uint8Array; readonly encoding: string; readonly name: string },
  spans: readonly LineSpan[],
  signal: AbortSignal | undefined,
): Promise<readonly (readonly string[])[]> {
  const pages: { readonly first: number; end: number; lines: readonly string[] }[] = [];
  for (const { first, count } of spans.toSorted((a, b) => a.first - b.first)) {
    const last = pages.at(-1);
    if (last === undefined || first > last.end + MAX_GAP_LINES)
      pages.push({ first, end: first + count, lines: [] });
    else last.end = Math.max(last.end, first + count);
  }
  for (const page of pages) {
    const request: PageRequest = {
      startLine: page.first + 1,
      maxLines: page.end - page.first,
      contentBytes: text.bytes.length * MAX_UTF8_GROWTH,
      encoding: text.encoding,
    };
    const { content } = await engine().reading.readPage(text.bytes, request, text.name, { signal });
    page.lines = linesWithoutEndings(content);
  }
  return spans.map(({ first, count }) => {
    const page = pages.findLast((one) => one.first <= first);
    return page?.lines.slice(first - page.first, first - page.first + count) ?? [];
  });
}

/** The most bytes of UTF-8 that one byte of another encoding becomes. */
const MAX_UTF8_GROWTH = 4;

/**
 * Returns the lines of a text without their line endings. A line ending at the end of the text begins no
 * further line.
 */
export function linesWithoutEndings(text: string): readonly string[] {
  const lines = text.split(/\r?\n/u);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/**
 * Returns the current version of a path, or null where nothing exists. With `entry` a link itself is meant,
 * otherwise its target. If the backend has no versions, the version is the content's hash for a file, and the
 * time and names for a directory.
 */
export async function currentVersion(fs: Files, path: string, entry: boolean): Promise<string | null> {
  const stat = await (entry ? lstatOrNull(fs, path) : statOrNull(fs, path));
  if (stat === null) return null;
  if (stat.version !== undefined) return stat.version;
  if (stat.isFile) return engine().sha256(await fs.readBytes(path));
  if (!stat.isDir) return `${stat.type} ${stat.mtime}`;
  // Two changes of a directory may have the same time, if its clock is coarse, so the names are compared,
  // too.
  const names = (await fs.listDir(path)).map(({ name }) => name).sort();
  return `dir ${stat.mtime} ${names.join("/")}`;
}

/**
 * Compares the hash of the content with the one that the caller expects; nothing is compared without an
 * expected one. @throws CONFLICT when they differ
 */
export function assertExpectedHash(at: Location, expected: string | undefined, found: string | null): void {
  if (expected === undefined || expected === found) return;
  throw locationError(
    "CONFLICT",
    at,
    found === null
      ? { message: "does not exist, and expected_hash names content", details: { expected } }
      : { message: "is not the version that expected_hash names", details: { expected, found } },
  );
}

/** The size in bytes above which content is encoded and counted in slices, and hashed on another thread. */
export const MIN_SLICED_BYTES: number = 1024 * 1024;

/** Returns the hash of a content. That of large content is computed on another thread. @throws CANCELLED */
export function hashNowOrLater(bytes: Uint8Array, signal: AbortSignal | undefined): string | Promise<string> {
  return bytes.length > MIN_SLICED_BYTES
    ? untilAborted(signal, engine().onThreads.sha256(bytes))
    : engine().sha256(bytes);
}

/** Returns a hash in the form of `expected_hash`: lower case, with its prefix. */
export function normalizeHash(hash: string): string {
  const text = hash.trim().toLowerCase();
  return text.startsWith("sha256:") ? text : `sha256:${text}`;
}

/**
 * Converts an error of a write to CONFLICT when the file was created or deleted by somebody else since it was
 * read: ALREADY_EXISTS if it had to be absent, NOT_FOUND if it had to have a version. The tool then plans
 * again. Returns any other error unchanged.
 */
export function toConflict(error: unknown, condition: WriteOptions, mayExist: boolean): unknown {
  if (!(error instanceof FilewrightError)) return error;
  const appeared = error.code === "ALREADY_EXISTS" && condition.ifAbsent === true && mayExist;
  const vanished = error.code === "NOT_FOUND" && condition.ifVersion !== undefined;
  return appeared || vanished
    ? new FilewrightError("CONFLICT", "changed while it was written", { path: error.path, cause: error })
    : error;
}
