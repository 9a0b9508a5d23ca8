/** A commit in the making: changes are applied beside the table of files. */
import { pathsOfOp } from "../check.ts";
import { compareCodePoints, isWithin, parentOf } from "../../backends/paths.ts";
import { applyOp, type ChangingTree, type OpOf } from "../apply.ts";
import type { StoredType, Version } from "../entry.ts";
import type { Row, TableView } from "./manifest.ts";
import { changedRow, type CommitLog, fileRow, rowMode, TOP_ROW } from "./root.ts";

/** A file that is written, with the hash of its content. */
interface PutFile {
  readonly op: "put";
  readonly path: string;
  readonly hex: string;
  readonly size: number;
  readonly mode?: number | undefined;
}

/** A change whose content is stored, or on its way. */
export type ReadyOp = OpOf<PutFile>;

/** Returns the range of keys of everything below a path. */
export function below(path: string): readonly [from: string, to: string] {
  const inside = path === "/" ? "/" : `${path}/`;
  // `0` is the character after `/`; the row of `/` itself begins the range of `/` and is skipped by its readers.
  return [inside, `${inside.slice(0, -1)}0`];
}

/** The rows that a commit changes. */
export class Draft implements ChangingTree<PutFile> {
  readonly #view: TableView;
  readonly #version: Version;
  readonly #now: number;
  /** The changed rows; null for what is gone. */
  readonly #changed = new Map<string, Row | null>();
  readonly #named = new Set<string>();

  constructor(view: TableView, version: Version, now: number) {
    this.#view = view;
    this.#version = version;
    this.#now = now;
  }

  /** Reads the pages of all paths at once. */
  async load(ops: readonly ReadyOp[]): Promise<void> {
    const paths = ops.flatMap(pathsOfOp);
    await this.#view.getMany([...new Set(paths.flatMap((path) => [path, parentOf(path)]))]);
  }

  /** Returns the changed rows for the table. */
  rows(): readonly Row[] {
    return [...this.#changed].map(([path, row]) => row ?? ([path, "x"] as const)).sort(byKey);
  }

  /** Returns what the commit changed. */
  async log(): Promise<CommitLog> {
    const changes: [Row | null, Row | null][] = [];
    for (const path of [...this.#changed.keys()].sort(compareCodePoints)) {
      const before = (await this.#view.get(path)) ?? (path === "/" ? TOP_ROW : null);
      const after = this.#changed.get(path) ?? null;
      if (before !== null || after !== null) changes.push([before, after]);
    }
    const answer: Row[] = [];
    for (const path of [...this.#named].sort(compareCodePoints))
      answer.push((await this.#get(path)) ?? [path, "x", this.#version, this.#now]);
    return { id: this.#version, changes, answer };
  }

  async #get(path: string): Promise<Row | undefined> {
    const changed = this.#changed.get(path);
    if (changed !== undefined) return changed ?? undefined;
    return (await this.#view.get(path)) ?? (path === "/" ? TOP_ROW : undefined);
  }

  #set(row: Row): void {
    this.#changed.set(row[0], row);
    this.#named.add(row[0]);
  }

  /** Returns the rows below a path, as they are now. */
  async #rowsBelow(path: string): Promise<Row[]> {
    const stored = await this.#view.range(...below(path), Number.POSITIVE_INFINITY);
    const rows = stored.filter(([key]) => key !== path && !this.#changed.has(key));
    for (const [key, row] of this.#changed)
      if (row !== null && key !== path && isWithin(key, path)) rows.push(row);
    return rows.sort(byKey);
  }

  /** Applies one change. @throws NOT_FOUND, ALREADY_EXISTS, IS_DIRECTORY, NOT_DIRECTORY, NOT_EMPTY */
  apply(op: ReadyOp): Promise<void> {
    return applyOp(op, this);
  }

  async look(path: string): Promise<{ readonly type: StoredType; readonly mode?: number } | null> {
    const row = await this.#get(path);
    if (row === undefined) return null;
    return row[1] === "l"
      ? { type: "symlink" }
      : { type: row[1] === "d" ? "dir" : "file", mode: rowMode(row) };
  }

  async isEmpty(path: string): Promise<boolean> {
    for (const [key, row] of this.#changed)
      if (row !== null && key !== path && isWithin(key, path)) return false;
    const [from, to] = below(path);
    const removed = [...this.#changed.keys()].filter((key) => isWithin(key, path)).length;
    const stored = await this.#view.range(from, to, removed + 2);
    return !stored.some(([key]) => key !== path && !this.#changed.has(key));
  }

  keep(path: string): void {
    this.#named.add(path);
  }

  setFile({ path, hex, size }: PutFile, mode: number): void {
    this.#set(fileRow(path, this.#version, this.#now, mode, hex, size));
  }

  setDirectory(path: string, mode: number): void {
    this.#set([path, "d", this.#version, this.#now, mode]);
  }

  setLink(path: string, target: string): void {
    this.#set([path, "l", this.#version, this.#now, 0, target]);
  }

  async setMode(path: string, mode: number): Promise<void> {
    this.#set(changedRow((await this.#get(path)) as Row, path, this.#version, mode));
  }

  async take(path: string): Promise<(to: string) => void> {
    const row = (await this.#get(path)) as Row;
    const tree = row[1] === "d" ? await this.#rowsBelow(path) : [];
    for (const [key] of tree) this.#changed.set(key, null);
    this.#changed.set(path, null);
    this.#named.add(path);
    return (to) => {
      this.#set(changedRow(row, to, this.#version));
      for (const one of tree) {
        const moved = to + one[0].slice(path.length);
        this.#changed.set(moved, changedRow(one, moved, this.#version));
      }
    };
  }
}

/** Compares rows by their keys. */
const byKey = (a: Row, b: Row): number => compareCodePoints(a[0], b[0]);
