// A tree of a disk as text, which tests compare.
import * as fs from "node:fs";
import { join } from "node:path";

/** A larger file is shown by its size alone. */
const MAX_SHOWN_BYTES = 1_000_000;

/**
 * Returns each entry below a directory with its kind, permission bits and content, in the order of the paths.
 * @returns {Record<string, string>} by relative path
 */
export function diskTree(root) {
  const found = {};
  const list = (folder) => {
    for (const entry of fs.readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      found[path] = shownEntry(join(root, path), entry);
      if (entry.isDirectory()) list(path);
    }
  };
  list("");
  return Object.fromEntries(Object.entries(found).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function shownEntry(path, entry) {
  if (entry.isSymbolicLink()) return `-> ${fs.readlinkSync(path)}`;
  const { mode, size } = fs.lstatSync(path);
  const bits = (mode & 0o7777).toString(8);
  if (entry.isDirectory()) return `directory ${bits}`;
  return size > MAX_SHOWN_BYTES ? `${size} bytes ${bits}` : `${bits} ${fs.readFileSync(path, "utf8")}`;
}
