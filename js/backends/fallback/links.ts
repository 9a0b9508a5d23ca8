/**
 * Path resolution as POSIX defines it, for storages that do not resolve links themselves.
 *
 * `resolveLinks` walks a path name by name and asks the storage what each name is. It looks at every
 * directory it passes, so a name after a file is NOT_DIRECTORY and `..` after a missing name is NOT_FOUND,
 * as the kernel answers; text alone would resolve both to some other file.
 */
import { failure } from "../failure.ts";
import { childOf, isLongName, normalise, parentOf } from "../paths.ts";

/** The maximum number of links that one resolution follows, as on Linux. One more is LOOP. */
export const MAX_LINKS = 40;

/** The entry at a path: a link with its target, or any other type. */
export type Step =
  | { readonly type: "symlink"; readonly target: string }
  | { readonly type: "dir" | "file" | "other" };

/** How a path is resolved. */
export interface Resolution {
  /** True when a link in the last place is followed. */
  readonly follow: boolean;
  /**
   * Returns the entry at a path whose parent is a real directory, or null where nothing exists.
   * `isLast`: no name follows.
   */
  look(path: string, isLast: boolean): Promise<Step | null>;
  /**
   * Keeps the missing end of a path that ends in a slash (`gone/`); default: such a path is
   * NOT_FOUND.
   */
  readonly keepMissingDirectory?: boolean;
}

/**
 * Resolves the links of a normalised absolute path. Missing names at its end are kept.
 *
 * @throws FilewrightError NOT_DIRECTORY, NOT_FOUND (`..` after a missing name), LOOP, NAME_TOO_LONG
 */
export async function resolveLinks(path: string, resolution: Resolution): Promise<string> {
  const { follow, look, keepMissingDirectory = false } = resolution;
  const pending = namesOf(path);
  let real = "/";
  let links = 0;
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    // Every name before this one was a directory.
    if (name === "." || name === "") continue;
    if (name === "..") {
      real = parentOf(real);
      continue;
    }
    if (isLongName(name)) throw failure("NAME_TOO_LONG", path);
    const at = childOf(real, name);
    const step = await look(at, pending.length === 0);
    if (step === null) {
      if (pending.some(isLongName)) throw failure("NAME_TOO_LONG", path);
      const ending = pending[0];
      const mustExist = ending === "." || (ending === "" && !keepMissingDirectory);
      if (pending.includes("..") || mustExist) throw failure("NOT_FOUND", path);
      return normalise([at, ...pending.reverse()].join("/")).path;
    }
    if (step.type === "symlink" && (pending.length > 0 || follow)) {
      links += 1;
      if (links > MAX_LINKS) throw failure("LOOP", path);
      if (step.target.startsWith("/")) real = "/";
      pending.push(...namesOf(step.target));
      continue;
    }
    if (pending.length > 0 && step.type !== "dir") throw failure("NOT_DIRECTORY", path);
    real = at;
  }
  return real;
}

/**
 * The names of a path, the last one first. A final `.` stays, and a final `/` as an empty name;
 * both require a directory before them.
 */
function namesOf(path: string): string[] {
  const parts = path.split("/");
  const last = parts.length - 1;
  return parts.filter((part, at) => (part !== "" && part !== ".") || (at === last && at > 0)).reverse();
}
