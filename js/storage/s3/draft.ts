/** A commit in the making: changes are applied beside the table of files. */
import { pathsOfOp } from "../check.ts";
import { DEFAULT_DIR_MODE, DEFAULT_FILE_MODE, PERMISSION_BITS } from "../../backends/entry.ts";
import { backendError } from "../../backends/failure.ts";
import { compareCodePoints, isWithin, parentOf } from "../../backends/paths.ts";
import type { Op } from "../commit.ts";
import type { Version } from "../entry.ts";
import type { Row, TableView } from "./manifest.ts";
import { changedRow, type CommitLog, fileRow, rowMode, TOP_ROW } from "./root.ts";

/** A change whose content is stored, or on its way. */
export type ReadyOp =
  | Exclude<Op, { op: "put" } | { op: "link" }>
  | {
      readonly op: "put";
      readonly path: string;
      readonly hex: string;
      readonly size: number;
      readonly mode?: number | undefined;
    };

/** Returns the range of keys of everything below a path. */
export function below(path: string): readonly [from: string, to: string] {
  const inside = path === "/" ? "/" : `${path}/`;
  // `0` is the character after `/`; the row of `/` itself begins the range of `/` and is skipped by its readers.
  return [inside, `${inside.slice(0, -1)}0`];
}

/** The rows that a commit changes. */
export class Draft {
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

  async #existing(path: string): Promise<Row> {
    const row = await this.#get(path);
    if (row === undefined) throw backendError("NOT_FOUND", path);
    return row;
  }

  #set(row: Row): void {
    this.#changed.set(row[0], row);
    this.#named.add(row[0]);
  }

  /** Makes the missing parents of a path. */
  async #makeParents(path: string): Promise<void> {
    const missing: string[] = [];
    for (let at = parentOf(path); at !== "/"; at = parentOf(at)) {
      const row = await this.#get(at);
      if (row !== undefined && row[1] !== "d") throw backendError("NOT_DIRECTORY", at);
      if (row !== undefined) break;
      missing.push(at);
    }
    for (const at of missing.reverse()) this.#set([at, "d", this.#version, this.#now, DEFAULT_DIR_MODE]);
  }

  /** Returns the rows below a path, as they are now. */
  async #rowsBelow(path: string): Promise<Row[]> {
    const stored = await this.#view.range(...below(path), Number.POSITIVE_INFINITY);
    const rows = stored.filter(([key]) => key !== path && !this.#changed.has(key));
    for (const [key, row] of this.#changed)
      if (row !== null && key !== path && isWithin(key, path)) rows.push(row);
    return rows.sort(byKey);
  }

  async #hasBelow(path: string): Promise<boolean> {
    for (const [key, row] of this.#changed)
      if (row !== null && key !== path && isWithin(key, path)) return true;
    const [from, to] = below(path);
    const removed = [...this.#changed.keys()].filter((key) => isWithin(key, path)).length;
    const stored = await this.#view.range(from, to, removed + 2);
    return stored.some(([key]) => key !== path && !this.#changed.has(key));
  }

  /** Applies one change. @throws NOT_FOUND, ALREADY_EXISTS, IS_DIRECTORY, NOT_DIRECTORY, NOT_EMPTY */
  async apply(op: ReadyOp): Promise<void> {
    const [version, now] = [this.#version, this.#now];
    switch (op.op) {
      case "put": {
        const there = await this.#get(op.path);
        if (there?.[1] === "d") throw backendError("IS_DIRECTORY", op.path);
        await this.#makeParents(op.path);
        const kept = there?.[1] === "f" ? rowMode(there) : undefined;
        const mode = (op.mode ?? kept ?? DEFAULT_FILE_MODE) & PERMISSION_BITS;
        this.#set(fileRow(op.path, version, now, mode, op.hex, op.size));
        return;
      }
      case "mkdir": {
        const there = await this.#get(op.path);
        if (there?.[1] === "d") this.#named.add(op.path);
        else if (there !== undefined) throw backendError("ALREADY_EXISTS", op.path);
        else {
          await this.#makeParents(op.path);
          this.#set([op.path, "d", version, now, (op.mode ?? DEFAULT_DIR_MODE) & PERMISSION_BITS]);
        }
        return;
      }
      case "symlink":
        if ((await this.#get(op.path)) !== undefined) throw backendError("ALREADY_EXISTS", op.path);
        await this.#makeParents(op.path);
        this.#set([op.path, "l", version, now, 0, op.target]);
        return;
      case "chmod": {
        const there = await this.#existing(op.path);
        if (there[1] === "l") throw backendError("INVALID_ARGUMENT", op.path, "a link has no mode");
        this.#set(changedRow(there, op.path, version, op.mode & PERMISSION_BITS));
        return;
      }
      case "remove": {
        const there = await this.#existing(op.path);
        if (op.tree !== true && there[1] === "d" && (await this.#hasBelow(op.path)))
          throw backendError("NOT_EMPTY", op.path);
        await this.#remove(there);
        return;
      }
      case "move": {
        const there = await this.#existing(op.from);
        if ((await this.#get(op.to)) !== undefined) throw backendError("ALREADY_EXISTS", op.to);
        const tree = await this.#remove(there);
        await this.#makeParents(op.to);
        this.#set(changedRow(there, op.to, version));
        for (const row of tree) {
          const path = op.to + row[0].slice(op.from.length);
          this.#changed.set(path, changedRow(row, path, version));
        }
      }
    }
  }

  /** Removes a row and everything below it, which it returns. */
  async #remove(row: Row): Promise<readonly Row[]> {
    const [path, kind] = row;
    const tree = kind === "d" ? await this.#rowsBelow(path) : [];
    for (const [key] of tree) this.#changed.set(key, null);
    this.#changed.set(path, null);
    this.#named.add(path);
    return tree;
  }
}

/** Compares rows by their keys. */
const byKey = (a: Row, b: Row): number => compareCodePoints(a[0], b[0]);
