// The changes whose system calls fail: fixed ones, and generated batches.
import { seededRandom } from "../../../scripts/lib/deep-kind.mjs";

const write = (path, content = "new\n", more = {}) => ({
  tool: "write_file",
  args: { path, content, ...more },
});
const remove = (path, recursive = false) => ({ tool: "delete", args: { path, recursive } });
const move = (source, destination, overwrite = false) => ({
  tool: "move",
  args: { source, destination, overwrite },
});
const copy = (source, destination, overwrite = false) => ({
  tool: "copy",
  args: { source, destination, overwrite },
});
const edit = (path, old_text, new_text) => ({ tool: "edit_file", args: { path, old_text, new_text } });
const mkdir = (path) => ({ tool: "mkdir", args: { path } });
const batch = (operations) => ({ tool: "batch", args: { operations } });

const update = (name, from, to) => `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-${from}\n+${to}\n`;
const PATCH = {
  tool: "apply_patch",
  args: {
    patch: `${update("f1", "one", "ONE")}${update("f2", "two", "TWO")}--- /dev/null\n+++ b/new/deep/file\n@@ -0,0 +1 @@\n+made\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n`,
  },
};
const LIST = batch([
  write("f1"),
  move("from", "over", true),
  copy("source", "f2", true),
  move("dir/x", "new/deep/x"),
  remove("gone"),
]);
const TREES = batch([
  write("f1"),
  copy("tree", "copied"),
  remove("tree", true),
  move("dir", "moved"),
  mkdir("empty/directory"),
]);

/** A warm workspace has made changes before, so that the files of records are made ahead. */
const WARM = Array.from({ length: 5 }, (_, turn) => write("warm", `turn ${turn}\n`));
const undoOf = (...first) => ({ call: { tool: "undo", args: {} }, first });

/**
 * Each change: its call, the calls before it that the case may take back (`first`), whether a mark is set before them, calls
 * that stay (`settled`), whether a large file is there, and the one disk that can make it.
 */
export const CHANGES = {
  create: { call: write("made/deep/file", "x".repeat(60_000)) },
  createHere: { call: write("made") },
  write: { call: write("f1") },
  writeMode: { call: write("program", "#!/bin/bash\n", { mode: "700" }) },
  writeLinked: { call: write("f2") },
  writeWarm: { call: write("f1"), settled: WARM },
  append: { call: write("f1", "more\n", { append: true }) },
  edit: { call: edit("f1", "one", "ONE") },
  mkdir: { call: mkdir("made/deep/directory") },
  patch: { call: PATCH },
  list: { call: LIST },
  trees: { call: TREES },
  moveDirectory: { call: move("dir", "made/deep/dir") },
  moveFile: { call: move("from", "made/to") },
  moveOver: { call: move("from", "over", true) },
  copy: { call: copy("source", "made/copy") },
  copyOver: { call: copy("source", "over", true) },
  copyTree: { call: copy("tree", "copied") },
  delete: { call: remove("gone") },
  deleteTree: { call: remove("tree", true) },
  deleteLarge: { call: remove("large"), large: true },
  undoWrite: undoOf(write("f1")),
  undoCreate: undoOf(write("made/deep/file")),
  undoPatch: undoOf(PATCH),
  undoList: undoOf(LIST),
  undoTrees: undoOf(TREES),
  undoMove: undoOf(move("dir", "made/deep/dir")),
  undoDeleteTree: undoOf(remove("tree", true)),
  // Without the addon, a large file is not kept.
  undoDeleteLarge: { ...undoOf(remove("large")), large: true, disk: "native" },
  rewind: {
    call: { tool: "rewind", args: {} },
    mark: true,
    first: [write("f1"), remove("tree", true), move("from", "made/to"), edit("f1", "new", "NEW")],
  },
};

/** Returns the change of a name: one of the list, or `batch:SEED`, a generated batch. */
export function changeOf(name) {
  const [kind, seed] = name.split(":");
  return kind === "batch" ? { call: generatedBatch(seededRandom(Number(seed))) } : CHANGES[name];
}

/** Returns a batch of independent operations on some of the files. */
function generatedBatch(random) {
  const files = random.shuffle(["f1", "f2", "gone", "from", "over", "source", "dir/x", "program", "tree/a"]);
  const free = random.shuffle(["n1", "new/n2", "new/deep/n3", "dir/n4", "tree/below/n5"]);
  const text = () => `text ${random.below(1000)}\n`.repeat(random.below(3));
  const makers = [
    () => write(files.pop(), text()),
    () => write(free.pop(), text()),
    () => write(files.pop(), text(), { append: true }),
    () => remove(files.pop()),
    () => move(files.pop(), free.pop()),
    () => move(files.pop(), files.pop(), true),
    () => copy(files.pop(), free.pop()),
    () => copy(files.pop(), files.pop(), true),
    () => mkdir(free.pop()),
  ];
  const operations = [];
  const count = 2 + random.below(6);
  while (operations.length < count && files.length > 1 && free.length > 0)
    operations.push(random.pick(makers)());
  // With such an operation the batch is made by steps.
  if (random.chance(0.3)) operations.push(copy("tree-2", "copied"));
  return batch(operations);
}
