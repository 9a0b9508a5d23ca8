/** What a command is: data from which its help, its parsing and its tool call come. */
import type { Workspace } from "../workspace/index.ts";
import { type Aliases, type OptionTable, type Parsed, UsageError } from "../schema/command-line.node.ts";

/** A tool call. */
export interface ToolCall {
  readonly tool: string;
  readonly args: unknown;
}

/** What a command prints that is no tool call: for people, and as JSON. */
export interface Report {
  readonly text: string;
  readonly data: unknown;
  /** Nothing was there to work on: the text goes to standard error, and the status is 1. */
  readonly nothing?: true;
}

/** What a search came to; `unknown`: it ended early and had found nothing until then. */
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
  /** Other spellings of its options: those of its tool, and those of programs that people know. */
  readonly aliases?: Aliases;
  readonly help: readonly OptionHelp[];
  /** A command line and what it does. */
  readonly examples: readonly (readonly [line: string, what: string])[];
  /** How many positional arguments there may be. */
  readonly takes: readonly [least: number, most: number];
  /** The call; absent for the commands that are none. @throws UsageError */
  readonly toCall?: (parsed: Parsed) => ToolCall | Promise<ToolCall>;
  /** What the data of a search means for the exit status; a command without it always finds. */
  readonly outcome?: (data: unknown) => Outcome;
  /** What it does without a workspace; gives the exit status. */
  readonly run?: (parsed: Parsed) => Promise<number>;
  /** It tells of this machine, and touches no file of the workspace. */
  readonly aboutMachine?: true;
  /** It has no use for the options of every command, beside `--help`. */
  readonly own?: true;
  /** Whether what it does with the workspace is a change, about which `--ask` asks. */
  readonly asks?: true;
  /** Its results may be longer than the screen: on a terminal they go to a pager. */
  readonly pages?: true;
  /** It prints what a model would be given, also on a terminal. */
  readonly speaksToModels?: true;
  /** What it does with the workspace instead of a call. */
  readonly report?: (ws: Workspace, parsed: Parsed) => Promise<Report>;
}

type Values = Parsed["values"];

/** The arguments that were given. */
export const set = (args: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));

/** A switch. */
export const flag = { type: "boolean" } as const;
/** An option with a value. */
export const value = { type: "string" } as const;
/** An option that may be given several times. */
export const values = { type: "string", multiple: true } as const;

/** False where a switch that turns something off was given. */
export const negated = (given: Values, name: string): false | undefined =>
  given[name] === true ? false : undefined;

/** The JSON value of an option. @throws UsageError */
export function jsonOf(text: string, option: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${option} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The options that every command has, unless it is `own`. */
export const GLOBAL_OPTIONS: OptionTable = {
  root: { type: "string" },
  config: { type: "string" },
  rules: { type: "string" },
  agent: { type: "string" },
  preset: { type: "string" },
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

/** Other spellings of options that every command has. */
export const GLOBAL_ALIASES: Aliases = { colour: "color" };
