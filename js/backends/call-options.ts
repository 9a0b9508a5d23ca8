/**
 * The options of single calls of a backend, and their check: a misspelt name, a wrong type or an unknown value is
 * INVALID_ARGUMENT, so that no mistake leaves a write without its condition. Every backend of this package is checked
 * here, by `checkCalls` around its methods.
 */
import { FilewrightError, makeError, type Signalled } from "../engine/errors.ts";
import type { PageRequest } from "../engine/read.ts";
import {
  type CheckedCall,
  checkMethods,
  anyText,
  callback,
  choice,
  flag,
  integer,
  nullable,
  type Option,
  optionChecker,
  type Options,
  options,
  required,
  type Rows,
  signalOption,
  text,
} from "../schema/option.ts";
import type {
  ByteRange,
  CopyTreeOptions,
  DeleteOptions,
  Durability,
  GlobRoot,
  ListOptions,
  LockOptions,
  MkdirOptions,
  MoveOptions,
  ReadOptions,
  TextOptions,
  WriteOptions,
} from "./backend.ts";

/** The options of the removal of a tree. */
export interface RemoveTreeOptions extends Signalled, Pick<DeleteOptions, "aside" | "durability"> {}

/** The request of a page of a file, and its signal. */
interface PageCallOptions extends PageRequest {
  /** The signal that cancels the read of a page. The call then fails with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
}

/** The options of one page of a directory. */
export interface ListPageOptions {
  /** Where the page begins: the `next` of the page before. Default: the beginning. */
  readonly cursor?: string | undefined;
  /** The maximum number of entries. */
  readonly limit: number;
}

/** How one entry is moved or copied, and how far it is flushed. */
export interface FlushedMoveOptions extends MoveOptions {
  /** The signal that cancels a move or copy. The call then fails with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
  /** The durability of the new file; `durable` flushes it to the disk. Default: the durability of the backend. */
  readonly durability?: Durability | undefined;
}

const durability = choice("none", "atomic", "durable");
const BYTE_RANGE: Options<ByteRange> = options(
  "ByteRange",
  { start: required(integer(0)), end: required(integer(0)) },
  { test: ({ start, end }) => (start <= end ? undefined : "must be 0 <= start <= end") },
);

/** The rows of the options of a write. */
export const WRITE_ROWS: Rows<WriteOptions> = {
  ifVersion: anyText(),
  ifAbsent: flag(),
  createDirs: flag(),
  mode: integer(0, 0o7777),
  durability,
  signal: signalOption,
  hash: text(),
  aside: text(),
};
const ENCODING = { encoding: text() };
/** The rows of the options of a move or copy. */
export const MOVE_ROWS: Rows<FlushedMoveOptions> = {
  overwrite: flag(),
  ifVersion: anyText(),
  ifTargetVersion: anyText(),
  aside: text(),
  durability,
  signal: signalOption,
};

/** The options of `writeBytes`. @printed */
export const WRITE_OPTIONS: Options<WriteOptions> = options("WriteOptions", WRITE_ROWS);
/** The options of `delete`. @printed */
export const DELETE_OPTIONS: Options<DeleteOptions> = options("DeleteOptions", {
  ifVersion: anyText(),
  aside: text(),
  durability,
});
/** The options of `rename` and `copyFile`. @printed */
export const MOVE_OPTIONS: Options<FlushedMoveOptions> = options("FlushedMoveOptions", MOVE_ROWS);
/** The options of `copyTree`. @printed */
export const COPY_TREE_OPTIONS: Options<CopyTreeOptions> = options("CopyTreeOptions", {
  overwrite: flag(),
  signal: signalOption,
  onMade: callback(),
});
/** The options of `read`. @printed */
export const READ_OPTIONS: Options<ReadOptions> = options("ReadOptions", {
  range: BYTE_RANGE,
  ifNoneMatch: anyText(),
  maxBytes: integer(0),
  signal: signalOption,
});
/** The options of `readLines`. @printed */
export const PAGE_OPTIONS: Options<PageCallOptions> = options("PageCallOptions", {
  startLine: integer(Number.MIN_SAFE_INTEGER),
  maxLines: nullable(integer(0)),
  maxLineChars: integer(0),
  contentBytes: integer(0),
  textBytes: integer(0),
  lineNumbers: choice("cat", "arrow", "plain", "none"),
  encoding: anyText(),
  forceText: flag(),
  startByte: integer(0),
  anchors: flag(),
  wholeFileBytes: integer(0),
  signal: signalOption,
});
/** The options of `mkdir`. @printed */
export const MKDIR_OPTIONS: Options<MkdirOptions> = options("MkdirOptions", {
  parents: flag(),
  existOk: flag(),
  durability,
});
/** The options of `listDir`. @printed */
export const LIST_OPTIONS: Options<ListOptions> = options("ListOptions", {
  facts: flag(),
  signal: signalOption,
});
/** The options of `listPage`. @printed */
export const LIST_PAGE_OPTIONS: Options<ListPageOptions> = options("ListPageOptions", {
  cursor: anyText(),
  limit: required(integer(1)),
});
/** The options of `lock`. @printed */
export const LOCK_CALL_OPTIONS: Options<LockOptions> = options("LockOptions", {
  timeoutMs: required(integer(0)),
  signal: signalOption,
  resolved: flag(),
  optimistic: flag(),
});

/** Returns the check of the options of one call, whose first argument is its path. */
function callCheck<T extends object>(entry: string, table: Option<T>): CheckedCall["check"] {
  const check = optionChecker(entry, table);
  return (given, [path]) => {
    try {
      return check(given as T);
    } catch (error) {
      if (!(error instanceof FilewrightError)) throw error;
      const { code, message, hint, details, cause } = error;
      throw makeError(code, message, { path: String(path), hint, details, cause, complete: true });
    }
  };
}

/** The checks of the calls of a class of backends. */
export type CallChecks = Readonly<Record<string, CheckedCall>>;

/**
 * Returns the checks of the calls of a class of backends. `write` and `move` are the options of its writes, and of its
 * moves and copies.
 */
export function callChecks<W extends WriteOptions, M extends FlushedMoveOptions>(
  name: string,
  write: Options<W>,
  move: Options<M>,
): CallChecks {
  const properties = { ...COPY_TREE_OPTIONS.schema.properties, ...move.schema.properties };
  const tree = { schema: { ...COPY_TREE_OPTIONS.schema, properties } } as Options<CopyTreeOptions & M>;
  const encoded = { ...write.schema.properties, encoding: ENCODING.encoding.schema };
  const texts = { schema: { ...write.schema, properties: encoded } } as Options<W & TextOptions>;
  const calls: Record<string, CheckedCall> = {};
  const add = <T extends object>(method: string, at: 1 | 2, table: Option<T>, isRequired = false): void => {
    const check = callCheck(`${name}.${method}`, table);
    calls[method] = { at, isRequired, check };
  };
  add("writeText", 2, texts);
  add("writeBytes", 2, write);
  add("readText", 1, options<TextOptions>("TextOptions", ENCODING));
  add("read", 1, READ_OPTIONS);
  add("readLines", 1, PAGE_OPTIONS);
  add("hash", 1, options<Signalled>("Signalled", { signal: signalOption }));
  add("delete", 1, DELETE_OPTIONS);
  add("mkdir", 1, MKDIR_OPTIONS);
  add("listDir", 1, LIST_OPTIONS);
  add("listPage", 1, LIST_PAGE_OPTIONS, true);
  add("rename", 2, move);
  add("copyFile", 2, move);
  add("copyTree", 2, tree);
  add("removeTree", 1, REMOVE_TREE_OPTIONS);
  add("lock", 1, LOCK_CALL_OPTIONS, true);
  // Its first argument is a pattern.
  const glob = callCheck(`${name}.glob`, options<GlobRoot>("GlobRoot", { root: text() }));
  calls["glob"] = { at: 1, isRequired: false, check: (given) => glob(given, ["/"]) };
  return Object.freeze(calls);
}

const REMOVE_TREE_OPTIONS = options<RemoveTreeOptions>("RemoveTreeOptions", {
  signal: signalOption,
  aside: text(),
  durability,
});

/** Returns the checks of a backend that has no options of its own. */
export function standardChecks(name: string): CallChecks {
  return callChecks(name, WRITE_OPTIONS, MOVE_OPTIONS);
}

/**
 * Replaces the methods of a backend that take options, own methods of the object, by ones that check the options
 * first. For a class it is given the prototype. Returns the object.
 */
export function checkCalls<T extends object>(target: T, checks: CallChecks): T {
  checkMethods(target, checks);
  return target;
}
