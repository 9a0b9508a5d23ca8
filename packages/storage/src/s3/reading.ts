/** Reads of files and listings, of the present or of a state that is kept. */
import {
  checkStoredPath,
  compareCodePoints,
  type Entry,
  FilewrightError,
  type ReadEntry,
} from "filewright/files";
import { mapParallel } from "./blobs.ts";
import type { Keys } from "./keys.ts";
import type { Row, TableView } from "./manifest.ts";
import type { Objects } from "./objects.ts";
import { rowHex, rowSize, TOP_ROW, toEntry } from "./root.ts";

/** The number of rows that a listing reads ahead of its answer. */
const ROWS_PER_READ = 1000;

/** Returns the range of keys of everything below a path. */
export function below(path: string): readonly [from: string, to: string] {
  const inside = path === "/" ? "/" : `${path}/`;
  // `0` is the character after `/`; the row of `/` itself begins the range of `/` and is skipped by its readers.
  return [inside, `${inside.slice(0, -1)}0`];
}

/** Returns the row of a path; undefined when there is nothing. */
export async function rowAt(view: TableView, path: string): Promise<Row | undefined> {
  return (await view.get(path)) ?? (path === "/" ? TOP_ROW : undefined);
}

/** Reads paths: one result for each, in their order. */
export async function readPaths(
  view: TableView,
  keys: Keys,
  objects: Objects,
  paths: readonly string[],
  options: { readonly bodies: boolean; readonly maxBytes: number; readonly signal: AbortSignal | undefined },
): Promise<readonly (ReadEntry | FilewrightError | null)[]> {
  const rows = await mapParallel(paths, async (path): Promise<Row | FilewrightError | undefined> => {
    try {
      checkStoredPath(path);
    } catch (error) {
      return error as FilewrightError;
    }
    return rowAt(view, path);
  });
  let left = options.maxBytes;
  const wanted = rows.map((row): boolean => {
    if (row === undefined || row instanceof FilewrightError || row[1] !== "f" || !options.bodies)
      return false;
    left = rowSize(row) > left ? -1 : left - rowSize(row);
    return left >= 0;
  });
  return mapParallel([...rows.entries()], async ([index, row]) => {
    if (row === undefined) return null;
    if (row instanceof FilewrightError) return row;
    const entry = toEntry(row);
    if (entry.type !== "file" || !options.bodies) return { entry };
    if (wanted[index] !== true) return { entry, left: true as const };
    try {
      const body = await objects.content(keys.blob(rowHex(row)), rowHex(row), rowSize(row), options.signal);
      return { entry, body };
    } catch (error) {
      // A damaged content is the error of its path; a store that does not answer is that of the call.
      const isOwn = error instanceof FilewrightError && error.details?.["key"] !== undefined;
      if (!isOwn) throw error;
      return new FilewrightError(error.code, error.message, { path: entry.path, details: error.details });
    }
  });
}

/** Lists what is below a directory, as deep as asked, after a path. */
export async function listBelow(
  view: TableView,
  prefix: string,
  depth: number,
  after: string,
  limit: number,
): Promise<{ readonly entries: readonly Entry[]; readonly next?: string }> {
  const [begin, end] = below(prefix);
  const level = begin.split("/").length - 1;
  const entries: Entry[] = [];
  // The character after NUL: the first key that is greater than the path itself.
  let from = compareCodePoints(after, begin) >= 0 ? `${after}\0` : begin;
  for (;;) {
    const most = Math.min(
      ROWS_PER_READ,
      depth === Number.POSITIVE_INFINITY ? limit + 2 - entries.length : ROWS_PER_READ,
    );
    const rows = await view.range(from, end, most);
    let skipTo = "";
    for (const row of rows) {
      const [path] = row;
      if (path === prefix || compareCodePoints(path, skipTo) < 0) continue;
      const names = path.split("/");
      if (names.length - level > depth) {
        // Past everything below the directory at the last level.
        skipTo = `${names.slice(0, level + depth).join("/")}0`;
        continue;
      }
      if (entries.length === limit) return { entries, next: (entries.at(-1) as Entry).path };
      entries.push(toEntry(row));
    }
    if (rows.length < most) return { entries };
    const last = `${(rows.at(-1) as Row)[0]}\0`;
    from = compareCodePoints(skipTo, last) > 0 ? skipTo : last;
  }
}
