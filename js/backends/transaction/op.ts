/** A change of one path as data, and the one way to make a list of them on a backend. */
import type { Files } from "../files.ts";
import type { WriteOptions } from "../backend.ts";
import { backendError, checkSignal } from "../failure.ts";
import { missingParents } from "../fallback/fallback.ts";
import { moveEntry } from "../fallback/fallback-tree.ts";
import { isBelowAny } from "../paths.ts";
import { FilewrightError } from "../../engine/errors.ts";

/**
 * One change of a commit. Missing parent directories are made. No operation follows a link.
 *
 * - `put` creates or replaces a file; it also replaces a link. A directory is IS_DIRECTORY. `hash` saves the
 *   engine the computation; a wrong one is INVALID_ARGUMENT. Without `mode` a replaced file keeps its own.
 * - `link` does the same with content that the storage has already. Unknown content is NOT_FOUND.
 * - `mkdir` accepts a directory that exists. Anything else there is ALREADY_EXISTS.
 * - `symlink` replaces nothing: ALREADY_EXISTS.
 * - `chmod` of a link is INVALID_ARGUMENT.
 * - `remove` of a directory that is not empty is NOT_EMPTY without `tree`.
 * - `move` moves a file, a link or a tree and replaces nothing: ALREADY_EXISTS.
 */
export type Op =
  | {
      readonly op: "put";
      readonly path: string;
      readonly body: Uint8Array;
      readonly hash?: string | undefined;
      readonly mode?: number | undefined;
    }
  | {
      readonly op: "link";
      readonly path: string;
      readonly hash: string;
      readonly size: number;
      readonly mode?: number | undefined;
    }
  | { readonly op: "mkdir"; readonly path: string; readonly mode?: number | undefined }
  | { readonly op: "symlink"; readonly path: string; readonly target: string }
  | { readonly op: "chmod"; readonly path: string; readonly mode: number }
  | { readonly op: "remove"; readonly path: string; readonly tree?: boolean | undefined }
  | { readonly op: "move"; readonly from: string; readonly to: string };

/** An operation that writes a file. */
type FileOp = Extract<Op, { readonly op: "put" | "link" }>;

/** The entry at a path for which a list of changes was planned. */
export interface Expected {
  readonly type: string;
  /** The version of a file, which it must still have. Empty where the change does not depend on it. */
  readonly version: string;
  readonly mode?: number | undefined;
}

/** How a list of changes is made. */
export interface Making extends Pick<WriteOptions, "durability" | "signal"> {
  /** The files. The caller rolls them back when a change fails. */
  readonly fs: Files;
  /** Returns the entry that was planned for; null for none. */
  there(path: string): Expected | null;
  /** Returns the content that a `link` names; undefined where the file has it already. */
  linked(path: string, hash: string): Promise<Uint8Array | undefined>;
}

/** The bits without which an owner can change nothing in a directory. */
const OWNER_WRITES = 0o300;

/**
 * Makes changes in their order, except that a directory which gets bits that allow no more changes in it gets them last.
 * @throws FilewrightError CONFLICT when a path is not as it was planned for
 */
export async function makeOps(ops: readonly Op[], making: Making): Promise<void> {
  const { fs, signal } = making;
  const removed = new Set<string>();
  const closed: (readonly [path: string, mode: number])[] = [];
  for (const op of ops) {
    const path = pathOfOp(op);
    checkSignal(signal, path);
    const isRemoved = removed.has(path) || isBelowAny(path, removed);
    const there = isRemoved ? null : making.there(path);
    const content = await contentOf(op, making);
    await asPlanned(path, async () => {
      if (op.op === "put" || op.op === "link") await writeFile(op, content, there, making);
      else await makeEntry(op, there, making);
    });
    if (op.op === "remove") removed.add(path);
    if ((op.op !== "mkdir" && op.op !== "chmod") || op.mode === undefined || !fs.abilities.modes) continue;
    const { mode } = op;
    if ((mode & OWNER_WRITES) === OWNER_WRITES) await asPlanned(path, () => fs.chmod(path, mode));
    else closed.push([path, mode]);
  }
  for (const [path, mode] of closed.reverse()) await asPlanned(path, () => fs.chmod(path, mode));
}

/** Returns the path that a change is about: of a move the one that it makes. */
export function pathOfOp(op: Op): string {
  return op.op === "move" ? op.to : op.path;
}

/** Returns the content to write; undefined where there is none, or the file has it. */
async function contentOf(op: Op, { linked }: Making): Promise<Uint8Array | undefined> {
  if (op.op === "put") return op.body;
  return op.op === "link" ? linked(op.path, op.hash) : undefined;
}

async function writeFile(
  op: FileOp,
  content: Uint8Array | undefined,
  there: Expected | null,
  { fs, durability, signal }: Making,
): Promise<void> {
  const mode = fs.abilities.modes ? op.mode : undefined;
  if (content !== undefined) {
    const condition =
      there?.type === "file" ? { ifVersion: there.version } : { ifAbsent: true, createDirs: true };
    await fs.writeBytes(op.path, content, { durability, signal, mode, ...condition });
  }
  const isOther = there?.type === "file" && there.mode !== undefined && there.mode !== mode;
  if (isOther && mode !== undefined) await fs.chmod(op.path, mode);
}

async function makeEntry(op: Exclude<Op, FileOp>, there: Expected | null, making: Making): Promise<void> {
  const { fs, signal } = making;
  switch (op.op) {
    case "remove":
      if (op.tree === true) await fs.removeTree(op.path, { signal });
      else await fs.delete(op.path, { ifVersion: (there?.type === "file" && there.version) || undefined });
      return;
    case "mkdir":
      return fs.mkdir(op.path, { parents: true, existOk: true });
    case "symlink": {
      const [parent] = await missingParents(fs, op.path);
      if (parent !== undefined) await fs.mkdir(parent, { parents: true, existOk: true });
      return fs.symlink(op.target, op.path);
    }
    case "move":
      await moveEntry(fs, op.from, op.to);
  }
}

/** @throws CONFLICT where a path is not as it was planned for */
async function asPlanned(path: string, change: () => Promise<void>): Promise<void> {
  try {
    await change();
  } catch (error) {
    const isOther = error instanceof FilewrightError && OTHER_ENTRY.has(error.code);
    throw isOther ? backendError("CONFLICT", path, "changed since it was read", { cause: error }) : error;
  }
}

const OTHER_ENTRY: ReadonlySet<string> = new Set(["ALREADY_EXISTS", "NOT_FOUND", "NOT_EMPTY"]);
