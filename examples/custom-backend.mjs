// Your own storage: eleven methods over whatever you have (here a Map, as if it
// were a table with a path and a value), and the suite that says whether every
// tool will work on it. docs/guides/backends.md goes on to a real one.
import { FilewrightError, openWorkspace } from "filewright";
import {
  checkPath,
  compareCodePoints,
  textOfBytes,
  bytesOfText,
  isLongName,
  sortEntries,
} from "filewright/backends";
import { glob } from "filewright/engine";
import { backendContract } from "filewright/testing";

const fail = (code, path) => {
  throw new FilewrightError(code, "refused", { path });
};
const parentOf = (path) => path.slice(0, path.lastIndexOf("/")) || "/";

/** A backend over a table: a directory is a row without a value. */
function tableBackend(rows = new Map([["/", null]])) {
  const entryOf = (path) => {
    const value = rows.get(path);
    const isDir = value === null;
    const name = path.slice(path.lastIndexOf("/") + 1);
    const type = isDir ? "dir" : "file";
    return Object.freeze({ name, path, type, isDir, isFile: !isDir, size: value?.length ?? 0, mtime: 0 });
  };
  const below = (path) => {
    const prefix = path === "/" ? "/" : `${path}/`;
    return [...rows.keys()].filter((one) => one.startsWith(prefix) && one !== "/");
  };
  /** A path below a file is no directory's; one that is not there is not found. */
  const mustExist = (path) => {
    checkPath(path);
    if (rows.has(path)) return;
    if (path.split("/").some(isLongName)) fail("NAME_TOO_LONG", path);
    for (let at = parentOf(path); ; at = parentOf(at)) {
      if (rows.get(at)) fail("NOT_DIRECTORY", path);
      if (rows.has(at)) fail("NOT_FOUND", path);
    }
  };
  const bytes = (path) => {
    mustExist(path);
    return rows.get(path) ?? fail("IS_DIRECTORY", path);
  };
  const write = (path, value) => {
    checkPath(path);
    if (rows.get(path) === null) fail("IS_DIRECTORY", path);
    if (path.split("/").some(isLongName)) fail("NAME_TOO_LONG", path);
    mustExist(parentOf(path));
    if (rows.get(parentOf(path)) !== null) fail("NOT_DIRECTORY", path);
    rows.set(path, value);
    return {};
  };
  const listDir = (path) => {
    mustExist(path);
    if (rows.get(path) !== null) fail("NOT_DIRECTORY", path);
    const entries = below(path).filter((one) => parentOf(one) === path);
    return sortEntries(entries.map(entryOf));
  };
  return { entryOf, below, mustExist, bytes, write, listDir, rows };
}

function customBackend() {
  const table = tableBackend();
  const { entryOf, below, mustExist, bytes, write, listDir, rows } = table;
  const backend = {
    exists: async (path) => rows.has(path),
    stat: async (path) => {
      mustExist(path);
      return entryOf(path);
    },
    readText: async (path, { encoding } = {}) => textOfBytes(bytes(path), encoding, path),
    readBytes: async (path) => bytes(path).slice(),
    writeText: async (path, text, { encoding } = {}) => write(path, bytesOfText(text, encoding, path)),
    writeBytes: async (path, content) => write(path, content.slice()),
    delete: async (path) => {
      mustExist(path);
      if (below(path).length > 0) fail("NOT_EMPTY", path);
      rows.delete(path);
    },
    mkdir: async (path, { parents = true, existOk = true } = {}) => {
      if (rows.has(path))
        return existOk && rows.get(path) === null ? undefined : fail("ALREADY_EXISTS", path);
      if (!rows.has(parentOf(path)) && parents) await backend.mkdir(parentOf(path));
      write(path, null);
    },
    listDir: async (path) => listDir(path),
    async *iterFiles(root) {
      listDir(root);
      for (const path of below(root).sort(compareCodePoints)) if (rows.get(path) !== null) yield path;
    },
    glob: async (pattern, { root = "/" } = {}) => {
      const globs = glob([pattern]);
      const found = [];
      for await (const path of backend.iterFiles(root)) {
        if (globs.matches(path.slice(root === "/" ? 1 : root.length + 1))) found.push(path);
      }
      return found;
    },
  };
  return backend;
}

// The suite takes any test framework's `test`; here one that counts.
const cases = [];
backendContract(
  async () => {
    const backend = customBackend();
    await backend.mkdir("/root");
    return { backend, root: "/root" };
  },
  { test: (name, run) => cases.push({ name, run }) },
);
let failed = 0;
for (const { name, run } of cases) {
  await run().catch((error) => {
    failed += 1;
    console.log(`not ok: ${name}: ${error.message}`);
  });
}
console.log(`${cases.length} cases of the contract, ${failed} failed`);

const ws = await openWorkspace({ backend: customBackend(), root: "/" });
await ws.writeFile({ path: "notes/today.md", content: "- buy milk\n" });
await ws.editFile({ path: "notes/today.md", edits: [{ old_text: "milk", new_text: "bread" }] });
console.log((await ws.readFile({ path: "notes/today.md" })).content.trim());
await ws.close();
process.exitCode = failed === 0 ? 0 : 1;
