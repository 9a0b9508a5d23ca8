/**
 * Temporary files of the fast tests lie in memory where Linux has room there: the tests take 135 s in place of 184. Those
 * of sandboxes, which treat what is below /dev in a way of their own, are in the project `processes`, on the disk as all
 * other projects.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const MEMORY = "/dev/shm";
/** A container may have 64 MiB there, which one large file fills. */
const NEEDED_BYTES = 2 ** 30;

/** Sets TMPDIR for the processes of the tests, and returns what removes the folder after them. */
export default function setup(): (() => void) | undefined {
  if (process.platform !== "linux" || process.env["TMPDIR"] !== undefined) return undefined;
  const folder = folderInMemory();
  if (folder === undefined) return undefined;
  process.env["TMPDIR"] = folder;
  return () => {
    delete process.env["TMPDIR"];
    rmSync(folder, { recursive: true, force: true });
  };
}

/** A new folder in memory; undefined where there is too little room, or where no program may be run. */
function folderInMemory(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < NEEDED_BYTES) return undefined;
    const folder = mkdtempSync(join(MEMORY, "filewright-tests-"));
    // As in /tmp: some tests act as another user.
    chmodSync(folder, 0o1777);
    const program = join(folder, "program");
    writeFileSync(program, "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    const { status } = spawnSync(program);
    rmSync(status === 0 ? program : folder, { recursive: true });
    return status === 0 ? folder : undefined;
  } catch {
    return undefined;
  }
}
