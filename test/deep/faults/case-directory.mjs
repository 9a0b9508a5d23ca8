// The directories of one case: a tree of files and a state directory.
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { diskTree } from "../../support/disk-tree.mjs";

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
/** Such a file is kept by a rename, not in the record. */
const LARGE_BYTES = 65 * 1024 * 1024;

/** Opens a workspace over the disk with the addon, or over the one without it. */
export const openCase = ({ disk, ...options }) =>
  openWorkspace(
    disk === "node"
      ? { ...options, backend: new NodeBackend({ stateDir: options.stateDir }) }
      : { ...options },
  );

/** Returns true for the name of a temporary entry. */
export const isTemporary = (path) => /(^|\/)\.filewright-/u.test(path);

/** A new tree and its state directory. */
export class CaseDirectory {
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

  /** Returns each entry of the tree with its kind, permission bits and content. */
  tree() {
    return diskTree(this.root);
  }

  /** Returns the open records with content. */
  openRecords() {
    const open = join(this.stateDir, "journal/open");
    if (!fs.existsSync(open)) return [];
    return fs.readdirSync(open).filter((name) => fs.statSync(join(open, name)).size > 0);
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
