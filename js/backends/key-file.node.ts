/** A secret key in its own file, which the first process creates and only the owner can read. */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { backendError } from "./failure.ts";
import { isOursAlone } from "./ownership.node.ts";

const { O_NOFOLLOW, O_RDONLY } = constants;

/** The length of a key, in bytes. */
export const KEY_BYTES = 32;

/**
 * Returns the key in a file, creating it when missing. It is written to a temporary file and then
 * linked to its name, so that no process reads a partial key and all processes that start at once
 * agree on one.
 * @throws FilewrightError INVALID_ARGUMENT when other users can read the file, or it contains no
 * key
 */
export function readOrMakeKey(path: string): Buffer {
  if (!existsSync(path)) {
    const made = `${path}.${randomBytes(8).toString("hex")}`;
    // Flushed before it has its name: after a power cut an empty key would make every record unreadable.
    writeFileSync(made, randomBytes(KEY_BYTES), { mode: 0o600, flag: "wx", flush: true });
    try {
      linkSync(made, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      unlinkSync(made);
    }
  }
  const descriptor = openSync(path, O_RDONLY | O_NOFOLLOW);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile() || !isOursAlone(stat, 0o077) || stat.size !== KEY_BYTES) {
      throw backendError(
        "INVALID_ARGUMENT",
        path,
        "is no key of ours alone: others can read it, or it is damaged",
      );
    }
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
