// A place for one case: a tree of files, a state directory, and workspaces over both.
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const ENTRY = pathToFileURL(resolve(import.meta.dirname, "../../../dist/cli/library.js")).href;
const { NodeBackend, openWorkspace } = await import(ENTRY);

const FILES = {
  f1: "one\n",
  f2: "two\n",
  gone: "gone\n",
  from: "from\n",
  over: "over\n",
  source: "source\n",
  "tree/a": "a in tree\n",
  "tree/below/b": "b in tree\n",
  "dir/x": "x in dir\n",
  // Files that no change touches.
  neighbour: "neighbour\n",
  "tree-2/neighbour": "neighbour\n",
};
const PROGRAM = "program";
/** A file beyond this size is compared by its size alone. It is kept by a rename, not in the record. */
const LARGE_BYTES = 65 * 1024 * 1024;

/** Opens a workspace over the disk with the addon, or over the one without it. */
export const openPlace = ({ disk, ...options }) =>
  openWorkspace(
    disk === "node"
      ? { ...options, backend: new NodeBackend({ stateDir: options.stateDir }) }
      : { ...options },
  );

/** Returns true for the name of a temporary entry. */
export const isTemporary = (path) => /(^|\/)\.filewright-/u.test(path);

/** A new tree and its state directory. */
export class Place {
  constructor({ large } = {}) {
    this.base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-faults-")));
    this.root = join(this.base, "ws");
    this.stateDir = join(this.base, "state");
    for (const [path, content] of Object.entries(FILES)) {
      fs.mkdirSync(dirname(join(this.root, path)), { recursive: true });
      fs.writeFileSync(join(this.root, path), content);
    }
    fs.writeFileSync(join(this.root, PROGRAM), "#!/bin/sh\n", { mode: 0o755 });
    fs.linkSync(join(this.root, "f2"), join(this.root, "f2-other-name"));
    fs.symlinkSync("f1", join(this.root, "link"));
    if (large) {
      fs.writeFileSync(join(this.root, "large"), "");
      fs.truncateSync(join(this.root, "large"), LARGE_BYTES);
    }
  }

  /** Returns each entry of the tree with its kind, permission bits and content, in the order of the paths. */
  tree() {
    const found = {};
    const enter = (folder) => {
      for (const entry of fs.readdirSync(join(this.root, folder), { withFileTypes: true })) {
        const path = join(folder, entry.name);
        found[path] = this.#shown(path, entry);
        if (entry.isDirectory()) enter(path);
      }
    };
    enter("");
    return Object.fromEntries(Object.entries(found).sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  #shown(path, entry) {
    const full = join(this.root, path);
    if (entry.isSymbolicLink()) return `-> ${fs.readlinkSync(full)}`;
    const { mode, size } = fs.statSync(full);
    const bits = (mode & 0o7777).toString(8);
    if (entry.isDirectory()) return `directory ${bits}`;
    return size > 1_000_000 ? `${size} bytes ${bits}` : `${bits} ${fs.readFileSync(full, "utf8")}`;
  }

  /** Returns the open records with content. */
  openRecords() {
    const open = join(this.stateDir, "journal/open");
    if (!fs.existsSync(open)) return [];
    return fs.readdirSync(open).filter((name) => fs.statSync(join(open, name)).size > 0);
  }

  /** Returns the paths below the state directory. */
  state() {
    return fs.existsSync(this.stateDir) ? fs.readdirSync(this.stateDir, { recursive: true }) : [];
  }

  remove() {
    fs.rmSync(this.base, { recursive: true, force: true });
  }
}

/** Returns the paths at which two trees differ, temporary entries left out. */
export function differences(one, other) {
  const paths = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...paths].filter((path) => !isTemporary(path) && one[path] !== other[path]);
}
