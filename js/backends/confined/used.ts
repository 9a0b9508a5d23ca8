/** Which optional capabilities of a storage a workspace uses. */
import { CAPABILITIES, type Capability, type FsBackend } from "../backend.ts";

/** The capabilities that a backend confined by `confineBackend` asks its inner backend for. */
const USED_CAPABILITIES: ReadonlySet<Capability> = new Set([
  "read",
  "readLines",
  "hash",
  "grep",
  "find",
  "listTree",
  "rename",
  "copyFile",
  "lstat",
  "readLink",
  "symlink",
  "realpath",
  "chmod",
  "removeTree",
  "sweep",
  "lock",
]);

/** Returns the capabilities of a storage that are used. One that confines itself is used as a whole. */
export function usedCapabilities(storage: FsBackend): readonly Capability[] {
  const offered = CAPABILITIES.filter((name) => storage[name] !== undefined);
  if (storage.confine !== undefined) return Object.freeze(offered);
  return Object.freeze(offered.filter((name) => USED_CAPABILITIES.has(name)));
}
