/** Creates directories that only their owner can use. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Creates a directory with mode 0700, and missing ones above it. Node's own recursion says ENOENT where the file
 * system is read-only, and does not end in a file system that refuses new directories with ENOENT, such as /proc.
 */
export function makePrivateDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || dirname(path) === path) throw error;
    makePrivateDirectory(dirname(path));
    try {
      mkdirSync(path, { mode: 0o700 });
    } catch (again) {
      // Another process that starts at the same time creates it, too.
      if ((again as NodeJS.ErrnoException).code !== "EEXIST") throw again;
    }
  }
}
