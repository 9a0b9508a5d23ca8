/** Small disks that tests fill. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterThisTest } from "./cleanups.ts";

/** Mounts an empty disk of a size such as `1m`; undefined where that is not permitted. */
function mount(size: string): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), "fw-small-disk-"));
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", directory]);
  if (status === 0) return directory;
  rmSync(directory, { recursive: true });
  return undefined;
}

function unmount(directory: string): void {
  spawnSync("umount", ["-l", directory]);
  rmSync(directory, { recursive: true, force: true });
}

/** Returns true where this process may mount a disk. */
export function mayMountDisks(): boolean {
  const directory = mount("256k");
  if (directory !== undefined) unmount(directory);
  return directory !== undefined;
}

/** Returns the directory of an empty disk of a size such as `1m`, for the running test. */
export function smallDisk(size: string): string {
  const directory = mount(size);
  if (directory === undefined) throw new Error("no disk was mounted");
  afterThisTest(() => unmount(directory));
  return directory;
}
