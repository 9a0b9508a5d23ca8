/** Rows of the functions as entries. */
import type { Entry, StoredType, Version } from "filewright/files";
import type { Row } from "./client.ts";

const TYPES: Readonly<Record<string, StoredType>> = { f: "file", d: "dir", l: "symlink", x: "gone" };
const KINDS: Readonly<Record<StoredType, string>> = { file: "f", dir: "d", symlink: "l", gone: "x" };

/** Returns the letter with which a kind of entries is stored. */
export function kindOf(type: StoredType): string {
  return KINDS[type];
}

/** Returns the kind of entries of a letter. */
export function typeOf(kind: string): StoredType {
  return TYPES[kind] ?? "gone";
}

/** Returns the entry of a row. */
export function toEntry(row: Row): Entry {
  const type = typeOf(String(row["kind"]));
  return Object.freeze({
    path: String(row["path"]),
    type,
    version: String(row["version"]),
    ...(type === "file" ? { hash: `sha256:${String(row["hash"])}`, size: Number(row["size"]) } : {}),
    ...(type === "file" || type === "dir" ? { mode: Number(row["mode"]) } : {}),
    ...(row["mtime"] === null ? {} : { mtime: Number(row["mtime"]) }),
    ...(type === "symlink" ? { target: String(row["target"]) } : {}),
  });
}

/** The columns of an entry in the order of a list, as the history answers them. */
const COLUMNS = ["path", "kind", "version", "hash", "size", "mode", "mtime", "target"] as const;

/** Returns the entry of a list of columns; null for null. */
export function fromColumns(columns: readonly unknown[] | null): Entry | null {
  if (columns === null) return null;
  return toEntry(Object.fromEntries(COLUMNS.map((name, index) => [name, columns[index]])));
}

/**
 * Returns the number of a version; null for a text that no version has. Numbers are whole, and have at most 18
 * digits, so that a `bigint` holds them.
 */
export function numberOf(version: Version): string | null {
  return /^(0|[1-9]\d{0,17})$/u.test(version) ? version : null;
}
