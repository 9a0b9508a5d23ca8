/** Reads and searches files one after the other, through `read` or `readBytes` of a backend. */
import type { Files } from "../files.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { shortcutsOf } from "../abilities.ts";
import type { VersionedBytes } from "../backend.ts";
import { beginsBinary, HEAD_BYTES } from "./binary-head.ts";
import type { GrepSearch } from "./search-grep.ts";
import { WALK_AHEAD_FILES } from "./cached-walk.ts";
import type { SearchedFile } from "./search-walk.ts";

interface PendingRead {
  readonly file: SearchedFile;
  /** The content, or the error of its read; undefined for a file that is too large. */
  readonly content: Promise<Uint8Array | Error | undefined> | undefined;
  /** The content once it was read, if it is searched. */
  bytes: Uint8Array | undefined;
}

/** Searches files in the order in which they are given. Some are read ahead. */
export async function searchFiles(
  search: GrepSearch,
  backend: Files,
  files: AsyncIterable<SearchedFile> | Iterable<SearchedFile>,
): Promise<void> {
  const ahead: PendingRead[] = [];
  for await (const file of files) {
    ahead.push(startRead(search, backend, file));
    const next = ahead.length >= WALK_AHEAD_FILES ? ahead.shift() : undefined;
    if (next !== undefined && !(await searchFile(search, next, ahead))) return;
  }
  for (let next = ahead.shift(); next !== undefined; next = ahead.shift())
    if (!(await searchFile(search, next, ahead))) return;
}

function startRead(search: GrepSearch, backend: Files, file: SearchedFile): PendingRead {
  const { path, size } = file.entry;
  const most = search.maxFileBytes;
  if ((size ?? 0) > most) return { file, content: undefined, bytes: undefined };
  const content = readOrError(backend, path, { size, most });
  const pending: PendingRead = { file, content, bytes: undefined };
  content.then((read) => {
    if (read instanceof Uint8Array && read.length <= most) pending.bytes = read;
  });
  return pending;
}

/** Searches one file; `ahead` are those that follow it. Returns false when the search has ended. */
async function searchFile(
  search: GrepSearch,
  { file, content }: PendingRead,
  ahead: readonly PendingRead[],
): Promise<boolean> {
  if (await search.isOver(file.path)) return false;
  const bytes = await content;
  if (bytes instanceof Error) search.failed(bytes);
  else if (bytes === undefined || bytes.length > search.maxFileBytes) search.large++;
  else await search.file(file.path, bytes, () => ahead.flatMap((next) => next.bytes ?? []));
  return !search.isFull;
}

/** The size of a file, where it is known, and the size up to which it is searched. */
interface SizeBounds {
  readonly size: number | undefined;
  readonly most: number;
}

/** The size in bytes from which the head of a file is read first: one more read is then less work than the rest. */
const MIN_HEAD_FIRST_BYTES = 4 * HEAD_BYTES;

/** Returns what {@link readSearched} does, or its error, which the search handles when it reaches the file. */
export async function readOrError(
  backend: Files,
  path: string,
  bounds: SizeBounds,
): Promise<Uint8Array | Error | undefined> {
  try {
    return await readSearched(backend, path, bounds);
  } catch (error) {
    if (error instanceof FilewrightError && error.code === "TOO_LARGE") return undefined;
    return errorOf(error);
  }
}

/** Returns what was thrown as an error, for a search that handles it later. */
export const errorOf = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown));

/** Returns the first bytes of a file; undefined when they cannot be read, and the read of the whole says why. */
async function readHead(backend: Files, path: string): Promise<VersionedBytes | undefined> {
  try {
    return (await backend.read(path, { range: { start: 0, end: HEAD_BYTES } })) ?? undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the content of a file to search; undefined for a file of more than `most` bytes. Of a large file that begins
 * binary it is the head, which the search finds binary as it would find the whole.
 * @throws as `readBytes`, or TOO_LARGE
 */
export async function readSearched(
  backend: Files,
  path: string,
  { size, most }: SizeBounds,
): Promise<Uint8Array | undefined> {
  const isSmall = size !== undefined && size < MIN_HEAD_FIRST_BYTES;
  if (!backend.abilities.ranges || isSmall || shortcutsOf(backend).readAhead !== undefined)
    return backend.readBytes(path);
  const head = await readHead(backend, path);
  if (head !== undefined) {
    const { bytes, stat } = head;
    if (stat.size > most) return undefined;
    // A file that reports no size may have a content that the system makes as it is read.
    if (beginsBinary(bytes) || (bytes.length === stat.size && stat.size > 0)) return bytes;
  }
  return (await backend.read(path, { maxBytes: most }))?.bytes;
}
