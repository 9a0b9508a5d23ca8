/**
 * The types of a preset: the tools of another system, described as data over the canonical tools. A preset
 * translates a call to a canonical call, and the answer to a text. It computes nothing else and accesses no
 * file. Texts that several presets share are at the end.
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
import { LIMIT_OPTIONS, type WorkspaceLimits } from "../tools/lib/limits.ts";
import type { RetryCall } from "../tools/lib/retry.ts";
import type { AnyTool, ReaderNames, Annotations, Call, Tool } from "../tools/lib/tool.ts";
import type { Aliases, Arguments, ObjectSchema, Schema } from "../tools/lib/schema.ts";
import type { Meaning, Meant } from "./meaning.ts";
import { childOf } from "../backends/paths.ts";
import type { SandboxPolicy } from "../backends/policy.ts";
import { isAbsolutePath, displayPath } from "../backends/windows-paths.ts";

/** Facts about the host that a preset may use. */
export interface PresetHost {
  /** The absolute path of the user's home directory; undefined when there is none. */
  readonly home?: string | undefined;
  /** `windows` when the paths are those of a Windows disk, where `C:\repo\a.ts` is absolute. */
  readonly paths?: SandboxPolicy["paths"];
}

/** One parameter of a preset's tool: its schema, and the canonical argument for which it stands. */
export interface Param {
  /** The JSON Schema of its values. */
  readonly schema: Schema;
  /** The canonical argument that receives the value; null if the preset handles the parameter itself. */
  readonly to: string | null;
  /** Converts a value of the parameter to one of the canonical argument. Default: the same value. */
  readonly convert?: (value: never) => unknown;
  /** Converts a number of the canonical argument to one of the parameter, for texts that tell how to continue. */
  readonly back?: (value: number) => number;
  /**
   * For a parameter that is a list of objects: the keys of the preset and the canonical keys for which they
   * stand.
   */
  readonly keys?: Readonly<Record<string, string>>;
  /** A canonical argument that texts call by the name of this parameter, which `means` handles itself. */
  readonly called?: string;
  /**
   * For a path: `absolute` refuses a relative one; with `home` a leading `~` means the user's home directory.
   * Default: neither.
   */
  readonly path?: "absolute" | "home";
  /** Other accepted spellings of the parameter's name. */
  readonly aliases?: readonly string[];
}

/** One tool of a preset, as data; {@link tool} makes it. */
export interface ToolSpec {
  /** The name that models call it by. */
  readonly name: string;
  /** The name that people see. */
  readonly title: string;
  /** The description for models. */
  readonly description: string;
  /** The parameters, by their names. */
  readonly params: Readonly<Record<string, Param>>;
  /** The names of the parameters that must be given. */
  readonly required: readonly string[];
  /** What its calls mean: the canonical call for the arguments that were sent, and the texts of its answer. */
  readonly means: Meaning;
}

/** A call of a preset's tool, converted to a canonical call. */
export interface CanonicalCall {
  readonly tool: Tool;
  /** The canonical arguments, before they are checked. */
  readonly args: Arguments;
  readonly names: ReaderNames;
  /** The preset's names of arguments → canonical ones, so that hooks can change arguments by either name. */
  readonly ours: Aliases;
  /** See `Call.brief`. */
  readonly brief: boolean;
  /** True when the texts of the preset have a fixed form, so that warnings appear only in the data. */
  readonly fixedText: boolean;
  /** True when the text is JSON, so that no note is appended to it. */
  readonly json: boolean;
  /** See `Meant.ignoreFiles`. */
  readonly ignoreFiles: Meant["ignoreFiles"];
  /** See `Call.excludeLines`. */
  readonly excludeLines: string | undefined;
  /** Returns the text of an answer; undefined for the canonical text. */
  readonly text: AnyTool["texts"]["render"] | undefined;
  /** Returns the message of a failed call, given the canonical one. */
  refuse(error: FilewrightError, told: string): string;
  /** Returns a canonical call as one of the preset; undefined when the preset cannot express it. */
  resend(call: RetryCall): RetryCall | undefined;
}

/** Returns the canonical call that a tool makes whose calls are those of a canonical tool already. */
export function sameCall(tool: Tool, args: Arguments, names: ReaderNames): CanonicalCall {
  return {
    ...{ tool, args, names, ours: {} },
    ...{ brief: false, fixedText: false, json: false },
    ...{ ignoreFiles: undefined, excludeLines: undefined, text: undefined },
    refuse: (_error, told) => told,
    resend: (retry) => retry,
  };
}

/** One callable tool of a preset. */
export interface PresetTool {
  /** The name that models call it by. */
  readonly name: string;
  /** The name that people see. */
  readonly title: string;
  /** The text for models that says what the tool does and when to use it. */
  readonly description: string;
  /** The JSON Schema of its arguments. */
  readonly inputSchema: ObjectSchema;
  /** The JSON Schema of its data. */
  readonly outputSchema: ObjectSchema;
  /** Hints for hosts, as in the Model Context Protocol. */
  readonly annotations: Annotations;
  /** The effect of its calls: read, change files, or run other tools. */
  readonly kind: "read" | "change" | "batch";
  /** The canonical tool of its calls, except of those that arguments route to another one. */
  readonly tool: Tool;
  /** True when some calls are routed to another canonical tool. */
  readonly routes?: boolean;
  readonly names: ReaderNames;
  /** Converts a call to a canonical call. @throws FilewrightError INVALID_ARGUMENT in the preset's names */
  expand(given: unknown, host: PresetHost): CanonicalCall;
  /** Returns the call to make in place of one that failed with this code; undefined for none. */
  instead?(code: Code, given: unknown, host: PresetHost): CanonicalCall | undefined;
}

/** The access of a workspace with this preset, where the host sets none. */
export interface PresetAccess {
  /** True when the host must list the roots as absolute paths. Default false. */
  readonly listed?: boolean;
  /** The directories that may be read; null for everything. */
  readonly read?: readonly string[] | null;
  /** The directories that may be changed, relative to the working directory. */
  readonly write?: readonly string[];
  /** True when the user is asked for each directory at its first use. Default false. */
  readonly prompt?: boolean;
}

/**
 * What happens when a call would change content that the agent has not seen: it is made (`off`), made with a
 * warning (`warn`), or refused (`refuse`).
 */
export type GuardLevel = "off" | "warn" | "refuse";

/** A preset: the tools of another system. */
export interface Preset {
  /** The name of the preset. */
  readonly name: string;
  /** The system that has these tools. */
  readonly about: string;
  /** The tools, in the order in which models see them. */
  readonly tools: readonly PresetTool[];
  /** The limits that differ from the usual ones. */
  readonly limits: Partial<WorkspaceLimits>;
  /** The access of a workspace, where the host sets none. */
  readonly access: PresetAccess;
  /** The `guard` of a workspace where the host sets none. Default `warn`. */
  readonly guard?: GuardLevel | undefined;
}

/** The definition of a preset. */
export interface PresetSpec {
  /** The name of the preset. */
  readonly name: string;
  /** The system that has these tools. */
  readonly about: string;
  /** The tools, in the order in which models see them. */
  readonly tools: readonly ToolSpec[];
  /** The limits that differ from the usual ones. Default: none. */
  readonly limits?: Partial<WorkspaceLimits> | undefined;
  /** The access of a workspace, where the host sets none. Default: that of any workspace. */
  readonly access?: PresetAccess | undefined;
  /**
   * True when texts have a fixed form, so that further information about an answer appears only in its data.
   * Default false.
   */
  readonly fixedText?: boolean | undefined;
  /** The `guard` of a workspace where the host sets none. Default `warn`, or `off` with `fixedText`. */
  readonly guard?: GuardLevel | undefined;
}

/** The option `access` of a preset. */
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

/** The type of a preset that is passed as an option, whether this package or another one defined it. */
export const PRESET_OPTIONS: Options<Preset> = options("Preset", {
  name: required(text()),
  about: required(anyText()),
  tools: required(list(PRESET_TOOL)),
  limits: required(LIMIT_OPTIONS),
  access: required(PRESET_ACCESS_OPTIONS),
  guard: choice("off", "warn", "refuse"),
});

/** Returns the headline of the other system, followed by the canonical text. */
export function withHeadline(headline: string, told: string): string {
  return told === "" ? headline : `${headline}\n${told}`;
}

/** Returns a diff without its last line ending. */
export function diffWithoutLastEnding({ diff }: { readonly diff: string }): string {
  return diff.replace(/\n$/u, "");
}

/** Returns the absolute path for a path in data, as answers show it. */
export function absolutePathIn(call: Call, path: string): string {
  const { cwd, paths } = call.reach.summary;
  if (isAbsolutePath(path, paths)) return path;
  return displayPath(path === "." ? cwd : childOf(cwd, path), paths);
}

/** Returns the number of matches in the error of an edit; 0 when it states none. */
export function matchCountOf(error: FilewrightError): number {
  const found = error.details?.["found"];
  return typeof found === "number" ? found : 0;
}

/**
 * Returns the canonical message about an ambiguous edit, without remedies for which the preset has no
 * argument.
 */
export function ambiguousEditMessage(
  error: FilewrightError,
  told: string,
  path: string,
  names: ReaderNames,
): string {
  if (error.code !== "MATCH_NOT_UNIQUE" || names.argument("replace_all") !== undefined) return told;
  const lines = error.details?.["lines"];
  const at = Array.isArray(lines) ? ` (lines ${lines.slice(0, MAX_SHOWN_MATCH_LINES).join(", ")})` : "";
  return `${names.argument("old_text") ?? "The text"} occurs ${matchCountOf(error)} times in ${path}${at}. Add surrounding lines to say which.`;
}

const MAX_SHOWN_MATCH_LINES = 20;
