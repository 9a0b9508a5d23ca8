/**
 * The type of a command, as data for its help, its parsing, its tool call and its exit status; and the
 * options that commands share.
 */
import { tooWideDirectoryError } from "../mcp/arguments.ts";
import type { OptionOfSetting } from "../tools/lib/tool.ts";
import type { Shell } from "./person/style.ts";
import type { RowsOf } from "./person/view.ts";
import type { ToolResult } from "../workspace/index.ts";
import type { Past } from "./past-roots.ts";
import {
  type Aliases,
  type OptionTable,
  type ParsedCommandLine,
  UsageError,
} from "../schema/command-line.node.ts";

/** A call of a tool, with its canonical arguments. */
export interface ToolCall {
  readonly tool: string;
  readonly args: unknown;
  /** Prints the results for a person, or as plain lines. Absent where the text of the result is printed. */
  readonly rows?: RowsOf;
}

/** The words of a command for arguments of its tool. */
export interface ArgumentWords {
  /** The option that makes a setting (`regex: false`), or whose absence does, where no option has its name. */
  readonly settings?: Readonly<Record<string, OptionOfSetting>>;
  /** The name in texts of an argument that is no option. */
  readonly called?: Readonly<Record<string, string>>;
}

/** The output of a command that makes no tool call: as text, and as data for `--json`. */
export interface CommandReport {
  readonly text: string;
  readonly data: unknown;
  /** True when there was nothing to do. The text is then printed to standard error, and the exit status is 1. */
  readonly nothing?: true;
}

/** A call for one of several paths, with its result. */
export interface PathResult {
  readonly path: string;
  readonly call: ToolCall;
  readonly result: ToolResult;
}

/** How a command takes several paths although its tool takes one: by a call for each. */
export interface SeveralPaths {
  /** The index, from 0, of the first path among the positional arguments. */
  readonly from: number;
  /** Puts what was given as options before the paths, before the arguments are counted. */
  readonly arrange?: (parsed: ParsedCommandLine) => ParsedCommandLine;
  /** The options of the command that it takes with a single path only. */
  readonly refuses?: readonly string[];
  /**
   * Makes the calls, and returns one result for those that succeeded and one for each failure. Without it the
   * calls are made one after the other, and each result is printed below its path.
   */
  readonly merge?: (
    calls: readonly Omit<PathResult, "result">[],
    run: (call: ToolCall) => Promise<ToolResult>,
  ) => Promise<readonly PathResult[]>;
}

/**
 * The outcome of a search or a comparison. `unknown`: a search ended early, without a match up to there. `differs`: a
 * comparison has something to print, and its status is 1, as that of diff.
 */
export type SearchOutcome = "found" | "nothing" | "unknown" | "differs" | "same";

/** One line about an option in the help. */
export type OptionHelp = readonly [flags: string, what: string];

/** A command of `filewright`. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  readonly about: string;
  readonly options: OptionTable;
  /** Other names of its options: those of its tool, and those of well-known programs. */
  readonly aliases?: Aliases;
  readonly help: readonly OptionHelp[];
  /** Examples for the help: a command line, and what it does. */
  readonly examples: readonly (readonly [line: string, what: string])[];
  /**
   * The minimum and the maximum number of positional arguments, and a noun for the first, for the error about one that
   * begins with a dash. Default: `an argument`.
   */
  readonly takes: readonly [least: number, most: number, noun?: string];
  /** Returns the tool call for a command line. Absent for a command that makes none. @throws UsageError */
  readonly toCall?: (parsed: ParsedCommandLine, shell: Shell) => ToolCall | Promise<ToolCall>;
  /** Present when the command takes several paths. `toCall` is then called for each of them. */
  readonly several?: SeveralPaths;
  /**
   * Returns what a search found, from the data of its result. It decides the exit status; a command without
   * it always counts as `found`.
   */
  readonly outcome?: (data: unknown) => SearchOutcome;
  /** Runs a command that needs no workspace, and returns the exit status. */
  readonly run?: (parsed: ParsedCommandLine, shell: Shell) => Promise<number>;
  /**
   * What sets the command apart. `own`: it takes none of the global options except `--help`. `machine`: it reports on this
   * machine, and accesses no file of the workspace. `asks`: it makes a change without a tool call, which `--ask` must
   * approve.
   */
  readonly sort?: "asks" | "machine" | "own";
  /** The tool in whose place texts for a person name the command. */
  readonly tool?: string;
  /** Its words for arguments of the tool. */
  readonly words?: ArgumentWords;
  /** True when the result may be longer than the screen. On a terminal it is then shown in a pager. */
  readonly pages?: true;
  /** True when the command prints the text that models get, even on a terminal. */
  readonly speaksToModels?: true;
  /** Runs instead of making a tool call: on the histories of its directories, or about this machine. */
  readonly report?: (past: Past, parsed: ParsedCommandLine, shell: Shell) => Promise<CommandReport>;
}

type OptionValues = ParsedCommandLine["values"];

/** An option without a value. */
export const FLAG_OPTION = { type: "boolean" } as const;
/** An option with a value. */
export const VALUE_OPTION = { type: "string" } as const;
/** An option that may be given several times. */
export const REPEATABLE_OPTION = { type: "string", multiple: true } as const;

/** The words of commands that search ignored files with `--no-ignore`. */
export const NO_IGNORE_WORDS = { "respect_ignore: false": { add: "--no-ignore" } } as const;

/** Returns false when a switch was given that turns something off; otherwise undefined. */
export const falseIfGiven = (given: OptionValues, name: string): false | undefined =>
  given[name] === true ? false : undefined;

/** Returns the parsed JSON value of an option. @throws UsageError */
export function parseJsonOption(text: string, option: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${option} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The options that say who is asked, and where grants are stored. Commands that never ask refuse them. */
const ASKING_OPTIONS: readonly string[] = ["ask", "ask-dirs", "grants-file"];

/** Returns true for a command that asks the person at the terminal if an option says so. */
function canAskPerson({ toCall, sort }: Command): boolean {
  return toCall !== undefined || sort === "asks";
}

/** Commands that read contents, which take `--secrets`. */
const takesSecrets = ({ toCall, sort, options }: Command): boolean =>
  toCall !== undefined && sort !== "own" && options["secrets"] === undefined;

/** Returns the names of the global options that a command takes. */
export function globalOptionsOf(command: Command): readonly string[] {
  if (command.sort === "own") return ["help"];
  const names = Object.keys(GLOBAL_OPTIONS).filter((name) => name !== "secrets" || takesSecrets(command));
  return canAskPerson(command) ? names : names.filter((name) => !ASKING_OPTIONS.includes(name));
}

/**
 * Refuses options about asking for a command that never asks.
 * @throws UsageError
 */
export function assertMayAsk(command: Command, { values }: ParsedCommandLine): void {
  const shared = globalOptionsOf(command);
  if (values["secrets"] === true && command.options["secrets"] === undefined && !takesSecrets(command))
    throw new UsageError(`--secrets does nothing here: ${command.name} reads no contents`);
  for (const name of ASKING_OPTIONS)
    if (values[name] !== undefined && command.options[name] === undefined && !shared.includes(name))
      throw new UsageError(`--${name} does nothing here: ${command.name} asks nobody`);
}

/** The options of every command that is not `own`. */
export const GLOBAL_OPTIONS: OptionTable = {
  root: { type: "string" },
  config: { type: "string" },
  rules: { type: "string" },
  agent: { type: "string" },
  ask: { type: "boolean" },
  "ask-dirs": { type: "boolean" },
  "grants-file": { type: "string" },
  secrets: { type: "boolean" },
  json: { type: "boolean" },
  jsonl: { type: "boolean" },
  yes: { type: "boolean" },
  color: { type: "string" },
  "no-pager": { type: "boolean" },
  help: { type: "boolean", short: "h" },
};

/** The option of commands that show or call tools under the names of a preset. */
export const PRESET_OPTION: OptionTable = { preset: VALUE_OPTION };
/** The help for this option. */
export const PRESET_HELP: OptionHelp = [
  "--preset NAME",
  "another system's tool names, such as gemini or mcp (canonical)",
];

/** Aliases of the options of every command. */
export const GLOBAL_ALIASES: Aliases = { colour: "color" };

/**
 * Refuses a workspace that is the whole file system or contains the home directory, unless `--yes` is given.
 * @throws UsageError
 */
export function assertNarrowRoot(root: string, { values }: ParsedCommandLine): void {
  const wrong = tooWideDirectoryError(root, values["yes"] === true);
  if (wrong !== undefined) throw new UsageError(wrong);
}

/**
 * The exit statuses, as those of grep and diff. `nothing`: a search found nothing, or there was nothing to
 * undo. `interrupted`: the person pressed Ctrl-C.
 */
export const EXIT_STATUS = { ok: 0, nothing: 1, error: 2, interrupted: 130 } as const;

/** The text of the help about exit statuses. */
export const EXIT_HELP =
  "0 success, 1 nothing was found (grep, glob, find), files differ (diff) or there was nothing to undo, 2 an error, a refusal or a wrong command line, 130 interrupted.";

/** The help for the option that names the file of grants, for commands that only read the file. */
export const GRANTS_FILE_HELP: OptionHelp = ["--grants-file FILE", "the file of granted directories"];

const ASKING_HELP: readonly OptionHelp[] = [
  ["--ask", "show every change in the terminal and ask before making it"],
  ["--ask-dirs", "ask for each directory the first time it is used; see filewright grants"],
  GRANTS_FILE_HELP,
];

const SECRETS_HELP: OptionHelp = [
  "--secrets",
  "also read files that hold secrets, such as .env and private keys",
];

/** The help for the global options. */
export const GLOBAL_HELP: readonly OptionHelp[] = [
  ["--root DIR", "the workspace; nothing outside it is read or changed (default: .)"],
  ["--config FILE", "a JSON file with the options of openWorkspace; paths in it are relative to its folder"],
  ["--rules FILE", "a JSON list of rules, as the option rules of openWorkspace"],
  ["--agent NAME", "the name of the caller in the history"],
  ...ASKING_HELP,
  SECRETS_HELP,
  ["--yes", "permit / or the home directory as the workspace"],
  ["--json", "print the whole result as JSON"],
  ["--jsonl", "print each item of the result as a line of JSON"],
  ["--color auto|always|never", "use colours and the form for people (auto: on a terminal)"],
  ["--no-pager", "do not use a pager"],
  ["-h, --help", "this text"],
];

/** Returns the help for all options that a command takes. */
export function optionHelpOf(command: Command): readonly OptionHelp[] {
  if (command.sort === "own") return [...command.help, ...GLOBAL_HELP.slice(-1)];
  const shared = canAskPerson(command)
    ? GLOBAL_HELP
    : GLOBAL_HELP.filter((row) => !ASKING_HELP.includes(row));
  // An option that a command explains itself is not explained twice.
  const own = new Set(command.help.map(([flags]) => firstFlagOf(flags)));
  return [
    ...command.help,
    ...shared.filter(
      (row) => !own.has(firstFlagOf(row[0])) && (row !== SECRETS_HELP || takesSecrets(command)),
    ),
  ];
}

/** Returns the long name of the first option that a line of the help explains. */
function firstFlagOf(flags: string): string {
  return /--[\w-]+/u.exec(flags)?.[0] ?? flags;
}
