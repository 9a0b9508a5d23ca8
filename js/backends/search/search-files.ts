/** Reads and searches files one after the other, through `read` or `readBytes` of a backend. */
import { FilewrightError } from "../../engine/errors.ts";
import type { FsBackend, FsEntry } from "../backend.ts";
import type { GrepSearch } from "./search-grep.ts";
import { WALK_AHEAD_FILES } from "./search-held.ts";
import type { WalkEntry } from "./search-walk.ts";

/** A file to search. Its size may be missing. */
export type SearchedFile = Pick<WalkEntry, "path"> & { readonly entry: Pick<FsEntry, "path" | "size"> };

interface PendingRead {
  readonly file: SearchedFile;
  /** The content, or the error of its read; undefined for a file that is too large. */
  readonly content: Promise<Uint8Array | Error | undefined> | undefined;
}

/** Searches files in the order in which they are given. Some are read ahead. */
export async function searchFiles(
  search: GrepSearch,
  backend: FsBackend,
  files: AsyncIterable<SearchedFile> | Iterable<SearchedFile>,
): Promise<void> {
  const ahead: PendingRead[] = [];
  for await (const file of files) {
    ahead.push(startRead(search, backend, file));
    const next = ahead.length >= WALK_AHEAD_FILES ? ahead.shift() : undefined;
    if (next !== undefined && !(await searchFile(search, next))) return;
  }
  for (const next of ahead) if (!(await searchFile(search, next))) return;
}

function startRead(search: GrepSearch, backend: FsBackend, file: SearchedFile): PendingRead {
  const { path, size } = file.entry;
  const large = (size ?? 0) > search.maxFileBytes;
  const most = size === undefined ? search.maxFileBytes : undefined;
  return { file, content: large ? undefined : readOrError(backend, path, most) };
}

/** Reads and searches one file. Returns false when the search has ended. */
export function searchOne(search: GrepSearch, backend: FsBackend, file: SearchedFile): Promise<boolean> {
  return searchFile(search, startRead(search, backend, file));
}

/** Searches one file. Returns false when the search has ended. */
async function searchFile(search: GrepSearch, { file, content }: PendingRead): Promise<boolean> {
  if (await search.isOver(file.path)) return false;
  const bytes = await content;
  if (bytes instanceof Error) search.failed(bytes);
  else if (bytes === undefined || bytes.length > search.maxFileBytes) search.large++;
  else await search.file(file.path, bytes);
  return !search.isFull;
}

/**
 * Returns the content of a file, or the error of the read, which the search handles when it reaches the file;
 * undefined for a file of more than `most` bytes.
 */
async function readOrError(
  backend: FsBackend,
  path: string,
  most: number | undefined,
): Promise<Uint8Array | Error | undefined> {
  try {
    if (most === undefined || backend.read === undefined) return await backend.readBytes(path);
    return (await backend.read(path, { maxBytes: most }))?.bytes;
  } catch (error) {
    if (error instanceof FilewrightError && error.code === "TOO_LARGE") return undefined;
    return error instanceof Error ? error : new Error(String(error));
  }
}
