/**
 * A sorted table in immutable pages, with the latest changes beside them.
 *
 * A page has about a thousand rows and is named by its hash. What changed lately is in the root itself, so that a
 * change of one file writes no page; when the changes are many, the pages they belong to are written anew.
 */
import { compareCodePoints } from "filewright/files";
import { randomId, sha256, toJsonBytes } from "./codec.ts";
import { damageError } from "./failure.ts";
import type { Keys } from "./keys.ts";
import type { NewObject, Objects } from "./objects.ts";

/** A row of a table: its key, a letter for its kind, and the rest. The kind `x` says that there is no such row. */
export type Row = readonly [key: string, kind: string, ...rest: readonly unknown[]];

/** A page by its first possible key, its hash and its number of rows. */
type PageRef = readonly [from: string, hex: string, rows: number];

/** A table as it is stored. */
export interface Table {
  readonly pages: readonly PageRef[];
  /** The rows that changed since the pages were written, sorted. They count before those of the pages. */
  readonly recent: readonly Row[];
}

/** The table without rows. */
export const EMPTY_TABLE: Table = { pages: [], recent: [] };

const ROWS_PER_PAGE = 1000;
const BYTES_PER_PAGE = 512 * 1024;
const MAX_RECENT_ROWS = 256;
const MAX_RECENT_BYTES = 128 * 1024;

/** Returns the index of the first row at or after a key. */
function firstAt(rows: readonly (Row | PageRef)[], key: string): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareCodePoints((rows[middle] as Row)[0], key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the row with a key in sorted rows. */
function rowOf(rows: readonly Row[], key: string): Row | undefined {
  const row = rows[firstAt(rows, key)];
  return row?.[0] === key ? row : undefined;
}

/** Returns the index of the page that has a key if any has. */
function pageOf(pages: readonly PageRef[], key: string): number {
  const at = firstAt(pages, key);
  return pages[at]?.[0] === key ? at : Math.max(0, at - 1);
}

/** Returns two sorted lists as one; of equal keys the row of the second list counts. */
function mergeRows(old: readonly Row[], changed: readonly Row[]): Row[] {
  const merged: Row[] = [];
  let at = 0;
  for (const row of changed) {
    while (at < old.length && compareCodePoints((old[at] as Row)[0], row[0]) < 0)
      merged.push(old[at++] as Row);
    if (old[at]?.[0] === row[0]) at += 1;
    merged.push(row);
  }
  while (at < old.length) merged.push(old[at++] as Row);
  return merged;
}

/** Reads a table. */
export class TableView {
  readonly table: Table;
  readonly #keys: Keys;
  readonly #objects: Objects;
  readonly #signal: AbortSignal | undefined;

  constructor(table: Table, keys: Keys, objects: Objects, signal: AbortSignal | undefined) {
    this.table = table;
    this.#keys = keys;
    this.#objects = objects;
    this.#signal = signal;
  }

  async #page(index: number): Promise<readonly Row[]> {
    const page = this.table.pages[index];
    if (page === undefined) return [];
    const [, hex] = page;
    const key = this.#keys.page(hex);
    const stored = (await this.#objects.json(key, hex, this.#signal)) as { rows: Row[] } | undefined;
    if (stored === undefined) throw damageError(key, "is missing");
    return stored.rows;
  }

  /** Returns the row with a key; undefined when there is none. */
  async get(key: string): Promise<Row | undefined> {
    const changed = rowOf(this.table.recent, key);
    const row = changed ?? rowOf(await this.#page(pageOf(this.table.pages, key)), key);
    return row?.[1] === "x" ? undefined : row;
  }

  /** Returns the rows with these keys, whose pages are read at once. */
  async getMany(keys: readonly string[]): Promise<(Row | undefined)[]> {
    return Promise.all(keys.map((key) => this.get(key)));
  }

  /** Returns the rows from a key up to but not including another, in their order; at most `limit`. */
  async range(from: string, to: string, limit: number): Promise<Row[]> {
    const found: Row[] = [];
    const recent = this.table.recent.slice(firstAt(this.table.recent, from), firstAt(this.table.recent, to));
    let at = 0;
    const { pages } = this.table;
    for (let index = pageOf(pages, from); index < Math.max(1, pages.length); index += 1) {
      if (index > 0 && compareCodePoints((pages[index] as PageRef)[0], to) >= 0) break;
      const rows = await this.#page(index);
      // The next pages are asked for while this one is walked; an error of theirs shows when their turn comes.
      if (found.length + rows.length < limit && index + 1 < pages.length)
        this.#page(index + 1).catch(() => {});
      const until = pages[index + 1]?.[0];
      const begun = at;
      while (
        at < recent.length &&
        (until === undefined || compareCodePoints((recent[at] as Row)[0], until) < 0)
      )
        at += 1;
      const inPage = rows.slice(firstAt(rows, from), firstAt(rows, to));
      for (const row of mergeRows(inPage, recent.slice(begun, at))) {
        if (row[1] === "x") continue;
        found.push(row);
        if (found.length >= limit) return found;
      }
    }
    return found;
  }

  /**
   * Returns the table with changed rows, and the pages that have to be stored first. `keep` says which rows go on
   * when a page is written anew.
   */
  async change(
    changed: readonly Row[],
    keep: (row: Row) => boolean = () => true,
  ): Promise<{ table: Table; pages: readonly NewObject[] }> {
    const { pages } = this.table;
    let recent = mergeRows(this.table.recent, changed);
    // Without pages there is nothing that a removed row would hide.
    if (pages.length === 0) recent = recent.filter((row) => row[1] !== "x");
    if (recent.length <= MAX_RECENT_ROWS && JSON.stringify(recent).length <= MAX_RECENT_BYTES)
      return { table: { pages, recent }, pages: [] };
    const refs: PageRef[] = [];
    const stored: NewObject[] = [];
    let at = 0;
    for (let index = 0; index < Math.max(1, pages.length); index += 1) {
      const until = pages[index + 1]?.[0];
      const begun = at;
      while (
        at < recent.length &&
        (until === undefined || compareCodePoints((recent[at] as Row)[0], until) < 0)
      )
        at += 1;
      if (begun === at && pages[index] !== undefined) {
        refs.push(pages[index] as PageRef);
        continue;
      }
      const rows = mergeRows(await this.#page(index), recent.slice(begun, at));
      for (const part of splitRows(rows.filter((row) => row[1] !== "x" && keep(row)))) {
        const page = await this.#newPage(part);
        stored.push(page);
        // The first page begins before everything.
        refs.push([refs.length === 0 ? "" : (part[0] as Row)[0], page.hex, part.length]);
      }
    }
    return { table: { pages: refs, recent: [] }, pages: stored };
  }

  async #newPage(rows: readonly Row[]): Promise<NewObject> {
    // The random part makes the page another object than every earlier one, so that no sweep can be removing it.
    const page = { id: randomId(), rows };
    const body = toJsonBytes(page);
    const hex = await sha256(body);
    const key = this.#keys.page(hex);
    this.#objects.rememberJson(key, page, body.length);
    return { key, body, hex };
  }
}

/** Splits rows into pages of about the same size. */
function splitRows(rows: readonly Row[]): Row[][] {
  if (rows.length === 0) return [];
  const bytes = rows.length > 10 ? JSON.stringify(rows).length : 0;
  const count = Math.max(Math.ceil(rows.length / ROWS_PER_PAGE), Math.ceil(bytes / BYTES_PER_PAGE));
  const size = Math.ceil(rows.length / count);
  const parts: Row[][] = [];
  for (let at = 0; at < rows.length; at += size) parts.push(rows.slice(at, at + size));
  return parts;
}
