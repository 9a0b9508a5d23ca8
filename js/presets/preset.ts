/**
 * The types of a preset: another system's tool names, parameters and texts as data over the
 * canonical tools. A preset computes nothing and touches no file; it converts a call to a
 * canonical one, and the answer to its text. At the end are texts that several presets share.
 */
import type { Code, FilewrightError } from "../engine/errors.ts";
import {
  anyText,
  callback,
  choice,
  flag,
  instance,
  list,
  nullable,
  type Options,
  options,
  required,
  text,
} from "../schema/option.ts";
import { LIMIT_OPTIONS, type Limits } from "../tools/lib/limits.ts";
import type { Names, Annotations, Call, Tool } from "../tools/lib/tool.ts";
import type { Aliases, Arguments, ObjectSchema, Schema } from "../tools/lib/schema.ts";
import type { ToolArgs, ToolData, ToolName } from "../tools/index.ts";
import { childOf } from "../backends/paths.ts";

/** The host's facts that a preset may use. */
export interface PresetHost {
  /** The user's home directory, if any. */
  readonly home?: string | undefined;
}

/** One parameter: its schema, and its canonical argument. */
export interface Param {
  /** The JSON Schema of its values. */
  readonly schema: Schema;
  /** Our argument; null if the preset handles it itself. */
  readonly to: string | null;
  /** Its value as ours. */
  readonly convert?: (value: never) => unknown;
  /** Converts our number to theirs. */
  readonly back?: (value: number) => number;
  /** Keys of the objects in a list: theirs → ours. */
  readonly keys?: Readonly<Record<string, string>>;
}

/** The input of a text. */
export interface RenderInput<Args = object, Data = unknown> {
  readonly data: Data;
  /** The checked canonical arguments. */
  readonly args: Args;
  /** The checked arguments of the preset. */
  readonly given: Arguments;
  readonly call: Call;
  /** The canonical text. */
  plain(): string;
}

/** The input of an error's text. */
export interface Refused {
  readonly code: Code;
  readonly error: FilewrightError;
  /** The path as typed, escaped. */
  readonly path: string;
  /** The canonical message with the preset's names. */
  readonly told: string;
  readonly given: Arguments;
  readonly names: Names;
}

/** The mapping to one canonical tool. */
export interface ToolMapping<Name extends ToolName = ToolName> {
  /** The tool of ours that does the work. */
  readonly of: Name;
  /** Its text needs no more than `Call.brief` promises. */
  readonly brief?: boolean;
  /** Its text is JSON: nothing is added behind it. */
  readonly json?: boolean;
  /** The text of a success; without it, ours. */
  readonly text?: (told: RenderInput<ToolArgs[Name], ToolData[Name]>) => string;
  /** The message of a failure; undefined, or without it: ours, in their names. */
  readonly refuse?: (refused: Refused) => string | undefined;
}

/** Another canonical tool, for some arguments. */
export interface Route<Name extends ToolName = ToolName> extends ToolMapping<Name> {
  readonly args: Arguments;
}

/** One tool of a preset, as data. */
export interface ToolSpec<Name extends ToolName = ToolName> extends ToolMapping<Name> {
  /** The name that models call it by. */
  readonly name: string;
  /** A name for people. Default: that of our tool. */
  readonly title?: string;
  /** For models. */
  readonly description: string;
  /** The parameters by their names. */
  readonly params: Readonly<Record<string, Param>>;
  /** The names of the parameters that must be given. */
  readonly required: readonly string[];
  /** Our arguments that always hold. */
  readonly fixed?: Arguments;
  /** Further spellings: alias → parameter. */
  readonly aliases?: Aliases;
  /** Names for our arguments that have no parameter: ours → theirs. */
  readonly called?: Aliases;
  /** Parameters that must be absolute paths. */
  readonly absolute?: readonly string[];
  /** Parameters in which a leading `~` is the user's home. */
  readonly home?: readonly string[];
  /** Our arguments completed from several of theirs. @throws FilewrightError INVALID_ARGUMENT */
  readonly arrange?: (args: Arguments, given: Arguments) => Arguments;
  /** The names of ignore files that are respected, given those of the workspace. */
  readonly ignoreFiles?: (files: readonly string[], given: Arguments) => readonly string[];
  /** A regular expression: lines that match it are left out of what a search finds. */
  readonly excludeLines?: (given: Arguments) => string | undefined;
  /** Another call for arguments with another meaning. */
  readonly route?: (given: Arguments) => Route | undefined;
  /** A second call if the first failed with this code. */
  readonly instead?: (code: Code, given: Arguments) => Route | undefined;
  /** The schema of structured answers, where it differs from ours. */
  readonly outputSchema?: ObjectSchema;
  /** Hints for hosts. Default: those of our tool. */
  readonly annotations?: Annotations;
  /** `read`: offered by a read-only workspace too, which refuses what would change files. */
  readonly kind?: "read" | "change";
}

/** A preset's call converted to a canonical one. */
export interface CanonicalCall {
  readonly tool: Tool;
  /** Canonical arguments, not checked yet. */
  readonly args: Arguments;
  readonly names: Names;
  /** The preset's argument names → canonical ones, for hooks that change arguments. */
  readonly ours: Aliases;
  /** See `Call.brief`. */
  readonly brief?: boolean;
  /** True when the texts of this preset have a fixed form: warnings are only in the data. */
  readonly fixedText?: boolean;
  /** True when the text is JSON. */
  readonly json?: boolean;
  ignoreFiles?(files: readonly string[]): readonly string[];
  /** See `Call.excludeLines`. */
  readonly excludeLines?: string | undefined;
  text?(data: unknown, args: object, call: Call): string;
  refuse?(error: FilewrightError, told: string): string;
}

/** One callable tool of a preset. */
export interface PresetTool {
  /** The name that models call it by. */
  readonly name: string;
  /** A name for people. */
  readonly title: string;
  /** For models: what it does and when to use it. */
  readonly description: string;
  /** The JSON Schema of its arguments. */
  readonly inputSchema: ObjectSchema;
  /** The JSON Schema of its data. */
  readonly outputSchema: ObjectSchema;
  /** Hints for hosts, as in the Model Context Protocol. */
  readonly annotations: Annotations;
  /** The effect of its calls: it reads, changes files, or runs other tools. */
  readonly kind: "read" | "change" | "batch";
  /** The canonical tool of most of its calls. */
  readonly tool: Tool;
  readonly names: Names;
  /** @throws FilewrightError INVALID_ARGUMENT in the preset's names */
  expand(given: unknown, host: PresetHost): CanonicalCall;
  /** Returns the call to make instead of one that failed, if there is one. */
  instead?(code: Code, given: unknown, host: PresetHost): CanonicalCall | undefined;
}

/** The access of a preset, when the host sets none. */
export interface PresetAccess {
  /** Roots must be listed, as absolute paths. */
  readonly listed?: boolean;
  /** Paths that may be read; null for everything. */
  readonly read?: readonly string[] | null;
  /** Paths that may be changed, relative to the working directory. */
  readonly write?: readonly string[];
  /** Directories are asked for when first used. */
  readonly prompt?: boolean;
}

/**
 * How a change of content that the agent has not seen is handled: made, made with a warning, or
 * refused.
 */
export type GuardLevel = "off" | "warn" | "refuse";

/** A preset: names, parameters and texts of another system. */
export interface Preset {
  /** The name of the preset. */
  readonly name: string;
  /** Whose tools these are. */
  readonly about: string;
  /** Its tools, in the order that models are shown. */
  readonly tools: readonly PresetTool[];
  /** The limits that differ from ours. */
  readonly limits: Partial<Limits>;
  /** The access of a workspace where the host sets none. */
  readonly access: PresetAccess;
  /** The `guard` of a workspace where the host sets none. Default `warn`. */
  readonly guard?: GuardLevel | undefined;
}

/** The definition of a preset. */
export interface PresetSpec {
  /** The name of the preset. */
  readonly name: string;
  /** Whose tools these are. */
  readonly about: string;
  /** Its tools, in the order that models are shown. */
  readonly tools: readonly ToolSpec[];
  /** The limits that differ from ours. Default none. */
  readonly limits?: Partial<Limits> | undefined;
  /** The access of a workspace where the host sets none. */
  readonly access?: PresetAccess | undefined;
  /** Texts have a fixed form: further information of an answer is only in its data. Default false. */
  readonly fixedText?: boolean | undefined;
  /** The `guard` of a workspace where the host sets none. Default `warn`, or `off` with `fixedText`. */
  readonly guard?: GuardLevel | undefined;
}

/** The access of a preset. */
export const PRESET_ACCESS_OPTIONS: Options<PresetAccess> = options("PresetAccess", {
  listed: flag(),
  read: nullable(list(text())),
  write: list(text()),
  prompt: flag(),
});

const PRESET_TOOL: Options<PresetTool> = instance<PresetTool>("PresetTool", "a tool of a preset", {
  name: required(text()),
  description: required(anyText()),
  kind: required(choice("read", "change", "batch")),
  expand: required(callback()),
  instead: callback(),
});

/** A preset, defined by this package or another. */
export const PRESET_OPTIONS: Options<Preset> = options("Preset", {
  name: required(text()),
  about: required(anyText()),
  tools: required(list(PRESET_TOOL)),
  limits: required(LIMIT_OPTIONS),
  access: required(PRESET_ACCESS_OPTIONS),
  guard: choice("off", "warn", "refuse"),
});

/** Returns another system's headline, followed by the canonical text. */
export function headed(headline: string, told: string): string {
  return told === "" ? headline : `${headline}\n${told}`;
}

/** Returns a diff without its last line ending. */
export function shownDiff({ diff }: { readonly diff: string }): string {
  return diff.replace(/\n$/u, "");
}

/** Returns a path of the data as an absolute one. */
export function absoluteIn(call: Call, path: string): string {
  return path.startsWith("/") ? path : path === "." ? call.access.cwd : childOf(call.access.cwd, path);
}

/** Returns the number of matches in the error of an edit tool. */
export function foundTimes(error: FilewrightError): number {
  const found = error.details?.["found"];
  return typeof found === "number" ? found : 0;
}

/** Returns the error about an ambiguous edit without the remedies that the reader lacks. */
export function editRefusal(error: FilewrightError, told: string, path: string, names: Names): string {
  if (error.code !== "MATCH_NOT_UNIQUE" || names.argument("replace_all") !== undefined) return told;
  const lines = error.details?.["lines"];
  const at = Array.isArray(lines) ? ` (lines ${lines.slice(0, MAX_LINES_SHOWN).join(", ")})` : "";
  return `${names.argument("old_text") ?? "The text"} occurs ${foundTimes(error)} times in ${path}${at}. Add surrounding lines to say which.`;
}

const MAX_LINES_SHOWN = 20;
