/**
 * Backends that read many files in one step. A search names the files that it will probably read, so that it does not
 * wait for each of them.
 */
import type { SearchedFile } from "./search-walk.ts";

/** Reads files ahead, given by their paths relative to a directory. */
export type ReadAhead = (paths: readonly string[], signal: AbortSignal | undefined) => Promise<void>;

/** Begins to read ahead below a directory. */
export type BeginReadAhead = (root: string) => Promise<ReadAhead | undefined>;

/** The bytes of files that are read at once. */
const BATCH_BYTES = 8 << 20;
/** The number of files that are read at once. */
export const BATCH_FILES = 2000;

/** A file that will probably be read. */
export interface FileAhead {
  /** The path relative to the directory of the search. */
  readonly path: string;
  readonly size: number;
}

/**
 * Reads the files of a list ahead, in groups of bounded size: small ones first, because the first matches often end a
 * search.
 */
export class GroupsAhead {
  readonly #read: ReadAhead;
  readonly #signal: AbortSignal | undefined;
  /** The place of the first file that was not considered. */
  #next = 0;
  #share = BATCH_BYTES / 8;

  constructor(read: ReadAhead, signal: AbortSignal | undefined) {
    this.#read = read;
    this.#signal = signal;
  }

  /**
   * Reads the file at a place with those that follow it, unless an earlier group contained it. `wanted` returns the file
   * at a place; undefined for one that is not read.
   */
  async before(at: number, count: number, wanted: (place: number) => FileAhead | undefined): Promise<void> {
    if (at < this.#next) return;
    const paths: string[] = [];
    let bytes = 0;
    let place = at;
    for (; place < count && paths.length < BATCH_FILES; place++) {
      const file = wanted(place);
      if (file === undefined) continue;
      bytes += file.size;
      if (paths.length > 0 && bytes > this.#share) break;
      paths.push(file.path);
    }
    this.#next = Math.max(place, at + 1);
    this.#share = Math.min(this.#share * 2, BATCH_BYTES);
    if (paths.length > 0) await this.#read(paths, this.#signal);
  }
}

/**
 * Yields the files after they were read ahead, in groups of bounded size: small ones first, because the first matches
 * often end a search. A file of more than `maxFileBytes` is not read.
 */
export async function* inBatches(
  files: AsyncIterable<SearchedFile>,
  ahead: ReadAhead,
  { maxFileBytes, signal }: { readonly maxFileBytes: number; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<SearchedFile> {
  let batch: SearchedFile[] = [];
  let bytes = 0;
  let share = BATCH_BYTES / 8;
  const read = async (): Promise<readonly SearchedFile[]> => {
    const ready = batch;
    batch = [];
    bytes = 0;
    share = Math.min(share * 2, BATCH_BYTES);
    const wanted = ready.filter(({ entry }) => (entry.size ?? 0) <= maxFileBytes);
    await ahead(
      wanted.map(({ path }) => path),
      signal,
    );
    return ready;
  };
  for await (const file of files) {
    const size = Math.min(file.entry.size ?? 0, maxFileBytes);
    if (batch.length > 0 && (bytes + size > share || batch.length >= BATCH_FILES)) yield* await read();
    batch.push(file);
    bytes += size;
  }
  if (batch.length > 0) yield* await read();
}
