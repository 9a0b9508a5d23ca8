/** The names of the records in which the replicas of a workspace share their state. */
import { byteLength } from "../../backends/paths.ts";
import { engine } from "../../engine/current.ts";
import type { SandboxPolicy } from "../../policy/index.ts";
import { encodeUtf8 } from "../../tools/lib/text.ts";

/**
 * The maximum length of a part of a record's name that is not hashed, in bytes. A whole name has at most 1024 bytes,
 * and a kind has other parts before it.
 */
const MAX_NAME_BYTES = 700;

/**
 * Returns the scope of a workspace: replicas with the same roots share their state, and another workspace on the
 * same storage does not. An approval is given for the paths of one workspace.
 */
export function scopeOf({ cwd, read, write }: SandboxPolicy): string {
  return engine()
    .sha256(encodeUtf8(JSON.stringify([cwd, read, write])))
    .slice("sha256:".length, "sha256:".length + 16);
}

/**
 * Returns a text as a part of a record's name. A text is replaced by `#` and its hash if it is empty or too long, if
 * the storage might not accept its characters, or if it begins with `#` and could be taken for a hash.
 */
export function namePart(text: string): string {
  if (isPlainName(text)) return text;
  return `#${engine().sha256(encodeUtf8(JSON.stringify(text)))}`;
}

/** Returns true for a text that every storage accepts as a part of a record's name, and that is not taken for a hash. */
export function isPlainName(text: string): boolean {
  const isAccepted = text !== "" && !/[\0\p{Surrogate}]/u.test(text) && !text.startsWith("#");
  return isAccepted && byteLength(text) <= MAX_NAME_BYTES;
}
