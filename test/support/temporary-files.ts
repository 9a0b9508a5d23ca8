/**
 * The fast tests keep temporary files in memory (/dev/shm) on Linux, if there is room: they take 135 s, not 184 s. All
 * other projects use the disk, also in the same run, but for those for which CI mounts a folder by day
 * (scripts/lib/memory.mjs). Tests of sandboxes are in the project `processes`, because sandboxes treat paths below /dev in
 * a special way.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

const MEMORY = "/dev/shm";
/** The free space that is required. A container may have only 64 MiB there. */
const NEEDED_BYTES = 2 ** 30;

/** Sets TMPDIR for the tests of a project, and returns the clean-up; does nothing where TMPDIR is set already. */
export default function setup({ config }: TestProject): (() => void) | undefined {
  if (process.platform !== "linux" || process.env["TMPDIR"] !== undefined) return undefined;
  const folder = folderInMemory();
  if (folder === undefined) return undefined;
  config.env = { ...config.env, TMPDIR: folder };
  return () => rmSync(folder, { recursive: true, force: true });
}

/** A new folder in memory; undefined where room is short, no program may be run, or anything fails. */
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
