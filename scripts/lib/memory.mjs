// Mounts a tmpfs for the temporary files of tests, because a flush to a disk takes milliseconds. /dev/shm is not used:
// the sandboxes of commands hide it.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

/** The minimum free memory. The tests use less than a fifth of it. */
const MIN_FREE_BYTES = 2 * 2 ** 30;

/**
 * Mounts a file system in memory until this process ends.
 * @returns {string | undefined} its folder; undefined outside Linux, if memory is short, and if the mount fails
 */
export function mountMemory() {
  if (process.platform !== "linux" || freemem() < MIN_FREE_BYTES) return undefined;
  // A short name: the path of a socket has at most 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), "fw-"));
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "mode=1777", "tmpfs", folder]);
  if (status !== 0) {
    rmdirSync(folder);
    return undefined;
  }
  process.once("exit", () => {
    // Lazily: a process that a test has left behind may still use it.
    spawnSync("umount", ["--lazy", folder]);
    rmdirSync(folder);
  });
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
  return folder;
}
