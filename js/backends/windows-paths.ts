/**
 * Paths of a Windows disk. Their internal form is `/C:/repo/a.ts`, so that everything between a typed path and the
 * disk is the same code on every system. `C:\repo\a.ts` and `C:/repo/a.ts` are accepted; the first is shown.
 *
 * A path as a caller writes it is converted or refused by `crates/core/src/text/windows_paths.rs`, before any rule
 * judges it. {@link pathConverterOf} calls that and words its refusals. The other functions convert without rules; of
 * them only {@link windowsHostPath} refuses a path.
 */
import { engine } from "../engine/current.ts";
import { FilewrightError, makeError } from "../engine/errors.ts";
import { shortcutsOf } from "./abilities.ts";
import { shownPath } from "./confined/outside.ts";
import type { SandboxPolicy } from "./policy.ts";
import { placeOnWindows, ruleGlobsInForm } from "./windows-globs.ts";

/** An absolute path in the internal form: the letter of the drive, and the names below. */
const INTERNAL_PATH = /^\/([A-Z]):(\/[^\\:\0]*)?$/u;

/** The beginning of an absolute path as Windows writes it, with the prefix under which it may return one. */
const HOST_DRIVE = /^(?:\\\\[?.]\\|\\\?\?\\)?([A-Za-z]):(?=[\\/]|$)/u;

/** Returns true when the paths of a storage are those of a Windows disk. */
export function hasWindowsPaths(storage: object): boolean {
  return shortcutsOf(storage).paths === "windows";
}

/** Returns true when a directory of a storage with paths of POSIX finds a name in any letter case. */
export function hasFoldedNames(storage: object, directory: string): boolean {
  const { paths } = shortcutsOf(storage);
  return typeof paths === "function" && paths(directory);
}

/**
 * Returns the policy for a storage: with its form of paths, by which the policy's rules compare names. Where one root
 * ignores letter case, all rules do: they cover more than their spelling then, never less.
 */
export function withPathsOf(storage: object, policy: SandboxPolicy): SandboxPolicy {
  if (hasWindowsPaths(storage)) return withWindowsPaths(policy);
  if (policy.foldsCase === true) return policy;
  const roots = new Set([policy.cwd, ...(policy.read ?? ["/"]), ...policy.write]);
  const folds = [...roots].some((root) => hasFoldedNames(storage, root));
  return folds ? Object.freeze({ ...policy, foldsCase: true }) : policy;
}

/**
 * Returns the policy for a Windows disk: its rules compare names as Windows does, and its globs and places are in the
 * internal form. @throws INVALID_GLOB for one that cannot be understood
 */
export function withWindowsPaths(policy: SandboxPolicy): SandboxPolicy {
  // Its globs are in the internal form already, in which a backslash escapes.
  if (policy.paths === "windows") return policy;
  return Object.freeze({
    ...policy,
    paths: "windows",
    deny: Object.freeze(policy.deny.flatMap((glob) => ruleGlobsInForm(glob, "windows"))),
    ...(policy.places === undefined ? {} : { places: Object.freeze(policy.places.map(placeOnWindows)) }),
  });
}

/** Returns the function that converts typed paths under a policy; undefined when they need no conversion. */
export function pathConverterOf(
  { paths, cwd }: Pick<SandboxPolicy, "paths" | "cwd">,
  roots: readonly string[],
): ((typed: string) => string) | undefined {
  if (paths !== "windows") return undefined;
  // A storage without a policy starts at `/`, which is no directory of Windows. Its callers pass absolute paths.
  const convert = engine().windows.paths({ cwd: cwd === "/" ? "/C:" : cwd, roots: [...new Set(roots)] });
  return (typed) => {
    try {
      return convert(typed);
    } catch (error) {
      throw error instanceof FilewrightError ? worded(error, typed) : error;
    }
  };
}

/** The beginning of a path of the network or of a device. */
const NETWORK_OR_DEVICE = /^[\\/](?:[\\/]|\?\?)/u;

/**
 * Returns the error of a typed path with its remedy. For a path that merely lies outside the roots the workspace
 * adds the remedy, as it does on other systems.
 */
function worded(error: FilewrightError, typed: string): FilewrightError {
  const { code, message, hint, details } = error;
  if (code !== "OUTSIDE_ALLOWED")
    return makeError(code, hint === undefined ? message : `${message}; ${hint}`, { path: typed, details });
  if (!NETWORK_OR_DEVICE.test(typed)) return makeError(code, message, { path: typed });
  return makeError(code, `'${shownPath(typed)}' is outside the allowed roots: ${message}; ${hint}.`, {
    path: typed,
    hint,
    complete: true,
  });
}

/** Returns the path that Windows takes for an absolute path. @throws OUTSIDE_ALLOWED for one that is not in the internal form */
export function windowsHostPath(path: string): string {
  const [, drive, below = "/"] = INTERNAL_PATH.exec(path) ?? [];
  if (drive === undefined) throw makeError("OUTSIDE_ALLOWED", "the path is on no drive", { path });
  return `${drive}:${below.replaceAll("/", "\\")}`;
}

/**
 * Returns an absolute path as answers show it under a policy with this form of paths. One without a drive, such as
 * `/` for every drive, is shown as it is.
 */
export function displayPath(path: string, paths: SandboxPolicy["paths"]): string {
  return paths === "windows" && INTERNAL_PATH.test(path) ? windowsHostPath(path) : path;
}

/** Returns the absolute path that {@link displayPath} showed. */
export function pathOfDisplayed(shown: string, paths: SandboxPolicy["paths"]): string {
  return paths === "windows" ? innerWindowsPath(shown) : shown;
}

/**
 * Returns a path or the target of a link, as Windows returned it, in the internal form. One of the network or
 * of a device becomes an absolute path without a drive, which lies outside every root.
 */
export function innerWindowsPath(host: string): string {
  const drive = HOST_DRIVE.exec(host);
  const plain = drive === null ? host : `/${drive[1]?.toUpperCase()}:${host.slice(drive[0].length)}`;
  return plain.replaceAll("\\", "/").replace(/(?<=[^/])\/+$/u, "");
}

/** Returns true for an absolute path of a Windows disk in the internal form. */
export function isOnDrive(path: string): boolean {
  return INTERNAL_PATH.test(path);
}

/** The beginning of an absolute path or glob as a person writes it on Windows. */
const TYPED_DRIVE = /^[A-Za-z]:[\\/]/u;

/** Returns true for an absolute path or glob as a person writes it on Windows, such as `C:\repo` or `c:/repo/**`. */
export function beginsWithDrive(path: string): boolean {
  return TYPED_DRIVE.test(path);
}

/** Returns an absolute path in the internal form, where it begins with a drive; any other is returned unchanged. */
export function withInnerDrive(path: string): string {
  return beginsWithDrive(path) ? innerWindowsPath(path) : path;
}

/** Returns an absolute path of this machine in the form of a storage's paths. */
export function pathForStorage(storage: object, path: string): string {
  return hasWindowsPaths(storage) ? innerWindowsPath(path) : path;
}

/** Returns true for a path that is absolute under a policy with this form of paths, as a caller wrote it. */
export function isAbsolutePath(path: string, paths: SandboxPolicy["paths"]): boolean {
  return path.startsWith("/") || (paths === "windows" && /^(?:[A-Za-z]:)?[\\/]/u.test(path));
}

/** Returns the target of a link as Windows takes it: absolute with its drive, or relative. */
export function windowsLinkTarget(target: string): string {
  return target.startsWith("/") ? windowsHostPath(target) : target.replaceAll("/", "\\");
}
