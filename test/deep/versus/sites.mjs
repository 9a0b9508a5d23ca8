// The file systems on which sessions on a disk are played: the one of temporary files, two devices, one that fills up,
// one that is partly read-only, and one through FUSE that ignores letter case and renumbers its files.
//
// A mount needs root, FUSE needs /dev/fuse, Python and fusepy. What a machine cannot do is said, and its sessions are
// played on the plain disk instead.
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { platform } from "node:process";
import { mountOddFiles } from "../../support/odd-files.mjs";

/** The directory of a session on the second device, and the size of a device that fills up. */
export const MOUNTS = {
  devices: [{ path: "@@/w/lib" }, { path: "@@/x" }],
  full: [{ path: "@@/w", size: "256k" }],
  readonly: [{ path: "@@/w/lib", readOnly: true }],
};

const runs = (program, args) => spawnSync(program, args, { stdio: "ignore" }).status === 0;

/** Mounts what a session needs. The directories must not exist. */
export function mountAll(mounts, base) {
  for (const { path, size } of mounts) {
    const directory = path.replace("@@", base);
    mkdirSync(directory, { recursive: true });
    const limit = size === undefined ? [] : ["-o", `size=${size}`];
    if (!runs("mount", ["-t", "tmpfs", ...limit, "tmpfs", directory]))
      throw new Error(`${directory} cannot be mounted`);
  }
}

/** Makes those mounts read-only that are, once their files are there. */
export function lockMounts(mounts, base) {
  for (const { path, readOnly } of mounts)
    if (readOnly) runs("mount", ["-o", "remount,ro", path.replace("@@", base)]);
}

/** Unmounts what a session needed, the innermost first. */
export function unmountAll(mounts, base) {
  for (const { path } of [...mounts].reverse()) runs("umount", ["-l", path.replace("@@", base)]);
}

/**
 * Prepares the file systems of a run below a directory, and says which of them this machine lacks.
 *
 * @param {string} top
 */
export function makeSites(top) {
  const names = ["disk"];
  const probe = join(top, "probe");
  mkdirSync(probe, { recursive: true });
  if (platform === "linux" && runs("mount", ["-t", "tmpfs", "tmpfs", probe])) {
    runs("umount", ["-l", probe]);
    names.push(...Object.keys(MOUNTS));
  } else
    console.log(`skipped: ${Object.keys(MOUNTS).join(", ")}: mounting a file system is not allowed here`);
  const ends = [];
  for (const side of platform === "linux" ? ["b", "t"] : []) {
    const { missing, stop } = mountOddFiles(join(top, side, "folding"), ["fold"]);
    if (missing !== undefined) {
      console.log(`skipped: folding: ${missing}`);
      break;
    }
    ends.push(stop);
  }
  if (ends.length === 2) names.push("folding");
  return {
    /** The names of the file systems that this machine has. */
    names,
    /** The directory of one side, in which its sessions get theirs. */
    scratchOf(side) {
      const scratch = join(top, side);
      mkdirSync(scratch, { recursive: true });
      return scratch;
    },
    remove() {
      for (const end of ends) end();
    },
  };
}
