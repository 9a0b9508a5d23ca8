/**
 * Paths as text: checked, normalised and compared, without access to storage.
 *
 * `/` separates and everything else is a plain character, on every host. The rules are those of
 * `crates/core/src/text/path.rs`; links are resolved and policies applied elsewhere.
 */
import { FilewrightError } from "../engine/errors.ts";

/** The maximum length of a path, in UTF-8 bytes. A longer one is NAME_TOO_LONG. */
const MAX_PATH_BYTES = 65_536;

/** The maximum length of one entry's name, in UTF-8 bytes. */
const MAX_NAME_BYTES = 255;

/** An absolute path in its shortest form, and whether it can only name a directory. */
export interface NormalPath {
  readonly path: string;
  /** True when the path ended in `/`, `.` or `..`. */
  readonly directory: boolean;
}

const UNPAIRED_SURROGATE = /[\ud800-\udfff]/u;
const encoder = new TextEncoder();

/** Returns the length of a text in UTF-8 bytes. */
export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/**
 * Refuses texts that can never name a file.
 * @throws INVALID_ARGUMENT for an empty path, a NUL or an unpaired surrogate; NAME_TOO_LONG
 */
export function checkPath(path: string): void {
  if (typeof path !== "string") throw new FilewrightError("INVALID_ARGUMENT", "path must be a string");
  if (path === "") throw new FilewrightError("INVALID_ARGUMENT", "path is empty");
  if (path.includes("\0")) {
    throw new FilewrightError("INVALID_ARGUMENT", "path contains a NUL byte", { path });
  }
  if (UNPAIRED_SURROGATE.test(path)) {
    throw new FilewrightError("INVALID_ARGUMENT", "path contains an unpaired surrogate", { path });
  }
  // A code unit is at most three bytes, so short paths need no count.
  if (path.length > MAX_PATH_BYTES / 3 && byteLength(path) > MAX_PATH_BYTES) {
    throw new FilewrightError("NAME_TOO_LONG", `path is longer than ${MAX_PATH_BYTES} bytes`, { path });
  }
}

/**
 * The maximum length of the target of a symbolic link, in UTF-8 bytes, as on Linux. A longer one is NAME_TOO_LONG.
 */
const MAX_TARGET_BYTES = 4095;

/**
 * Refuses a target that no symbolic link can have. `path` is that of the link.
 * @throws INVALID_ARGUMENT for an empty target, a NUL or an unpaired surrogate; NAME_TOO_LONG
 */
export function checkTarget(target: string, path: string): void {
  checkPath(target);
  if (byteLength(target) > MAX_TARGET_BYTES)
    throw new FilewrightError("NAME_TOO_LONG", `link target is longer than ${MAX_TARGET_BYTES} bytes`, {
      path,
    });
}

/** Returns true when a name is too long for one entry. */
export function isLongName(name: string): boolean {
  return name.length > MAX_NAME_BYTES / 3 && byteLength(name) > MAX_NAME_BYTES;
}

/** Joins a path to a directory; an absolute path is returned as it is. */
export function joinPath(base: string, path: string): string {
  if (path.startsWith("/")) return path;
  return base.endsWith("/") ? base + path : `${base}/${path}`;
}

const NORMALISED_PATH = /^(?:\/(?!\.{0,2}(?:\/|$))[^/]+)+$/;

/**
 * Returns an absolute path without `.`, `..` and doubled slashes, without looking at links. `..` at the top stays
 * at the top.
 */
export function normalise(absolute: string): NormalPath {
  if (absolute.length < 4096 && NORMALISED_PATH.test(absolute)) return { path: absolute, directory: false };
  const names: string[] = [];
  let last = "";
  for (const name of absolute.split("/")) {
    last = name;
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return { path: `/${names.join("/")}`, directory: last === "" || last === "." || last === ".." };
}

/** Returns true when `path` is `root` or lies below it. Both are normalised. */
export function isWithin(path: string, root: string): boolean {
  if (root === "/") return true;
  return path.startsWith(root) && (path.length === root.length || path[root.length] === "/");
}

/** Returns the parent directory of a path; `/` for `/`. */
export function parentOf(path: string): string {
  const cut = path.lastIndexOf("/");
  return cut <= 0 ? "/" : path.slice(0, cut);
}

/**
 * Returns true when a path lies below one of these roots; false for a root itself. All are
 * normalised.
 */
export function isBelowAny(path: string, roots: { has(path: string): boolean }): boolean {
  for (let at = parentOf(path); at !== "/"; at = parentOf(at)) if (roots.has(at)) return true;
  return path !== "/" && roots.has("/");
}

/** Returns the last name of a path; empty for `/`. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Returns the path of a name in a directory. */
export function childOf(directory: string, name: string): string {
  return directory === "/" ? `/${name}` : `${directory}/${name}`;
}

/** Returns `path` relative to `root`, `.` for the root itself, or null when it lies elsewhere. */
export function relativeTo(path: string, root: string): string | null {
  if (!isWithin(path, root)) return null;
  if (path.length === root.length) return ".";
  return path.slice(root === "/" ? 1 : root.length + 1);
}

/** Returns the path of an entry below a directory with the directory under another path. */
export function movedPath(path: string, from: string, to: string): string {
  if (from === to) return path;
  const rest = from === "/" ? path : path.slice(from.length);
  return rest === "/" ? to : to === "/" && rest !== "" ? rest : to + rest;
}

/** Compares two texts by code point, which is the order of their UTF-8 bytes. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return codePointRank(x) - codePointRank(y);
  }
  return a.length - b.length;
}

/** Returns the rank of a UTF-16 unit in code-point order, in which surrogates come after U+FFFF. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Sorts an array in place by code point and returns it. */
export function sortCodePoints(names: string[]): string[] {
  // Without surrogates the native order is the same and much faster.
  return names.some((name) => /[\ud800-\udfff]/.test(name)) ? names.sort(compareCodePoints) : names.sort();
}

/** A root as the policy names it, and its real path. */
export type RootAlias = readonly [named: string, real: string];

/**
 * Replaces the name of a root at the beginning of a path by its real path. If several names contain the path, the
 * longest counts, as in the native resolver.
 */
export function resolveAlias(path: string, roots: readonly string[], aliases: readonly RootAlias[]): string {
  let [name, place] = ["", ""];
  const consider = (from: string, to: string): void => {
    if (from.length > name.length && isWithin(path, from)) [name, place] = [from, to];
  };
  for (const root of roots) consider(root, root);
  for (const [from, to] of aliases) consider(from, to);
  if (name === place) return path;
  const rest = relativeTo(path, name);
  return rest === null || rest === "." ? place : place === "/" ? `/${rest}` : `${place}/${rest}`;
}

/** Returns a glob that matches exactly one absolute path. */
export function literalGlob(path: string): string {
  return path === "/" ? "" : path.replace(/[*?[\]{}\\!]/g, "\\$&");
}
