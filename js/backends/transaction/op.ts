/** A change of one path as data, and the one way to make a list of them on a backend. */
import type { Files } from "../files.ts";
import type { WriteOptions, WriteResult } from "../backend.ts";
import { backendError, checkSignal } from "../failure.ts";
import { missingParents } from "../fallback/fallback.ts";
import { hasOtherMode, moveEntry } from "../fallback/fallback-tree.ts";
import { isBelowAny, isWithin, movedPath } from "../paths.ts";
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
 * Returns the results of writes and moves, by the paths that have them.
 * @throws FilewrightError CONFLICT when a path is not as it was planned for
 */
export async function makeOps(ops: readonly Op[], making: Making): Promise<ReadonlyMap<string, WriteResult>> {
  const maker = new OpMaker(making);
  for (const op of ops) await maker.make(op);
  return maker.finish();
}

/** Returns the path that a change is about: of a move the one that it makes. */
export function pathOfOp(op: Op): string {
  return op.op === "move" ? op.to : op.path;
}

class OpMaker {
  readonly #making: Making;
  /** The entries that the list itself has left. */
  readonly #left = new Map<string, Expected | null>();
  readonly #removed = new Set<string>();
  readonly #results = new Map<string, WriteResult>();
  /** The bits that directories get last. */
  #closed = new Map<string, number>();

  constructor(making: Making) {
    this.#making = making;
  }

  async make(op: Op): Promise<void> {
    const path = pathOfOp(op);
    checkSignal(this.#making.signal, path);
    const content = await this.#contentOf(op);
    await asPlanned(path, async () => {
      if (op.op === "put" || op.op === "link") await this.#write(op, content);
      else await this.#change(op);
    });
  }

  async finish(): Promise<ReadonlyMap<string, WriteResult>> {
    for (const [path, mode] of [...this.#closed].reverse()) await this.#chmod(path, mode);
    return this.#results;
  }

  /** Returns what is planned for, or left, at a path. */
  #there(path: string): Expected | null {
    const own = this.#left.get(path);
    if (own !== undefined) return own;
    return isBelowAny(path, this.#removed) ? null : this.#making.there(path);
  }

  /** Returns the content to write; undefined where there is none, or the file has it. */
  async #contentOf(op: Op): Promise<Uint8Array | undefined> {
    if (op.op === "put") return op.body;
    return op.op === "link" ? this.#making.linked(op.path, op.hash) : undefined;
  }

  async #write(op: FileOp, content: Uint8Array | undefined): Promise<void> {
    const { fs, durability, signal } = this.#making;
    const { path } = op;
    const there = this.#there(path);
    const isFile = there?.type === "file";
    const mode = fs.abilities.modes ? op.mode : undefined;
    if (content !== undefined) {
      const condition = isFile
        ? { ifVersion: there.version || undefined }
        : { ifAbsent: true, createDirs: true };
      const hash = op.op === "put" ? op.hash : undefined;
      const options = { durability, signal, mode, hash, ...condition };
      this.#note(path, "file", await fs.writeBytes(path, content, options));
    }
    if (mode === undefined || there?.mode === mode) return;
    // What another program has written since is not given other bits.
    const { version } = this.#results.get(path) ?? {};
    const now = version === undefined ? undefined : await fs.lstat(path);
    const isOther = now !== undefined && now.type !== "file";
    if (!isOther && (now?.version === undefined || now.version === version)) await this.#chmod(path, mode);
  }

  async #change(op: Exclude<Op, FileOp>): Promise<void> {
    const { fs, signal } = this.#making;
    switch (op.op) {
      case "remove":
        return this.#remove(op.path, op.tree === true);
      case "mkdir":
        await fs.mkdir(op.path, { parents: true, existOk: true });
        this.#note(op.path, "dir");
        return op.mode === undefined ? undefined : this.#chmodDirectory(op.path, op.mode);
      case "symlink":
        await this.#parentsOf(op.path);
        await fs.symlink(op.target, op.path);
        return this.#note(op.path, "symlink");
      case "chmod":
        if (!fs.abilities.modes) return;
        if (this.#there(op.path)?.type === "dir" && (await fs.lstat(op.path)).mode !== undefined)
          return this.#chmodDirectory(op.path, op.mode);
        await fs.chmod(op.path, op.mode);
        return this.#noteBits(op.path);
      case "move": {
        const there = this.#there(op.from);
        await this.#assertType(op.from, there);
        await this.#parentsOf(op.to);
        const ifVersion = (there?.type === "file" && there.version) || undefined;
        const made = await moveEntry(fs, op.from, op.to, { ifVersion, signal });
        this.#note(op.to, there?.type ?? "", made);
        this.#gone(op.from, op.to);
      }
    }
  }

  async #remove(path: string, tree: boolean): Promise<void> {
    const { fs, signal } = this.#making;
    const there = this.#there(path);
    const isFile = there?.type === "file";
    await this.#assertType(path, there);
    if (tree) await fs.removeTree(path, { signal });
    else await fs.delete(path, { ifVersion: (isFile && there.version) || undefined });
    this.#gone(path);
  }

  /** Compares the type of what is removed or moved. Only a file has a version that the files themselves compare. */
  async #assertType(path: string, there: Expected | null): Promise<void> {
    if (there === null || there.type === "file") return;
    if ((await this.#making.fs.lstat(path)).type !== there.type) throw backendError("CONFLICT", path);
  }

  async #chmodDirectory(path: string, mode: number): Promise<void> {
    if ((mode & OWNER_WRITES) === OWNER_WRITES) await this.#chmod(path, mode);
    else this.#closed.set(path, mode);
  }

  /** Sets permission bits where there are any, and others. */
  async #chmod(path: string, mode: number): Promise<void> {
    const { fs } = this.#making;
    if (!fs.abilities.modes || !(await hasOtherMode(fs, path, mode))) return;
    await asPlanned(path, () => fs.chmod(path, mode));
    await this.#noteBits(path);
  }

  /** Notes a file that got other bits, with which its version may have changed. */
  async #noteBits(path: string): Promise<void> {
    if (this.#there(path)?.type !== "file") return;
    const { version = "" } = await this.#making.fs.lstat(path);
    this.#left.set(path, { type: "file", version });
    this.#results.delete(path);
  }

  async #parentsOf(path: string): Promise<void> {
    const { fs } = this.#making;
    const [parent] = await missingParents(fs, path);
    if (parent !== undefined) await fs.mkdir(parent, { parents: true, existOk: true });
  }

  #note(path: string, type: string, made: WriteResult = {}): void {
    this.#left.set(path, { type, version: made.version ?? "" });
    this.#results.set(path, made);
  }

  /** Notes that a path is gone; a directory with bits that it gets last may be at another one. */
  #gone(path: string, to?: string): void {
    this.#left.set(path, null);
    this.#removed.add(path);
    this.#results.delete(path);
    const closed = [...this.#closed].map(([at, mode]): [string, number] | undefined => {
      if (!isWithin(at, path)) return [at, mode];
      return to === undefined ? undefined : [movedPath(at, path, to), mode];
    });
    this.#closed = new Map(closed.filter((one) => one !== undefined));
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
