/** A commit as the arguments of the function `commit`, and its answer as a result or an error. */
import {
  type CommitOptions,
  type Committed,
  conflictError,
  counterError,
  type Entry,
  type Expect,
  fencedError,
  type FilewrightError,
  type Op,
  parentOf,
  pathsOfOp,
  PERMISSION_BITS,
  type RecordOp,
  type UnmetExpect,
  type UnmetRecord,
} from "filewright/files";
import { concatBytes } from "../values.ts";
import { codeOf } from "./errors.ts";
import type { Row } from "./client.ts";
import { kindOf, numberOf, toEntry, typeOf } from "./rows.ts";

/** The content of a put: where it goes, and its hash in hexadecimal digits. */
export interface ReadyBody {
  readonly hash: string;
  /** True when it is in the object store already. */
  readonly out: boolean;
}

/** The arguments of a commit, and the bytes that go with it. */
export interface EncodedCommit {
  readonly expects: string;
  readonly groups: string;
  readonly named: readonly string[];
  readonly bodies: Uint8Array | null;
  readonly records: string | null;
}

/** Encodes a commit. `bodies` has the content of each put, by its position. */
export function encodeCommit(
  ops: readonly Op[],
  bodies: ReadonlyMap<number, ReadyBody>,
  options: CommitOptions,
): EncodedCommit {
  const groups: unknown[] = [];
  const inline: Uint8Array[] = [];
  const named = new Set<string>();
  let bytes = 0;
  let run: { readonly paths: Set<string>; readonly ups: Set<string>; readonly ops: unknown[] } | undefined;
  const flush = (): void => {
    if (run !== undefined) groups.push({ o: "put", ops: run.ops, u: [...run.ups] });
    run = undefined;
  };
  for (const [index, op] of ops.entries()) {
    for (const path of pathsOfOp(op)) named.add(path);
    if (op.op !== "put" && op.op !== "link") {
      flush();
      groups.push(encodeOp(op));
      continue;
    }
    // The files of a run have different paths, so that one statement can write them all.
    if (run?.paths.has(op.path)) flush();
    run ??= { paths: new Set(), ups: new Set(), ops: [] };
    run.paths.add(op.path);
    for (const up of above(op.path)) run.ups.add(up);
    const body = bodies.get(index);
    const mode = op.mode === undefined ? {} : { m: op.mode & PERMISSION_BITS };
    if (op.op === "link")
      run.ops.push({ p: op.path, h: op.hash.slice("sha256:".length), z: op.size, ...mode });
    else if (body?.out === true)
      run.ops.push({ p: op.path, h: body.hash, z: op.body.length, out: true, ...mode });
    else {
      run.ops.push({ p: op.path, h: body?.hash, z: op.body.length, at: bytes, ...mode });
      inline.push(op.body);
      bytes += op.body.length;
    }
  }
  flush();
  const records = options.records ?? [];
  return {
    expects: JSON.stringify((options.expect ?? []).map(encodeExpect)),
    groups: JSON.stringify(groups),
    named: [...named],
    bodies: inline.length === 0 ? null : concatBytes(inline),
    records: records.length === 0 ? null : JSON.stringify(records.map(encodeRecord)),
  };
}

/** Returns the directories above a path, without `/`, which always exists. */
export function above(path: string): readonly string[] {
  const found: string[] = [];
  for (let at = parentOf(path); at !== "/"; at = parentOf(at)) found.push(at);
  return found;
}

function encodeOp(op: Exclude<Op, { op: "put" | "link" }>): unknown {
  switch (op.op) {
    case "mkdir":
      return {
        o: op.op,
        p: op.path,
        u: above(op.path),
        m: op.mode === undefined ? null : op.mode & PERMISSION_BITS,
      };
    case "symlink":
      return { o: op.op, p: op.path, u: above(op.path), t: op.target };
    case "chmod":
      return { o: op.op, p: op.path, u: [], m: op.mode & PERMISSION_BITS };
    case "remove":
      return { o: op.op, p: op.path, u: [], whole: op.tree === true };
    case "move":
      return { o: op.op, p: op.from, u: above(op.to), t: op.to };
  }
}

function encodeExpect(expect: Expect, i: number): unknown {
  const p = expect.path;
  if ("type" in expect) return { i, k: "k", p, v: kindOf(expect.type) };
  if ("tree" in expect) return { i, k: "t", p, v: numberOf(expect.tree) };
  return { i, k: "v", p, v: expect.version };
}

function encodeRecord(op: RecordOp, i: number): unknown {
  const { kind, id } = op;
  if ("put" in op) {
    const { put: value, expect, forMs } = op;
    const guard = { guarded: expect !== undefined, expect: expect ?? null, for_ms: forMs ?? null };
    return { i, kind, id, op: "put", value: JSON.stringify(value), ...guard };
  }
  if ("add" in op)
    return { i, kind, id, op: "add", value: String(op.add), guarded: false, most: op.most ?? null };
  return { i, kind, id, op: "remove", guarded: op.expect !== undefined, expect: op.expect ?? null };
}

/** Returns the result of a commit. @throws CONFLICT when its conditions did not hold */
export function decodeCommit(rows: readonly Row[], options: CommitOptions): Committed {
  const unmet: (UnmetExpect | UnmetRecord)[] = [];
  const entries: Entry[] = [];
  let head: Row | undefined;
  for (const row of rows) {
    const index = Number(row["i"]);
    const got = row["got"] === null ? null : String(row["got"]);
    if (row["what"] === "fenced") throw fencedError();
    if (row["what"] === "unmet") unmet.push(toUnmet(options.expect?.[index], got));
    else if (row["what"] === "record") unmet.push(unmetRecord(options.records?.[index], got));
    else if (row["what"] === "head") head = row;
    else entries.push(toEntry(row));
  }
  if (unmet.length > 0) throw conflictError(unmet);
  const repeated = Number(head?.["i"]) === 1 ? { repeated: true as const } : {};
  return Object.freeze({ version: String(head?.["version"]), entries: Object.freeze(entries), ...repeated });
}

function toUnmet(expect: Expect | undefined, got: string | null): UnmetExpect {
  const path = expect?.path ?? "/";
  if (expect === undefined || "version" in expect)
    return { path, expected: expect?.version ?? null, found: got };
  if ("tree" in expect) return { path, expected: expect.tree, found: got };
  return { path, expected: expect.type, found: typeOf(got ?? "x") };
}

function unmetRecord(op: RecordOp | undefined, found: string | null): UnmetRecord {
  const expected = op !== undefined && "expect" in op ? (op.expect ?? null) : null;
  return { record: { kind: op?.kind ?? "", id: op?.id ?? "" }, expected, found };
}

/** Returns the error of a record that another writer changed while the commit ran, or of a full counter. */
export function recordError(thrown: unknown, options: CommitOptions): FilewrightError | undefined {
  if (codeOf(thrown) !== "FW005") return undefined;
  const detail = JSON.parse(String((thrown as { readonly detail?: unknown }).detail)) as Record<
    string,
    unknown
  >;
  const op = options.records?.[Number(detail["i"])];
  if (op !== undefined && "add" in op)
    return counterError({ kind: op.kind, id: op.id }, Number(detail["now"]), op.most ?? 0);
  return conflictError([unmetRecord(op, detail["found"] === null ? null : String(detail["found"]))]);
}
