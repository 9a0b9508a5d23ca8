/**
 * The common part of all adapters: which tools are offered, under whose name they are called, and
 * which calls need an approval.
 */
import { FilewrightError } from "../engine/errors.ts";
import { decide, type DecisionSource, selectionSource } from "../policy/index.ts";
import type { Preset, PresetName } from "../presets/index.ts";
import { nearest } from "../schema/nearest.ts";
import {
  callback,
  choice,
  either,
  optionChecker,
  list,
  type OptionalOption,
  type Options,
  options,
  type Rows,
  text,
} from "../schema/option.ts";
import { PRESET_OPTION } from "../presets/index.ts";
import { assertWorkspace } from "../workspace/given-workspace.ts";
import { type ToolDefinition, toolsFor, type ToolResult, type Workspace } from "../workspace/index.ts";

/** The options that select and name the tools of an agent. */
export interface AdapterOptions {
  /** The preset whose names, parameters and texts the tools have. Default: the preset of the workspace. */
  readonly preset?: PresetName | Preset | undefined;
  /** The names of the tools that are offered. Default: all. */
  readonly include?: readonly string[] | undefined;
  /** The names of tools that are not offered. */
  readonly exclude?: readonly string[] | undefined;
  /** The name of the caller. Each caller has its own record of reads and its own lines in logs. */
  readonly agent?: string | undefined;
}

/** A call that may need an approval. */
export interface ApprovalQuestion {
  readonly tool: string;
  /** The arguments as the model wrote them; not checked yet. */
  readonly args: Readonly<Record<string, unknown>>;
}

/**
 * Selects the calls that the framework asks about before they are made: none, those that change
 * files, those that can destroy something, all, or by a function. The question shows the
 * arguments. For a question with the diff, whose answer is bound to the exact bytes, give the
 * workspace `confirm` instead.
 */
export type Approve =
  | "never"
  | "changes"
  | "destructive"
  | "always"
  | ((question: ApprovalQuestion) => boolean | Promise<boolean>);

/** Options for frameworks with approvals. */
export interface ApprovingOptions extends AdapterOptions {
  /** The calls that the framework asks about. Default `never`: only the rules and hooks of the workspace decide. */
  readonly approve?: Approve | undefined;
}

/** The options of an object that one agent uses. */
export interface CallerOptions {
  /** The name of the caller. Each caller has its own record of reads and its own lines in logs. */
  readonly agent?: string | undefined;
}

/** The rows that the option tables of all adapters share. */
export const SHARED_OPTION_ROWS: Rows<AdapterOptions> = {
  preset: PRESET_OPTION,
  include: list(text()),
  exclude: list(text()),
  agent: text(),
};

/** The option `approve`. */
export const APPROVE_OPTION: OptionalOption<Approve> = either(
  choice("never", "changes", "destructive", "always"),
  callback<(question: ApprovalQuestion) => boolean | Promise<boolean>>(),
);

/** The options that every adapter takes. */
export const ADAPTER_OPTIONS: Options<AdapterOptions> = options("AdapterOptions", SHARED_OPTION_ROWS);

/** The options for frameworks with approvals. */
export const APPROVING_OPTIONS: Options<ApprovingOptions> = options("ApprovingOptions", {
  ...SHARED_OPTION_ROWS,
  approve: APPROVE_OPTION,
});

/** The options for objects that belong to one agent. */
export const CALLER_OPTIONS: Options<CallerOptions> = options("CallerOptions", { agent: text() });

/** The options of functions that only select the calls which the framework asks about. */
export const PRESET_CHOICE_OPTIONS: Options<Pick<AdapterOptions, "preset">> = options("AdapterOptions", {
  preset: PRESET_OPTION,
});

const checkApprove = optionChecker("approve", APPROVE_OPTION);

/**
 * Returns the check of what the function `entry` of an adapter is given: an open workspace, and the options of a table.
 * @throws FilewrightError INVALID_ARGUMENT, when the check is called
 */
export function adapterChecker<T>(entry: string, table: Options<T>): (ws: Workspace, given: T) => T {
  const check = optionChecker(entry, table);
  return (ws, given) => {
    assertWorkspace(entry, ws);
    return check(given);
  };
}

/** The values that the framework passes to a call in addition to its arguments. */
export interface CallContext {
  readonly signal?: AbortSignal | null | undefined;
  /** The record of the call in the framework, which is passed to hooks. */
  readonly toolCall?: unknown;
}

/** One offered tool, whose calls are made under the name of the agent. */
export interface AdapterTool extends Omit<ToolDefinition, "execute"> {
  call(args: unknown, context?: CallContext): Promise<ToolResult>;
}

/**
 * Returns the tools of a workspace that the options select.
 *
 * @throws FilewrightError INVALID_ARGUMENT for a name that no tool has
 */
export function selectTools(ws: Workspace, options: AdapterOptions = {}): readonly AdapterTool[] {
  const { preset, include, exclude = [], agent } = options;
  const all = preset === undefined ? ws.tools : toolsFor(ws, preset);
  const names = all.map(({ name }) => name);
  for (const name of [...(include ?? []), ...exclude]) {
    if (names.includes(name)) continue;
    const close = nearest(name, names);
    throw new FilewrightError(
      "INVALID_ARGUMENT",
      `there is no tool '${name}' to include or exclude; ${close === undefined ? `there are ${names.join(", ")}` : `did you mean '${close}'?`}`,
    );
  }
  return all
    .filter(({ name }) => (include?.includes(name) ?? true) && !exclude.includes(name))
    .map(({ execute, ...rest }) => ({
      ...rest,
      call: (args, { signal, toolCall } = {}) =>
        execute(args, {
          ...(signal === undefined || signal === null ? {} : { signal }),
          ...(toolCall === undefined ? {} : { toolCall }),
          ...(agent === undefined ? {} : { agent }),
        }),
    }));
}

/**
 * Returns a tool by its canonical name, whatever the preset of the workspace is. @throws FilewrightError when
 * there is no such tool
 */
export function canonicalTool(ws: Workspace, name: string, agent: string | undefined): AdapterTool {
  const [tool] = selectTools(ws, { preset: "canonical", include: [name], agent });
  return tool as AdapterTool;
}

/**
 * Creates the source for the calls that the framework asks about. The sources of the workspace are not consulted
 * here, because they decide in the call itself, by the paths at that time, and have their own approver. A denial
 * that is only foreseen must not suppress the question of the framework.
 */
function frameworkSource(approve: Approve, annotations: AdapterTool["annotations"]): DecisionSource {
  const chosen = selectionSource("framework");
  if (typeof approve === "function") return chosen;
  const { readOnlyHint, destructiveHint } = annotations;
  const selected = { never: false, changes: !readOnlyHint, destructive: destructiveHint, always: true }[
    approve
  ];
  return { ...chosen, decide: (call, before) => chosen.decide({ ...call, selected }, before) };
}

/** Returns a predicate for calls that need an approval; undefined when none does. */
export function approvalPredicate(
  tool: Pick<AdapterTool, "name" | "annotations">,
  given: Approve = "never",
): true | ((args: unknown) => boolean | Promise<boolean>) | undefined {
  const approve = checkApprove(given);
  const sources = [frameworkSource(approve, tool.annotations)];
  const mustAsk = (args: Readonly<Record<string, unknown>>, selected?: unknown): boolean =>
    decide(sources, { tool: tool.name, args, places: [], effects: [], selected }).decision !== "allow";
  if (typeof approve !== "function") return mustAsk({}) ? true : undefined;
  return (given) => {
    const args = (given ?? {}) as Readonly<Record<string, unknown>>;
    const said: unknown = approve({ tool: tool.name, args });
    return said instanceof Promise ? said.then((selected) => mustAsk(args, selected)) : mustAsk(args, said);
  };
}
