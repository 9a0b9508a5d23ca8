/** The effect of one change on a tree: which entries it needs, makes, keeps and removes, whatever the tree is made of. */
import { DEFAULT_DIR_MODE, DEFAULT_FILE_MODE, PERMISSION_BITS } from "../backends/entry.ts";
import type { MaybePromise } from "../backends/backend.ts";
import { backendError } from "../backends/failure.ts";
import { parentOf } from "../backends/paths.ts";
import type { Op } from "./commit.ts";
import type { Entry } from "./entry.ts";

/** A change that writes a file, with the content as a tree has it. */
interface FileOp {
  readonly op: "put" | "link";
  readonly path: string;
  readonly mode?: number | undefined;
}

/** A change whose content is ready for a tree. */
export type OpOf<File extends FileOp> = Exclude<Op, FileOp> | File;

/** A tree while changes are applied to it. `File` are the changes that write a file. */
export interface ChangingTree<File extends FileOp> {
  /** Returns the entry at a path; null for none. */
  look(path: string): MaybePromise<Pick<Entry, "type" | "mode"> | null>;
  /** Returns true when nothing is in a directory. */
  isEmpty(path: string): MaybePromise<boolean>;
  /** Notes a directory that is to be made and is there. */
  keep(path: string): MaybePromise<void>;
  /** Sets a file, a directory or a link where no directory is and the parent is one. */
  setFile(op: File, mode: number): void;
  setDirectory(path: string, mode: number): void;
  setLink(path: string, target: string): void;
  setMode(path: string, mode: number): MaybePromise<void>;
  /** Removes an entry with everything below it, and returns the function that puts it at another path. */
  take(path: string): MaybePromise<(to: string) => void>;
}

/** Applies a change to a tree whose answers are no promises. @throws as {@link applyLater} */
export function applyNow<File extends FileOp>(op: OpOf<File>, tree: ChangingTree<File>): void {
  const steps = applying(op, tree);
  for (let step = steps.next(); step.done !== true; ) step = steps.next(step.value);
}

/** Applies a change. @throws NOT_FOUND, ALREADY_EXISTS, IS_DIRECTORY, NOT_DIRECTORY, NOT_EMPTY, INVALID_ARGUMENT */
export async function applyLater<File extends FileOp>(
  op: OpOf<File>,
  tree: ChangingTree<File>,
): Promise<void> {
  const steps = applying(op, tree);
  for (let step = steps.next(); step.done !== true; ) step = steps.next(await step.value);
}

/** The steps of a change. Each yields an answer of the tree, and is resumed with its value. */
type Steps<T> = Generator<unknown, T, unknown>;
type Present = Awaited<ReturnType<ChangingTree<FileOp>["look"]>>;

function* applying<File extends FileOp>(op: OpOf<File>, tree: ChangingTree<File>): Steps<void> {
  const there = (yield tree.look(op.op === "move" ? op.from : op.path)) as Present;
  if (op.op === "put" || op.op === "link") yield* writing(op, there, tree);
  else if (op.op === "mkdir" || op.op === "symlink") yield* making(op, there, tree);
  else if (op.op === "chmod" || op.op === "remove" || op.op === "move") yield* changing(op, there, tree);
}

function* writing<File extends FileOp>(op: File, there: Present, tree: ChangingTree<File>): Steps<void> {
  if (there?.type === "dir") throw backendError("IS_DIRECTORY", op.path);
  yield* makeParents(op.path, tree);
  const kept = there?.type === "file" ? there.mode : undefined;
  tree.setFile(op, (op.mode ?? kept ?? DEFAULT_FILE_MODE) & PERMISSION_BITS);
}

function* making<File extends FileOp>(
  op: Extract<Op, { readonly op: "mkdir" | "symlink" }>,
  there: Present,
  tree: ChangingTree<File>,
): Steps<void> {
  if (op.op === "mkdir" && there?.type === "dir") {
    yield tree.keep(op.path);
    return;
  }
  if (there !== null) throw backendError("ALREADY_EXISTS", op.path);
  yield* makeParents(op.path, tree);
  if (op.op === "symlink") tree.setLink(op.path, op.target);
  else tree.setDirectory(op.path, (op.mode ?? DEFAULT_DIR_MODE) & PERMISSION_BITS);
}

function* changing<File extends FileOp>(
  op: Extract<Op, { readonly op: "chmod" | "remove" | "move" }>,
  there: Present,
  tree: ChangingTree<File>,
): Steps<void> {
  const path = op.op === "move" ? op.from : op.path;
  if (there === null) throw backendError("NOT_FOUND", path);
  if (op.op === "chmod") {
    if (there.type === "symlink") throw backendError("INVALID_ARGUMENT", path, "a link has no mode");
    yield tree.setMode(path, op.mode & PERMISSION_BITS);
    return;
  }
  if (op.op === "move") {
    if (((yield tree.look(op.to)) as Present) !== null) throw backendError("ALREADY_EXISTS", op.to);
  } else if (op.tree !== true && there.type === "dir" && (yield tree.isEmpty(path)) !== true)
    throw backendError("NOT_EMPTY", path);
  const put = (yield tree.take(path)) as (to: string) => void;
  if (op.op !== "move") return;
  yield* makeParents(op.to, tree);
  put(op.to);
}

/** Makes the missing directories above a path, outermost first. @throws NOT_DIRECTORY */
function* makeParents<File extends FileOp>(path: string, tree: ChangingTree<File>): Steps<void> {
  const missing: string[] = [];
  for (let at = parentOf(path); at !== "/"; at = parentOf(at)) {
    const there = (yield tree.look(at)) as Present;
    if (there?.type === "dir") break;
    if (there !== null) throw backendError("NOT_DIRECTORY", at);
    missing.push(at);
  }
  for (const at of missing.reverse()) tree.setDirectory(at, DEFAULT_DIR_MODE);
}
