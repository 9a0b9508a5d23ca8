/** The definition of a command: data for its help, its parsing, its tool call and its exit status. */
import { tooWide } from "../mcp/arguments.ts";
import type { ToolResult, Workspace } from "../workspace/index.ts";
import {
  type Aliases,
  type OptionTable,
  type ParsedCommandLine,
  UsageError,
} from "../schema/command-line.node.ts";

/** A tool call. */
export interface ToolCall {
  readonly tool: string;
  readonly args: unknown;
}

/** The output of a command that is no tool call: for people, and as JSON. */
export interface Report {
  readonly text: string;
  readonly data: unknown;
  /** True when there was nothing to do: the text goes to standard error, and the status is 1. */
  readonly nothing?: true;
}

/** A call about one of several paths, and its result. */
export interface PathResult {
  readonly path: string;
  readonly call: ToolCall;
  readonly result: ToolResult;
}

/** How a command whose tool takes one path takes several: by a call for each. */
export interface SeveralPaths {
  /** The position of the first path among the operands. */
  readonly from: number;
  /** Options that make no sense then. */
  readonly refuses?: readonly string[];
  /**
   * Makes the calls and one result of those that succeeded; failures stay apart. Without it each call is
   * made, and its result printed below its path.
   */
  readonly merge?: (
    calls: readonly Omit<PathResult, "result">[],
    run: (call: ToolCall) => Promise<ToolResult>,
  ) => Promise<readonly PathResult[]>;
}

/** The result of a search; `unknown`: it ended early without a match so far. */
export type Outcome = "found" | "nothing" | "unknown";

/** One option in the help. */
export type OptionHelp = readonly [flags: string, what: string];

/** One command. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  readonly about: string;
  readonly options: OptionTable;
  /** Aliases of its options: those of its tool, and those of well-known programs. */
  readonly aliases?: Aliases;
  readonly help: readonly OptionHelp[];
  /** The usage line and the summary. */
  readonly examples: readonly (readonly [line: string, what: string])[];
  /** The maximum number of positional arguments. */
  readonly takes: readonly [least: number, most: number];
  /** Returns the tool call; absent for other commands. @throws UsageError */
  readonly toCall?: (parsed: ParsedCommandLine) => ToolCall | Promise<ToolCall>;
  /** Present where it takes several paths; `toCall` is given one of them. */
  readonly several?: SeveralPaths;
  /** Returns the outcome of a search for the exit status; without it a command always finds. */
  readonly outcome?: (data: unknown) => Outcome;
  /** Runs without a workspace; returns the exit status. */
  readonly run?: (parsed: ParsedCommandLine) => Promise<number>;
  /** True when it reports on this machine, and touches no file of the workspace. */
  readonly aboutMachine?: true;
  /** True when it takes no global options except `--help`. */
  readonly own?: true;
  /** True when its work on the workspace is a change, which `--ask` must approve. */
  readonly asks?: true;
  /** True when its results may be longer than the screen: on a terminal they go to a pager. */
  readonly pages?: true;
  /** True when it prints the text for models, also on a terminal. */
  readonly speaksToModels?: true;
  /** Runs on the workspace instead of making a tool call. */
  readonly report?: (ws: Workspace, parsed: ParsedCommandLine) => Promise<Report>;
}

type Values = ParsedCommandLine["values"];

/** The given arguments. */
export const set = (args: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));

/** A switch. */
export const flag = { type: "boolean" } as const;
/** An option with a value. */
export const value = { type: "string" } as const;
/** An option that may be given several times. */
export const values = { type: "string", multiple: true } as const;

/** Returns false for a switch that turns something off. */
export const negated = (given: Values, name: string): false | undefined =>
  given[name] === true ? false : undefined;

/** Parses the JSON value of an option. @throws UsageError */
export function jsonOf(text: string, option: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${option} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The options about whom to ask. Commands without questions refuse them. */
const ASKING_OPTIONS: readonly string[] = ["ask", "ask-dirs", "grants-file"];

/** Returns true for a command that asks the person at the terminal where an option says so. */
function asksPeople({ toCall, asks }: Command): boolean {
  return toCall !== undefined || asks === true;
}

/** Returns the names of the shared options that a command takes. */
export function sharedOptions(command: Command): readonly string[] {
  if (command.own === true) return ["help"];
  const names = Object.keys(GLOBAL_OPTIONS);
  return asksPeople(command) ? names : names.filter((name) => !ASKING_OPTIONS.includes(name));
}

/**
 * Refuses the options about whom to ask, for a command without questions.
 * @throws UsageError
 */
export function assertAsks(command: Command, { values }: ParsedCommandLine): void {
  const shared = sharedOptions(command);
  for (const name of ASKING_OPTIONS)
    if (values[name] !== undefined && command.options[name] === undefined && !shared.includes(name))
      throw new UsageError(`--${name} does nothing here: ${command.name} asks nobody`);
}

/** The options of every command, unless it is `own`. */
export const GLOBAL_OPTIONS: OptionTable = {
  root: { type: "string" },
  config: { type: "string" },
  rules: { type: "string" },
  agent: { type: "string" },
  ask: { type: "boolean" },
  "ask-dirs": { type: "boolean" },
  "grants-file": { type: "string" },
  json: { type: "boolean" },
  jsonl: { type: "boolean" },
  yes: { type: "boolean" },
  color: { type: "string" },
  "no-pager": { type: "boolean" },
  help: { type: "boolean", short: "h" },
};

/** The option of the commands that show or call tools by the names of a preset. */
export const PRESET_OPTION: OptionTable = { preset: value };
/** Its help. */
export const PRESET_HELP: OptionHelp = [
  "--preset NAME",
  "another system's tool names, such as gemini or mcp (canonical)",
];

/** Aliases of the options of every command. */
export const GLOBAL_ALIASES: Aliases = { colour: "color" };

/**
 * Refuses a workspace that is the whole disk or the home directory, unless the command line allows
 * it explicitly. @throws UsageError
 */
export function assertRoot(root: string, { values }: ParsedCommandLine): void {
  const wrong = tooWide(root, values["yes"] === true);
  if (wrong !== undefined) throw new UsageError(wrong);
}

/** The exit statuses, as grep and diff use them. `nothing`: a search found nothing, or there was nothing to undo. `interrupted`: Ctrl-C. */
export const EXIT = { ok: 0, nothing: 1, error: 2, interrupted: 130 } as const;

/** The statuses in the words of the help. */
export const EXIT_HELP =
  "0 success, 1 nothing was found (grep, glob, find) or there was nothing to undo, 2 an error, a refusal or a wrong command line, 130 interrupted.";

/** The file of grants, for the commands that read it without asking. */
export const GRANTS_FILE_HELP: OptionHelp = ["--grants-file FILE", "the file of granted directories"];

const ASKING_HELP: readonly OptionHelp[] = [
  ["--ask", "show every change in the terminal and ask before making it"],
  ["--ask-dirs", "ask for each directory the first time it is used; see filewright grants"],
  GRANTS_FILE_HELP,
];

/** The shared options of the commands that call tools. */
export const GLOBAL_HELP: readonly OptionHelp[] = [
  ["--root DIR", "the workspace; nothing outside it is read or changed (default: .)"],
  ["--config FILE", "a JSON file with the options of openWorkspace; paths in it are relative to its folder"],
  ["--rules FILE", "a JSON list of rules, as the option rules of openWorkspace"],
  ["--agent NAME", "the name of the caller in the history"],
  ...ASKING_HELP,
  ["--yes", "permit / or the home directory as the workspace"],
  ["--json", "print the whole result as JSON"],
  ["--jsonl", "print each item of the result as a line of JSON"],
  ["--color auto|always|never", "use colours and the form for people (auto: on a terminal)"],
  ["--no-pager", "do not use a pager"],
  ["-h, --help", "this text"],
];

/** Returns the help for all options of a command. */
export function optionHelp(command: Command): readonly OptionHelp[] {
  if (command.own === true) return [...command.help, ...GLOBAL_HELP.slice(-1)];
  const shared = asksPeople(command) ? GLOBAL_HELP : GLOBAL_HELP.filter((row) => !ASKING_HELP.includes(row));
  return [...command.help, ...shared];
}
