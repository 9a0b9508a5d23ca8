/**
 * The names of Filewright's temporary files, which listings and searches leave out. The storage of a browser has
 * names of its own (`web/platform.ts`).
 */

/** The form of the names that `crates/core/src/walk.rs` describes. A test holds both to the same names. */
const TEMP_NAME = /^\.filewright-[0-9a-f]{8}-[0-9a-f]{1,8}-[0-9a-f]{1,16}-[0-9a-f]{16}(?:-kept)?$/u;

/** Returns true when a name of the path below its root is that of a temporary file, or of an entry moved aside. */
export function hasTempName(path: string, root: string): boolean {
  const from = root === "/" ? 0 : root.length;
  return path.includes("/.filewright-", from) && path.slice(from).split("/").some(isTempName);
}

/** Returns true for the name of a temporary file, or of an entry that a change moved aside. */
export function isTempName(name: string): boolean {
  return name.startsWith(".filewright-") && TEMP_NAME.test(name);
}
