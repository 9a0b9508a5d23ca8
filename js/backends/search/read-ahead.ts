/**
 * Backends that read many files in one step. A search names the files that it will probably read, so that it does not
 * wait for each of them.
 */
import type { FsBackend } from "../backend.ts";
import type { SearchedFile } from "./search-walk.ts";

/** Reads files ahead, given by their paths relative to a directory. */
type ReadAhead = (paths: readonly string[], signal: AbortSignal | undefined) => Promise<void>;

/** Begins to read ahead below a directory. */
type BeginReadAhead = (root: string) => Promise<ReadAhead | undefined>;

const readers = new WeakMap<FsBackend, BeginReadAhead>();

/** Registers how a backend reads ahead. */
export function provideReadAhead(backend: FsBackend, begin: BeginReadAhead): void {
  readers.set(backend, begin);
}

/** Begins to read ahead below a directory; undefined for a backend that reads one file at a time. */
export async function beginReadAhead(backend: FsBackend, root: string): Promise<ReadAhead | undefined> {
  return readers.get(backend)?.(root);
}

/** Returns true for a backend that reads ahead. */
export function readsAhead(backend: FsBackend): boolean {
  return readers.has(backend);
}

/** The bytes and the number of files that are read at once, and the size of a file that is read alone. */
const [BATCH_BYTES, BATCH_FILES] = [8 << 20, 2000];

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
