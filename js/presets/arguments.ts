/** Translates the arguments of a preset's tool to canonical ones and back, by the rows of its parameters. */
import { isAbsolutePath } from "../backends/windows-paths.ts";
import { FilewrightError } from "../engine/errors.ts";
import { escapeControls } from "../engine/escape.ts";
import { type Aliases, type Arguments, isPlain, withCanonicalKeys } from "../tools/lib/schema.ts";
import type { ReaderNames, Tool } from "../tools/lib/tool.ts";
import type { CanonicalCall, Param, PresetHost } from "./preset.ts";

/** The parameters of a tool, by their names. */
type Params = readonly (readonly [name: string, param: Param])[];

/**
 * Returns the aliases of a tool's parameters: the canonical names of its arguments, other systems' names for
 * paths, and those of the preset.
 */
export function parameterAliases(params: Params, of: Tool): Aliases {
  const own = new Set(params.map(([name]) => name));
  const aliases: Record<string, string> = {};
  const add = (alias: string, theirs: string): void => {
    if (!own.has(alias)) aliases[alias] ??= theirs;
  };
  for (const [theirs, { to, convert, keys }] of params) {
    // A value in another unit or base must not be accepted under the canonical name, where it would mean
    // something else.
    if (to === null || (convert !== undefined && keys === undefined)) continue;
    add(to, theirs);
    for (const [alias, ourName] of Object.entries(of.aliases ?? {})) if (ourName === to) add(alias, theirs);
  }
  for (const [theirs, { aliases: more = [] }] of params) for (const alias of more) add(alias, theirs);
  return Object.freeze(aliases);
}

/** Returns the names by which texts call tools and arguments; `called` finds the name of a canonical tool. */
export function namesForReader(params: Params, called: (of: string) => string | undefined): ReaderNames {
  const argument = new Map<string, string>();
  const back = new Map<string, (value: number) => number>();
  for (const [theirs, { to, called: shown, back: backwards, keys = {} }] of params) {
    const ours = to ?? shown;
    if (ours !== undefined) argument.set(ours, theirs);
    if (to !== null && backwards !== undefined) back.set(to, backwards);
    if (to !== null) for (const [key, name] of Object.entries(keys)) argument.set(name, key);
  }
  return Object.freeze({
    tool: called,
    argument: (name: string) => argument.get(name),
    value: (name: string, value: number) => back.get(name)?.(value) ?? value,
  });
}

/** Returns the preset's names of arguments whose values are the canonical ones → the canonical names. */
export function renamedArguments(params: Params): Aliases {
  const renamed = params.flatMap(([theirs, { to, convert, keys }]) =>
    to === null || to === theirs || convert !== undefined || keys !== undefined ? [] : [[theirs, to]],
  );
  return Object.freeze(Object.fromEntries(renamed));
}

/** Returns the canonical arguments for which checked arguments stand, and the fixed ones. */
export function toCanonicalArguments(params: Params, checked: Arguments, fixed: Arguments): Arguments {
  // Keys are assigned one by one, because adding them to a spread object takes ten times as long.
  const args: Record<string, unknown> = {};
  for (const name of Object.keys(fixed)) args[name] = fixed[name];
  for (const [theirs, { to, convert, keys }] of params) {
    const value = checked[theirs];
    if (to === null || value === undefined) continue;
    const renamed =
      keys === undefined ? value : (value as readonly Arguments[]).map((item) => renameKeys(item, keys));
    const converted = convert === undefined ? renamed : convert(renamed as never);
    if (converted !== undefined) args[to] = converted;
  }
  return args;
}

/**
 * Returns the function that spells arguments as the preset does: aliases become parameters, and in lists of
 * objects canonical keys become those of the preset; a list may mix both.
 */
export function spelledBy(tool: string, params: Params, aliases: Aliases): (given: unknown) => Arguments {
  const keyed = params.flatMap(([name, { keys }]) =>
    keys === undefined ? [] : [[name, invertKeys(keys)] as const],
  );
  const spelled = (args: Arguments): Arguments => {
    let result = args;
    for (const [name, theirs] of keyed) {
      const list = result[name];
      if (!Array.isArray(list) || !list.every(isPlain)) continue;
      result = { ...result, [name]: list.map((item) => withCanonicalKeys(tool, item, theirs)) };
    }
    return result;
  };
  return (given) => spelled(withCanonicalKeys(tool, given, aliases));
}

/**
 * Returns the function that expresses a canonical call as one of the preset's tool, with the arguments that were
 * given.
 */
export function resendBy(tool: string, params: Params, given: () => Arguments): CanonicalCall["resend"] {
  return ({ arguments: canonical }) => {
    const changed = toPresetArguments(params, canonical);
    return changed === undefined ? undefined : { tool, arguments: { ...given(), ...changed } };
  };
}

/** The canonical arguments that a retry changes. */
const RESENT_ARGUMENTS: ReadonlySet<string> = new Set(["old_text", "new_text", "edits", "patch"]);

/**
 * Returns the arguments of a preset that a retry changes; undefined when the preset takes one edit and the
 * retry has another number.
 */
function toPresetArguments(params: Params, canonical: Arguments): Arguments | undefined {
  const { old_text, new_text, replace_all } = canonical;
  const edits = (canonical["edits"] ?? [{ old_text, new_text, replace_all }]) as readonly Arguments[];
  const single = edits.length === 1 ? edits[0] : undefined;
  const args: Record<string, unknown> = {};
  for (const [theirs, { to, called, convert, keys }] of params) {
    const ours = to ?? called;
    if (ours === undefined || !RESENT_ARGUMENTS.has(ours) || convert !== undefined) continue;
    if (ours === "edits") args[theirs] = edits.map((edit) => presetEdit(edit, keys ?? {}));
    else args[theirs] = ours === "patch" ? canonical[ours] : single?.[ours];
    if (args[theirs] === undefined) return undefined;
  }
  return args;
}

/** Returns an edit with the keys of a preset, without what the preset has no key for. */
function presetEdit(edit: Arguments, keys: Readonly<Record<string, string>>): Arguments {
  const known = Object.entries(keys).filter(([, ours]) => edit[ours] !== undefined);
  return Object.fromEntries(known.map(([theirs, ours]) => [theirs, edit[ours]]));
}

/**
 * Returns checked arguments with the paths as their parameters accept them. @throws FilewrightError
 * INVALID_ARGUMENT for a relative path where an absolute one is demanded
 */
export function withHostPaths(tool: string, params: Params, checked: Arguments, host: PresetHost): Arguments {
  const args = { ...checked };
  for (const [name, { path }] of params) {
    if (path === "home") args[name] = expandHomePath(args[name], host);
    if (path === "absolute") assertAbsolute(tool, name, args[name], host);
  }
  return args;
}

/**
 * Returns the text of an error without the home directory, if a given path begins with `~`: the caller did not
 * name the directory.
 */
export function withoutHomePath(told: string, given: unknown, host: PresetHost): string {
  const { home } = host;
  const isNamed =
    isPlain(given) && Object.values(given).some((value) => expandHomePath(value, host) !== value);
  return home === undefined || !isNamed ? told : told.replaceAll(home, "~");
}

function expandHomePath(path: unknown, { home, paths }: PresetHost): unknown {
  if (home === undefined || typeof path !== "string") return path;
  const isBelow = path.startsWith("~/") || (paths === "windows" && path.startsWith("~\\"));
  return path === "~" || isBelow ? home + path.slice(1) : path;
}

/** Creates the error for an invalid argument of a preset's tool. `what` completes the sentence. */
export function wrongArgumentError(tool: string, argument: string, what: string): FilewrightError {
  return new FilewrightError("INVALID_ARGUMENT", `Invalid argument '${argument}': ${what}.`, {
    complete: true,
    details: { tool, argument },
  });
}

function assertAbsolute(tool: string, argument: string, path: unknown, { paths }: PresetHost): void {
  if (typeof path !== "string" || isAbsolutePath(path, paths)) return;
  throw new FilewrightError(
    "INVALID_ARGUMENT",
    `Invalid argument '${argument}': it must be an absolute path, got '${escapeControls(path).slice(0, 80)}'.`,
    { complete: true, path, details: { tool, argument } },
  );
}

/** Returns the object with its keys renamed; other keys stay. */
function renameKeys(item: Arguments, keys: Readonly<Record<string, string>>): Arguments {
  return Object.fromEntries(Object.entries(item).map(([key, value]) => [keys[key] ?? key, value]));
}

function invertKeys(keys: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(keys).map(([theirs, ours]) => [ours, theirs]));
}
