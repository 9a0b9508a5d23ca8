/** Makes the policy of a workspace from its options: its roots in absolute form, and what its preset adds. */
import type { Files } from "../backends/files.ts";
import { hasWindowsPaths, innerWindowsPath, isAbsolutePath, withPathsOf } from "../backends/windows-paths.ts";
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import { unicodeFormsOfGlob } from "../policy/glob-forms.ts";
import { SandboxPolicy } from "../policy/index.ts";
import type { PresetAccess } from "../presets/index.ts";
import type { CheckedOptions } from "./check.ts";
import type { AccessOptions } from "./options.ts";

/**
 * Creates the policy. Relative roots start from `base`. `unreachable` are further denied globs that are not shown to
 * callers.
 */
export function policyOfRoots(
  options: CheckedOptions,
  preset: PresetAccess | undefined,
  storage: Files,
  base: string,
  unreachable: readonly string[],
): SandboxPolicy {
  const windows = hasWindowsPaths(storage);
  const absolute = (path: string, from = base): string => {
    if (windows) return engine().windows.root(path, from === "/" ? "/C:" : innerWindowsPath(from));
    return path.startsWith("/") ? path : `${from === "/" ? "" : from}/${path}`;
  };
  const roots = (options.roots ?? []).map(({ path, access }) => ({
    path: absolute(path),
    write: access === "write",
  }));
  const access = accessWithPreset(options, preset, windows);
  const cwd = options.cwd === undefined ? roots[0]?.path : absolute(options.cwd);
  if (cwd === undefined)
    throw new FilewrightError(
      "INVALID_ARGUMENT",
      `give a root: the directory to work in, as openWorkspace("/repo") or openWorkspace({ root: "/repo" })`,
    );
  // Relative entries of the lists start from the working directory of the workspace.
  const listed = (list: readonly string[]): readonly string[] =>
    windows ? list.map((path) => absolute(path, cwd)) : list;
  const policy = SandboxPolicy.allowList({
    cwd,
    read: access.read === undefined ? roots.map((root) => root.path) : access.read && listed(access.read),
    write: listed(access.write ?? roots.filter((root) => root.write).map((root) => root.path)),
    deny: access.deny,
    protect: access.protect ?? true,
    places: access.places,
    secrets: access.secrets ?? "grant",
    readOnly: options.readOnly === true || access.readOnly === true,
    followSymlinks: access.followSymlinks,
  });
  const own = withPathsOf(storage, policy);
  // These are in the internal form, in which a backslash only escapes.
  return Object.freeze({
    ...own,
    deny: Object.freeze([...own.deny, ...unreachable.flatMap(unicodeFormsOfGlob)]),
  });
}

/** Returns the access options, with those of the preset where the host sets none. @throws INVALID_ARGUMENT */
function accessWithPreset(
  options: CheckedOptions,
  preset: PresetAccess | undefined,
  windows: boolean,
): AccessOptions {
  const { roots, rootAlone, access = {} } = options;
  if (preset?.listed === true) assertListedRoots(options, windows);
  if (preset === undefined || (roots !== undefined && !rootAlone)) return access;
  const [read, write] = [access.read ?? preset.read, access.write ?? preset.write];
  // With the option `root`, the root is the writable directory instead of those of the preset.
  return {
    ...access,
    ...(access.read === undefined && read !== undefined ? { read } : {}),
    ...(access.write === undefined && write !== undefined && !rootAlone ? { write } : {}),
  };
}

/** Checks that the roots are a list of absolute paths. @throws FilewrightError INVALID_ARGUMENT */
function assertListedRoots({ roots = [], access = {} }: CheckedOptions, windows: boolean): void {
  const isAbsolute = (path: string): boolean => isAbsolutePath(path, windows ? "windows" : undefined);
  const named = roots.map(({ path }) => path);
  const read = access.read === undefined ? named : access.read;
  const wrong =
    read === null || read.length === 0
      ? "needs a list of the directories that may be used"
      : [...named, ...read, ...(access.write ?? [])].some((entry) => !isAbsolute(entry))
        ? "needs absolute paths for its directories"
        : undefined;
  if (wrong !== undefined) throw new FilewrightError("INVALID_ARGUMENT", `this preset ${wrong}`);
}
