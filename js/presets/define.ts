/** Creates the callable tools of a preset from its data: schemas, aliases, names and texts. */
import { isAbsolutePath } from "../backends/windows-paths.ts";
import { FilewrightError, type Code } from "../engine/errors.ts";
import { optionChecker } from "../schema/option.ts";
import {
  type Aliases,
  withCanonicalKeys,
  type Arguments,
  compileArgumentCheck,
  isPlain,
  object,
  type Schema,
} from "../tools/lib/schema.ts";
import { TOOLS, type ToolName } from "../tools/index.ts";
import type { ReaderNames, Call, Tool } from "../tools/lib/tool.ts";
import { withEmptyOldTextHint } from "../tools/edit/arguments.ts";
import { escapeControls } from "../engine/escape.ts";
import {
  type CanonicalCall,
  type Param,
  type Preset,
  type PresetHost,
  type PresetSpec,
  type PresetTool,
  type Refused,
  type Route,
  type RenderInput,
  type ToolSpec,
  type ToolMapping,
  ambiguousEditMessage,
} from "./preset.ts";
import { PRESET_SPEC_OPTIONS } from "./spec-options.ts";

/**
 * Defines a parameter. `to` is the canonical argument that receives its value; null if the preset handles it
 * itself.
 */
export function param(to: string | null, schema: Schema, more: Omit<Param, "to" | "schema"> = {}): Param {
  return { to, schema, ...more };
}

/** Defines a tool of a preset. Its property `of` determines the types that its texts receive. */
export function tool<Name extends ToolName>(spec: ToolSpec<Name>): ToolSpec {
  return spec as unknown as ToolSpec;
}

/** Defines a call of another canonical tool, which some arguments need. */
export function route<Name extends ToolName>(way: Route<Name>): Route {
  return way as unknown as Route;
}

const checkSpec = optionChecker("definePreset", PRESET_SPEC_OPTIONS);

/**
 * Defines a preset. Its parts are checked now, so that an error is found before a tool is called.
 *
 * @throws FilewrightError INVALID_ARGUMENT naming the invalid part
 */
export function definePreset(given: PresetSpec): Preset {
  const spec = checkSpec(given);
  const preset = presetOf(spec, () => spec);
  // Creates the tools now, so that a schema that cannot be compiled is reported here.
  void preset.tools;
  return preset;
}

/**
 * Creates a preset of this package. Its tools are checked and created when they are first used, because a
 * process uses one of many presets, and creating all of them would slow down every start.
 */
export function buildPreset(spec: PresetSpec): Preset {
  return presetOf(spec, () => checkSpec(spec));
}

/** Returns a preset whose tools are made on first use, from the specification that `checked` returns. */
function presetOf(preset: PresetSpec, checked: () => PresetSpec): Preset {
  const called = (of: string): string | undefined => preset.tools.find((spec) => spec.of === of)?.name;
  let tools: readonly PresetTool[] | undefined;
  return Object.freeze({
    name: preset.name,
    about: preset.about,
    get tools(): readonly PresetTool[] {
      tools ??= Object.freeze(
        checked().tools.map((spec) => makePresetTool(spec, called, preset.fixedText === true)),
      );
      return tools;
    },
    limits: Object.freeze(preset.limits ?? {}),
    access: Object.freeze(preset.access ?? {}),
    guard: preset.guard ?? (preset.fixedText === true ? "off" : "warn"),
  });
}

function canonicalToolOf(name: ToolName): Tool {
  return TOOLS.find((tool) => tool.name === name) as Tool;
}

function makePresetTool(
  spec: ToolSpec,
  called: (of: string) => string | undefined,
  fixedText: boolean,
): PresetTool {
  const of = canonicalToolOf(spec.of);
  const inputSchema = object(
    Object.fromEntries(Object.entries(spec.params).map(([name, { schema }]) => [name, schema])),
    spec.required,
  );
  const aliases = argumentAliasesOf(spec, of);
  const params = Object.entries(spec.params);
  const names = namesForReader(params, called, spec.called);
  const plain = compileArgumentCheck<Arguments>(spec.name, inputSchema);
  const parse =
    spec.of === "edit_file" && !fixedText
      ? withEmptyOldTextHint(plain, names.argument("old_text"), names.tool("write_file"))
      : plain;
  const ours: Aliases = Object.freeze(
    Object.fromEntries(
      params.flatMap(([theirs, { to, convert, keys }]) =>
        to === null || to === theirs || convert !== undefined || keys !== undefined ? [] : [[theirs, to]],
      ),
    ),
  );

  const spelled = spelledBy(spec.name, params, aliases);
  const understood = (given: unknown, host: PresetHost): Arguments => {
    const checked: Record<string, unknown> = {
      ...parse(spelled(given)),
    };
    for (const name of spec.home ?? []) checked[name] = expandHomePath(checked[name], host);
    for (const name of spec.absolute ?? []) assertAbsolute(spec.name, name, checked[name], host);
    return checked;
  };
  const meant = (way: ToolMapping, tool: Tool, args: Arguments, given: Arguments): CanonicalCall => ({
    tool,
    args,
    names,
    ours,
    brief: way.brief === true,
    fixedText,
    json: way.json === true,
    ...(spec.ignoreFiles === undefined
      ? {}
      : { ignoreFiles: (files: readonly string[]) => spec.ignoreFiles?.(files, given) ?? files }),
    ...(spec.excludeLines === undefined ? {} : { excludeLines: spec.excludeLines(given) }),
    ...(way.text === undefined ? {} : { text: renderTextBy(way.text, tool, given) }),
    refuse: (error, told) => refusalMessageBy(way, error, told, given, names),
    resend: NONE,
  });
  const arranged = spec.arrange ?? ((args: Arguments): Arguments => args);
  /**
   * Wraps a conversion so that an error about a path which begins with `~` does not reveal the home
   * directory.
   */
  const discreet = (found: CanonicalCall, given: unknown, host: PresetHost): CanonicalCall => {
    const { home } = host;
    const said =
      isPlain(given) && Object.values(given).some((value) => expandHomePath(value, host) !== value);
    if (spec.home === undefined || !said || home === undefined) return found;
    return {
      ...found,
      refuse: (error, told) => (found.refuse?.(error, told) ?? told).replaceAll(home, "~"),
    };
  };

  return Object.freeze({
    ...factsOf(spec, of),
    inputSchema,
    names,
    expand(given: unknown, host: PresetHost): CanonicalCall {
      const checked = understood(given, host);
      const other = spec.route?.(checked);
      const found =
        other === undefined
          ? meant(spec, of, arranged(toCanonicalArguments(params, checked, spec.fixed), checked), checked)
          : meant(other, canonicalToolOf(other.of), other.args, checked);
      const resend = resendFor(spec.name, params, () => spelled(given), other);
      return discreet(resendingBy(resend, found), given, host);
    },
    ...(spec.instead === undefined
      ? {}
      : {
          instead(code: Code, given: unknown, host: PresetHost): CanonicalCall | undefined {
            const checked = understood(given, host);
            const other = spec.instead?.(code, checked);
            return other === undefined
              ? undefined
              : meant(other, canonicalToolOf(other.of), other.args, checked);
          },
        }),
  });
}

/** Returns what a tool of a preset says about itself, where it differs from the canonical tool. */
function factsOf(spec: ToolSpec, of: Tool): Omit<PresetTool, "inputSchema" | "names" | "expand" | "instead"> {
  return {
    name: spec.name,
    title: spec.title ?? of.title,
    description: spec.description,
    outputSchema: spec.outputSchema ?? of.outputSchema,
    annotations: spec.annotations ?? of.annotations,
    kind: spec.kind ?? of.kind,
    tool: of,
    routes: spec.route !== undefined || spec.instead !== undefined,
  };
}

/**
 * Returns the aliases of a tool: the canonical names of its arguments, other systems' names for paths, and
 * those of the preset.
 */
function argumentAliasesOf(spec: ToolSpec, of: Tool): Aliases {
  const aliases: Record<string, string> = {};
  const add = (alias: string, theirs: string): void => {
    if (!Object.hasOwn(spec.params, alias)) aliases[alias] ??= theirs;
  };
  for (const [theirs, { to, convert, keys }] of Object.entries(spec.params)) {
    // A value in another unit or base must not be accepted under the canonical name, where it would mean
    // something else.
    if (to === null || (convert !== undefined && keys === undefined)) continue;
    add(to, theirs);
    for (const [alias, ourName] of Object.entries(of.aliases ?? {})) if (ourName === to) add(alias, theirs);
  }
  for (const [alias, theirs] of Object.entries(spec.aliases ?? {})) add(alias, theirs);
  return Object.freeze(aliases);
}

function namesForReader(
  params: readonly (readonly [string, Param])[],
  called: (of: string) => string | undefined,
  more: Aliases = {},
): ReaderNames {
  const argument = new Map<string, string>(Object.entries(more));
  const back = new Map<string, (value: number) => number>();
  for (const [theirs, { to, back: backwards, keys = {} }] of params) {
    if (to === null) continue;
    argument.set(to, theirs);
    if (backwards !== undefined) back.set(to, backwards);
    for (const [key, ours] of Object.entries(keys)) argument.set(ours, key);
  }
  return Object.freeze({
    tool: called,
    argument: (name: string) => argument.get(name),
    value: (name: string, value: number) => back.get(name)?.(value) ?? value,
  });
}

function toCanonicalArguments(
  params: readonly (readonly [string, Param])[],
  checked: Arguments,
  fixed: Arguments = {},
): Arguments {
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
function spelledBy(
  tool: string,
  params: readonly (readonly [string, Param])[],
  aliases: Aliases,
): (given: unknown) => Arguments {
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

/** Returns the function that expresses a canonical call as one of the preset, with the arguments that were given. */
function resendFor(
  tool: string,
  params: readonly (readonly [string, Param])[],
  given: () => Arguments,
  other: Route | undefined,
): CanonicalCall["resend"] {
  const resent = other?.resent;
  if (other !== undefined && resent === undefined) return NONE;
  return ({ arguments: canonical }) => {
    const changed =
      resent === undefined ? toPresetArguments(params, canonical) : toRoutedArguments(resent, canonical);
    if (changed === undefined) return undefined;
    return { tool, arguments: { ...given(), ...changed } };
  };
}

function resendingBy(resend: CanonicalCall["resend"], call: CanonicalCall): CanonicalCall {
  return { ...call, resend };
}

/** A canonical call that no call of the preset expresses. */
const NONE = (): undefined => undefined;

/** The canonical arguments that a retry changes. */
const RESENT_ARGUMENTS: ReadonlySet<string> = new Set(["old_text", "new_text", "edits", "patch"]);

/**
 * Returns the arguments of a preset that a retry changes; undefined when the preset takes one edit and the
 * retry has another number.
 */
function toPresetArguments(
  params: readonly (readonly [string, Param])[],
  canonical: Arguments,
): Arguments | undefined {
  const { old_text, new_text, replace_all } = canonical;
  const edits = (canonical["edits"] ?? [{ old_text, new_text, replace_all }]) as readonly Arguments[];
  const single = edits.length === 1 ? edits[0] : undefined;
  const args: Record<string, unknown> = {};
  for (const [theirs, { to, convert, keys }] of params) {
    if (to === null || !RESENT_ARGUMENTS.has(to) || convert !== undefined) continue;
    if (to === "edits") args[theirs] = edits.map((edit) => presetEdit(edit, keys ?? {}));
    else args[theirs] = to === "patch" ? canonical[to] : single?.[to];
    if (args[theirs] === undefined) return undefined;
  }
  return args;
}

/** Returns an edit with the keys of a preset, without what the preset has no key for. */
function presetEdit(edit: Arguments, keys: Readonly<Record<string, string>>): Arguments {
  const known = Object.entries(keys).filter(([, ours]) => edit[ours] !== undefined);
  return Object.fromEntries(known.map(([theirs, ours]) => [theirs, edit[ours]]));
}

/** Returns the arguments of a routed call that a retry changes; undefined when one is missing. */
function toRoutedArguments(resent: Aliases, canonical: Arguments): Arguments | undefined {
  const args = Object.entries(resent).map(([ours, theirs]) => [theirs, canonical[ours]] as const);
  return args.every(([, value]) => value !== undefined) ? Object.fromEntries(args) : undefined;
}

/** Returns the object with its keys renamed; other keys stay. */
function renameKeys(item: Arguments, keys: Readonly<Record<string, string>>): Arguments {
  return Object.fromEntries(Object.entries(item).map(([key, value]) => [keys[key] ?? key, value]));
}

function invertKeys(keys: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(keys).map(([theirs, ours]) => [ours, theirs]));
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

function renderTextBy(
  text: (told: RenderInput<never, never>) => string,
  tool: Tool,
  given: Arguments,
): (data: unknown, args: object, call: Call) => string {
  const ours = tool as unknown as { render(data: unknown, args: object, call: Call): string };
  return (data, args, call) => {
    const told = { data, args, given, call, plain: () => ours.render(data, args, call) };
    return text(told as unknown as RenderInput<never, never>);
  };
}

function refusalMessageBy(
  way: ToolMapping,
  error: FilewrightError,
  told: string,
  given: Arguments,
  names: ReaderNames,
): string {
  const { code } = error;
  const path = escapeControls(error.path ?? "");
  const refused: Refused = {
    code,
    error,
    path,
    told: ambiguousEditMessage(error, told, path, names),
    given,
    names,
  };
  return way.refuse?.(refused) ?? refused.told;
}
