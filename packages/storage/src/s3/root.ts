/** The root of a workspace: the one object that is replaced under a condition, and so decides every commit. */
import { type Actor, type Changed, DEFAULT_DIR_MODE, type Entry, type Version } from "filewright/files";
import { damageError } from "./failure.ts";
import { EMPTY_TABLE, type Row, type Table } from "./manifest.ts";

/** The head of a past commit. What it changed is in the object of its own, by its id. */
export interface CommitHead {
  /** The id of the commit, which is the version it made. */
  readonly id: string;
  /** The time of the commit by the clock of the store, in milliseconds since 1970. */
  readonly at: number;
  /** The number of changed paths. A commit without any made no version. */
  readonly count: number;
  readonly key?: string;
  readonly actor?: Actor;
}

/** Older heads of commits, in an immutable object. */
export interface PastPage {
  readonly commits: readonly CommitHead[];
  /** The hash of the page before. */
  readonly before: string | null;
}

/** The changes of a commit, in an object of their own. */
export interface CommitLog {
  readonly id: string;
  /** The states of every changed path, sorted by path. */
  readonly changes: readonly Changed<Entry>[];
  /** The entries of the commit's answer. */
  readonly answer: readonly Entry[];
}

/** Returns the content of the object of a log: rows, those of the kind `x` of what is gone. */
export function toStoredLog({ id, changes, answer }: CommitLog): StoredLog {
  const pairs = changes.map(({ before, after }) => [before && toRow(before), after && toRow(after)] as const);
  return { id, changes: pairs, answer: answer.map(toRow) };
}

interface StoredLog {
  readonly id: string;
  readonly changes: readonly (readonly (Row | null)[])[];
  readonly answer: readonly Row[];
}

/** Returns the log that an object contains; undefined where there is none. */
export function toLog(stored: unknown): CommitLog | undefined {
  if (stored === undefined) return undefined;
  const { id, changes, answer } = stored as StoredLog;
  const states = changes.map((pair): Changed<Entry> => {
    const [before = null, after = null] = pair.map((row) => row && toEntry(row));
    return { path: ((after ?? before) as Entry).path, before, after };
  });
  return { id, changes: states, answer: answer.map(toEntry) };
}

/** Where a fork comes from. */
export interface Origin {
  readonly workspace: string;
  readonly version: Version;
  /** The hash of the object with the table of files at that version. */
  readonly state: string;
}

/** The present state of a workspace. */
export interface Root {
  readonly format: 1;
  readonly version: Version;
  readonly files: Table;
  readonly records: Table;
  /** The latest commits, newest last. */
  readonly commits: readonly CommitHead[];
  /** The hash of the page with the commits before these. */
  readonly past: string | null;
  /** Names of the latest writes of this object, by which a writer finds out whether a lost answer was a success. */
  readonly marks: readonly string[];
  readonly origin: Origin | null;
  /** The states of forks that were merged last, by the name of the workspace. */
  readonly merged: Readonly<Record<string, Origin>>;
}

/** The version of a workspace before its first commit. */
export const FIRST_VERSION = "0";

/** The root of a workspace that was never written. */
export const EMPTY_ROOT: Root = {
  format: 1,
  version: FIRST_VERSION,
  files: EMPTY_TABLE,
  records: EMPTY_TABLE,
  commits: [],
  past: null,
  marks: [],
  origin: null,
  merged: {},
};

/** Returns the root in a parsed object, and refuses a format that another version wrote. */
export function checkRoot(key: string, value: unknown): Root {
  const root = value as Root;
  if (typeof value !== "object" || value === null || root.format !== 1)
    throw damageError(key, "has a format that this version does not know");
  if (!Array.isArray(root.commits) || !Array.isArray(root.files?.recent))
    throw damageError(key, "is damaged");
  return root;
}

/** Returns the hash of the row of a file, in hexadecimal digits. */
export const rowHex = (row: Row): string => row[5] as string;
/** Returns the size of the row of a file. */
export const rowSize = (row: Row): number => row[6] as number;

/** The row of `/` of a workspace in which it was never changed. */
export const TOP_ROW: Row = ["/", "d", FIRST_VERSION, 0, DEFAULT_DIR_MODE];

const HASH_PREFIX = "sha256:";

/** Returns the row of an entry. */
export function toRow({ path, type, version, mtime, mode, hash = "", size, target }: Entry): Row {
  if (type === "file") return [path, "f", version, mtime, mode, hash.slice(HASH_PREFIX.length), size];
  if (type === "dir") return [path, "d", version, mtime, mode];
  return type === "symlink" ? [path, "l", version, mtime, 0, target] : [path, "x", version, mtime];
}

/** Returns the entry of a row. */
export function toEntry(row: Row): Entry {
  const [path, kind, version, mtime, mode, content, size] = row as readonly [
    string,
    string,
    Version,
    number,
    number,
    string,
    number,
  ];
  switch (kind) {
    case "f":
      return Object.freeze({ path, type: "file", version, hash: HASH_PREFIX + content, size, mode, mtime });
    case "d":
      return Object.freeze({ path, type: "dir", version, mode, mtime });
    case "l":
      return Object.freeze({ path, type: "symlink", version, mtime, target: content });
    default:
      return Object.freeze({ path, type: "gone", version, mtime });
  }
}
