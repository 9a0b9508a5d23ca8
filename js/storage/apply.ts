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

/** Applies a change. @throws NOT_FOUND, ALREADY_EXISTS, IS_DIRECTORY, NOT_DIRECTORY, NOT_EMPTY, INVALID_ARGUMENT */
export async function applyOp<File extends FileOp>(op: OpOf<File>, tree: ChangingTree<File>): Promise<void> {
  const there = await tree.look(op.op === "move" ? op.from : op.path);
  if (op.op === "put" || op.op === "link") await writeFile(op, there, tree);
  else if (op.op === "mkdir" || op.op === "symlink") await makeEntry(op, there, tree);
  else if (op.op === "chmod" || op.op === "remove" || op.op === "move") await changeEntry(op, there, tree);
}

/** The entry at a path; null for none. */
type Present = Awaited<ReturnType<ChangingTree<FileOp>["look"]>>;

async function writeFile<File extends FileOp>(
  op: File,
  there: Present,
  tree: ChangingTree<File>,
): Promise<void> {
  if (there?.type === "dir") throw backendError("IS_DIRECTORY", op.path);
  await makeParents(op.path, tree);
  const kept = there?.type === "file" ? there.mode : undefined;
  tree.setFile(op, (op.mode ?? kept ?? DEFAULT_FILE_MODE) & PERMISSION_BITS);
}

async function makeEntry<File extends FileOp>(
  op: Extract<Op, { readonly op: "mkdir" | "symlink" }>,
  there: Present,
  tree: ChangingTree<File>,
): Promise<void> {
  if (op.op === "mkdir" && there?.type === "dir") {
    await tree.keep(op.path);
    return;
  }
  if (there !== null) throw backendError("ALREADY_EXISTS", op.path);
  await makeParents(op.path, tree);
  if (op.op === "symlink") tree.setLink(op.path, op.target);
  else tree.setDirectory(op.path, (op.mode ?? DEFAULT_DIR_MODE) & PERMISSION_BITS);
}

async function changeEntry<File extends FileOp>(
  op: Extract<Op, { readonly op: "chmod" | "remove" | "move" }>,
  there: Present,
  tree: ChangingTree<File>,
): Promise<void> {
  const path = op.op === "move" ? op.from : op.path;
  if (there === null) throw backendError("NOT_FOUND", path);
  if (op.op === "chmod") {
    if (there.type === "symlink") throw backendError("INVALID_ARGUMENT", path, "a link has no mode");
    await tree.setMode(path, op.mode & PERMISSION_BITS);
    return;
  }
  if (op.op === "move") {
    if ((await tree.look(op.to)) !== null) throw backendError("ALREADY_EXISTS", op.to);
  } else if (op.tree !== true && there.type === "dir" && !(await tree.isEmpty(path)))
    throw backendError("NOT_EMPTY", path);
  const put = await tree.take(path);
  if (op.op !== "move") return;
  await makeParents(op.to, tree);
  put(op.to);
}

/** Makes the missing directories above a path, outermost first. @throws NOT_DIRECTORY */
async function makeParents<File extends FileOp>(path: string, tree: ChangingTree<File>): Promise<void> {
  const missing: string[] = [];
  for (let at = parentOf(path); at !== "/"; at = parentOf(at)) {
    const there = await tree.look(at);
    if (there?.type === "dir") break;
    if (there !== null) throw backendError("NOT_DIRECTORY", at);
    missing.push(at);
  }
  for (const at of missing.reverse()) tree.setDirectory(at, DEFAULT_DIR_MODE);
}
