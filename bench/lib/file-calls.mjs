// The calls of an agent that reads, replaces and edits files of 4 KiB, and the same work by
// `node:fs`, written as a careful programmer would for this one purpose.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { open, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

const CONTENT = "0123456789abcdef 0123456789abcdef 0123456789abcdef 0123456789ab\n".repeat(64);
const OTHER_CONTENT = CONTENT.replace("0123", "4567");
const EDITED_LINE = "the line that is edited";
const OTHER_LINE = "THE LINE THAT IS EDITED";
const FIRST_LINE = CONTENT.slice(0, CONTENT.indexOf("\n"));
const READ_NAMES = Array.from({ length: 50 }, (_, index) => `read${index}.txt`);
const WRITTEN_NAME = "written.txt";
const EDITED_NAME = "edited.txt";
/** The files of one patch: the first of those that are read. */
const PATCHED_NAMES = READ_NAMES.slice(0, 20);

/** The work of `node:fs` for each kind of call, in the words of the table of results. */
const READ_BY_NODE = "node:fs: open, stat, read, close";
const REPLACE_BY_NODE = "node:fs: stat, writeFile of a new file, rename";

/**
 * The measured cases by their keys. `calls` is the number of calls that one run makes, and `runOn`
 * makes a run from the files of one side. A run is an async function: of any other, tinybench makes
 * one call that it does not wait for, to see whether it returns a promise.
 *
 * @type {Readonly<Record<string, {
 *   name: string, peer: string, calls: number, options?: object, runOn: (files: Files) => () => Promise<unknown>
 * }>>}
 */
export const FILE_CALLS = {
  read: {
    name: "read_file, one by one",
    peer: READ_BY_NODE,
    calls: 1,
    runOn: (files) => async () => files.read(READ_NAMES[0]),
  },
  "read-50": {
    name: `read_file, ${READ_NAMES.length} at once`,
    peer: READ_BY_NODE,
    calls: READ_NAMES.length,
    runOn: (files) => async () => Promise.all(READ_NAMES.map((name) => files.read(name))),
  },
  write: {
    name: "write_file, with history",
    peer: REPLACE_BY_NODE,
    calls: 1,
    runOn: replaceInTurns,
  },
  "write-unrecorded": {
    name: "write_file, without history",
    peer: REPLACE_BY_NODE,
    calls: 1,
    options: { history: false },
    runOn: replaceInTurns,
  },
  edit: {
    name: "edit_file, with history",
    peer: "node:fs: readFile, indexOf, then as write_file",
    calls: 1,
    runOn: editInTurns,
  },
  patch: {
    name: `apply_patch, ${PATCHED_NAMES.length} files`,
    peer: `node:fs: ${PATCHED_NAMES.length} times as edit_file`,
    calls: 1,
    runOn: patchInTurns,
  },
};

/**
 * @typedef {object} Files the operations of a case on the files of a folder
 * @property {(name: string) => Promise<string>} read
 * @property {(name: string, content: string) => Promise<void>} replace
 * @property {(name: string, oldText: string, newText: string) => Promise<void>} edit
 * @property {(names: readonly string[], before: string, after: string) => Promise<void>} patch replaces the first line
 */

/** Makes a run that replaces a file by one of two contents, so that each run changes it. */
function replaceInTurns(files) {
  let isChanged = false;
  return async () => {
    isChanged = !isChanged;
    return files.replace(WRITTEN_NAME, isChanged ? OTHER_CONTENT : CONTENT);
  };
}

/** Makes a run that changes a line, or changes it back. */
function editInTurns(files) {
  let isChanged = false;
  return async () => {
    isChanged = !isChanged;
    const [before, after] = isChanged ? [EDITED_LINE, OTHER_LINE] : [OTHER_LINE, EDITED_LINE];
    return files.edit(EDITED_NAME, before, after);
  };
}

/** Makes a run that changes the first line of several files, or changes it back. */
function patchInTurns(files) {
  let isChanged = false;
  return async () => {
    isChanged = !isChanged;
    const [before, after] = isChanged ? [FIRST_LINE, OTHER_LINE] : [OTHER_LINE, FIRST_LINE];
    return files.patch(PATCHED_NAMES, before, after);
  };
}

/**
 * Opens one side of a case in a folder of its own.
 *
 * @param {"ours" | "node"} side
 * @param {string} key of {@link FILE_CALLS}
 * @param {string} scratch an existing folder, which the caller removes afterwards
 * @returns {Promise<{ run: () => Promise<unknown>, contents: () => string[], close: () => Promise<void> }>}
 */
export async function openFileCall(side, key, scratch) {
  const { options, runOn } = FILE_CALLS[key];
  const root = join(scratch, `${side}-${key}`);
  makeFiles(root);
  const contents = () =>
    readdirSync(root)
      .sort()
      .map((name) => `${name}: ${readFileSync(join(root, name), "utf8")}`);
  if (side === "node") return { run: runOn(filesOfNode(root)), contents, close: async () => {} };
  // Loaded here, so that a process that measures `node:fs` does not load the library.
  const { openWorkspace } = await import("../../dist/index.node.js");
  const workspace = await openWorkspace({ root, stateDir: `${root}-state`, ...options });
  return { run: runOn(filesOfWorkspace(workspace)), contents, close: () => workspace.close() };
}

/** Makes a folder with the files that the cases read and change. */
export function makeFiles(root) {
  mkdirSync(root);
  for (const name of [...READ_NAMES, WRITTEN_NAME]) writeFileSync(join(root, name), CONTENT);
  const half = CONTENT.slice(0, CONTENT.length / 2);
  writeFileSync(join(root, EDITED_NAME), `${half}${EDITED_LINE}\n${half}`);
}

/** @returns {Files} */
function filesOfWorkspace(workspace) {
  const call = async (tool, args) => {
    const answer = await workspace.call(tool, args);
    if (!answer.ok) throw new Error(answer.text);
    return answer.text;
  };
  return {
    read: (name) => call("read_file", { path: name, line_numbers: "none" }),
    replace: async (name, content) => void (await call("write_file", { path: name, content })),
    edit: async (name, oldText, newText) =>
      void (await call("edit_file", { path: name, old_text: oldText, new_text: newText })),
    patch: async (names, before, after) => {
      const hunks = names.map((name) => `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-${before}\n+${after}\n`);
      await call("apply_patch", { patch: hunks.join("") });
    },
  };
}

/**
 * Returns the operations by `node:fs`. A read takes the size and the bytes from one open file. A
 * replaced file keeps its mode, and no reader sees half of it. An edit refuses a text that is not
 * there exactly once. None of them checks paths, keeps versions or makes diffs, which are what the
 * calls of a workspace do besides.
 *
 * @returns {Files}
 */
function filesOfNode(root) {
  const replace = async (name, content) => {
    const path = join(root, name);
    const { mode } = await stat(path);
    await writeFile(`${path}.tmp`, content, { flag: "wx", mode });
    await rename(`${path}.tmp`, path);
  };
  return {
    read: async (name) => {
      const file = await open(join(root, name));
      try {
        const { size } = await file.stat();
        const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(size), 0, size, 0);
        return buffer.toString("utf8", 0, bytesRead);
      } finally {
        await file.close();
      }
    },
    replace,
    edit: async (name, oldText, newText) => {
      const text = await readFile(join(root, name), "utf8");
      const at = text.indexOf(oldText);
      if (at < 0 || text.includes(oldText, at + 1)) throw new Error(`not once in ${name}: ${oldText}`);
      await replace(name, text.slice(0, at) + newText + text.slice(at + oldText.length));
    },
    patch: async (names, before, after) => {
      for (const name of names) {
        const text = await readFile(join(root, name), "utf8");
        if (!text.startsWith(`${before}\n`)) throw new Error(`not at the beginning of ${name}: ${before}`);
        await replace(name, after + text.slice(before.length));
      }
    },
  };
}
