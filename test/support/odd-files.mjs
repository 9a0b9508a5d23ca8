// Mounts file systems that behave unlike a local disk (odd_files.py). FUSE needs /dev/fuse, Python and fusepy.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

const PROGRAM = join(import.meta.dirname, "odd_files.py");
/** The Python of the system, because Debian's package of fusepy is for that one. */
const PYTHON = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";

const runs = (program, args) => spawnSync(program, args, { stdio: "ignore" }).status === 0;

/**
 * Mounts a file system over a new directory; its files are in another one, with `.below` after the name.
 *
 * @param {string} directory
 * @param {readonly string[]} habits as odd_files.py names them
 * @returns {{ missing: string, stop?: undefined } | { missing?: undefined, stop: () => void }} why it is not there, or
 *   how it ends
 */
export function mountOddFiles(directory, habits) {
  if (!existsSync("/dev/fuse")) return { missing: "there is no /dev/fuse" };
  if (!runs(PYTHON, ["-c", "try: import fusepy\nexcept ImportError: import fuse"]))
    return { missing: "Python's module fusepy is missing; on Debian: apt-get install fuse3 python3-fusepy" };
  const [below, above] = [`${directory}.below`, directory];
  mkdirSync(below, { recursive: true });
  mkdirSync(above, { recursive: true });
  const server = spawn(PYTHON, [PROGRAM, below, above, ...habits], { stdio: "ignore" });
  const isMounted = () => runs("mountpoint", ["-q", above]);
  for (let tries = 0; tries < 100 && !isMounted(); tries++)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  if (!isMounted()) {
    server.kill();
    return { missing: "the FUSE server did not mount" };
  }
  return { stop: () => runs("umount", ["-l", above]) };
}
