/** The checks of paths, changes and conditions that every storage makes before it does anything. */
import { type Code, FilewrightError } from "../engine/errors.ts";
import { checkMode } from "../backends/failure.ts";
import { byteLength, checkPath, checkTarget, isLongName, normalise } from "../backends/paths.ts";
import { checkRecordName, jsonOfRecord } from "../records/check.ts";
import type { CommitOptions, Expect, Op, UnmetExpect } from "./commit.ts";
import type { Entry, Version } from "./entry.ts";
import type { StorageFacts } from "./storage.ts";

/** The maximum length of a path in a storage, in UTF-8 bytes. */
const MAX_STORED_PATH_BYTES = 4096;

/** The maximum length of an idempotency key, in UTF-8 bytes. */
const MAX_KEY_BYTES = 200;

const HASH_FORM = /^sha256:[0-9a-f]{64}$/u;
const TYPES: ReadonlySet<unknown> = new Set(["file", "dir", "symlink", "gone"]);

const refuse = (message: string, path?: string, code: Code = "INVALID_ARGUMENT"): FilewrightError =>
  new FilewrightError(code, message, { path });

/**
 * Checks a path of a storage.
 * @throws INVALID_ARGUMENT unless it is absolute and normalised; NAME_TOO_LONG
 */
export function checkStoredPath(path: string): void {
  checkPath(path);
  if (!path.startsWith("/") || normalise(path).path !== path)
    throw refuse("path must be absolute and without '.', '..' and doubled or last slashes", path);
  if (path.length * 3 > MAX_STORED_PATH_BYTES && byteLength(path) > MAX_STORED_PATH_BYTES)
    throw refuse(`path is longer than ${MAX_STORED_PATH_BYTES} bytes`, path, "NAME_TOO_LONG");
  if (path.split("/").some(isLongName)) throw refuse("file name is too long", path, "NAME_TOO_LONG");
}

/**
 * Checks the changes of a commit by themselves, before anything is read.
 * @throws INVALID_ARGUMENT, NAME_TOO_LONG, TOO_LARGE, LIMIT_EXCEEDED, PROTECTED_PATH for `/`
 */
export function checkOps(ops: readonly Op[], limits: StorageFacts["limits"]): void {
  if (!Array.isArray(ops)) throw refuse("ops must be a list");
  if (ops.length > limits.commitOps)
    throw refuse(
      `${ops.length} changes are more than the limit of ${limits.commitOps}`,
      undefined,
      "LIMIT_EXCEEDED",
    );
  let bytes = 0;
  for (const op of ops) bytes += checkOp(op, limits);
  if (bytes > limits.commitBytes)
    throw refuse(
      `${bytes} bytes are more than the limit of ${limits.commitBytes}`,
      undefined,
      "LIMIT_EXCEEDED",
    );
}

/** A change that names one path. */
interface OpOnOnePath {
  readonly op: Exclude<Op["op"], "move">;
  readonly path: string;
}

/** Returns the paths that a change names. */
export function pathsOfOp(
  op: { readonly op: "move"; readonly from: string; readonly to: string } | OpOnOnePath,
): readonly string[] {
  return op.op === "move" ? [op.from, op.to] : [op.path];
}

/** Checks one change and returns its bytes. */
function checkOp(op: Op, limits: StorageFacts["limits"]): number {
  const { op: name } = Object(op) as { readonly op?: unknown };
  for (const path of pathsOfOp(op)) {
    checkStoredPath(path);
    if (path === "/" && op.op !== "chmod" && op.op !== "mkdir")
      throw refuse("the root cannot be replaced, moved or removed", path, "PROTECTED_PATH");
  }
  if ("mode" in op && op.mode !== undefined) checkMode(op.path, op.mode);
  switch (op.op) {
    case "put": {
      const { path, body, hash } = op;
      if (!(body instanceof Uint8Array)) throw refuse("body must be bytes", path);
      if (hash !== undefined && !HASH_FORM.test(hash)) throw refuse("hash must be sha256:…", path);
      if (body.length > limits.bodyBytes)
        throw new FilewrightError("TOO_LARGE", `the limit is ${limits.bodyBytes} bytes`, {
          path,
          details: { size: body.length, limit: limits.bodyBytes },
        });
      return body.length;
    }
    case "link":
      if (!HASH_FORM.test(op.hash)) throw refuse("hash must be sha256:…", op.path);
      return 0;
    case "symlink":
      checkTarget(op.target, op.path);
      return 0;
    case "move":
      if (op.to === op.from) throw refuse("source and destination are the same", op.from, "SAME_FILE");
      if (op.to.startsWith(`${op.from}/`)) throw refuse("a tree cannot be moved into itself", op.from);
      return 0;
    case "mkdir":
    case "chmod":
    case "remove":
      return 0;
    default:
      throw refuse(`unknown change '${String(name)}'`);
  }
}

/** Checks the conditions and the key of a commit by themselves. @throws INVALID_ARGUMENT, TOO_LARGE */
export function checkCommitOptions({ expect = [], key, records = [], token, release }: CommitOptions): void {
  if (release === true && token === undefined) throw refuse("release needs the token of the locks");
  for (const one of expect) checkExpect(one);
  if (key !== undefined && (typeof key !== "string" || key === "" || byteLength(key) > MAX_KEY_BYTES))
    throw refuse(`key must be a text of 1 to ${MAX_KEY_BYTES} bytes`);
  for (const record of records) {
    checkRecordName(record.kind, record.id);
    if ("put" in record) jsonOfRecord(record.put);
    else if ("add" in record) {
      if (!Number.isSafeInteger(record.add)) throw refuse("add must be a whole number");
    } else if (record.remove !== true) throw refuse("a change of a record needs put, add or remove");
  }
}

/**
 * Returns a condition with what was found instead; undefined for one that holds. `lastChange` is the last change at or
 * below the path since the version of a condition about a tree.
 */
export function unmetBy(
  expect: Expect,
  entry: Pick<Entry, "type" | "version"> | null | undefined,
  lastChange: Version | undefined,
): UnmetExpect | undefined {
  const { path } = expect;
  if ("tree" in expect)
    return lastChange === undefined ? undefined : { path, expected: expect.tree, found: lastChange };
  const [expected, found] =
    "version" in expect ? [expect.version, entry?.version ?? null] : [expect.type, entry?.type ?? "gone"];
  return expected === found ? undefined : { path, expected, found };
}

function checkExpect(expect: Expect): void {
  checkStoredPath(expect.path);
  const kinds = ["version", "tree", "type"].filter((name) => name in expect);
  if (kinds.length !== 1) throw refuse("a condition needs one of version, tree and type", expect.path);
  const valid =
    "version" in expect
      ? expect.version === null || typeof expect.version === "string"
      : "tree" in expect
        ? typeof expect.tree === "string"
        : TYPES.has(expect.type);
  if (!valid) throw refuse(`the condition's ${kinds[0]} has no valid value`, expect.path);
}
