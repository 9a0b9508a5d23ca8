// A folder in memory for the temporary files of tests. Not below /dev/shm, which the sandboxes of commands hide.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

/** The free memory that is required. The tests hold less than a fifth of it. */
const NEEDED_BYTES = 2 * 2 ** 30;

/**
 * Mounts a file system in memory until this program ends.
 * @returns {string | undefined} its folder; undefined outside Linux, where memory is short, and for a user who may not mount
 */
export function mountMemory() {
  if (process.platform !== "linux" || freemem() < NEEDED_BYTES) return undefined;
  // A short name: the path of a socket has at most 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), "fw-"));
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "mode=1777", "tmpfs", folder]);
  if (status !== 0) {
    rmdirSync(folder);
    return undefined;
  }
  process.once("exit", () => {
    // Lazily: a program that a test has left behind may still use it.
    spawnSync("umount", ["--lazy", folder]);
    rmdirSync(folder);
  });
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
  return folder;
}
