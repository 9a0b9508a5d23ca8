/**
 * The type of a command, as data for its help, its parsing, its tool call and its exit status; and the
 * options that commands share.
 */
import { messageOf } from "../engine/thrown.ts";
import { tooWideDirectoryError } from "../mcp/arguments.ts";
import type { OptionOfSetting } from "../tools/lib/tool.ts";
import type { Shell } from "./person/style.ts";
import type { RowsOf } from "./person/view.ts";
import type { ToolResult } from "../workspace/index.ts";
import type { Past } from "./past-roots.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import {
  type Aliases,
  type DeclaredOption,
  declaredOptions,
  type OptionLine,
  type OptionTable,
  optionTableOf,
  type ParsedCommandLine,
  parseIntegerOption,
  UsageError,
  valuesOfRepeatedOption,
} from "../schema/command-line.node.ts";

/** A call of a tool, with its canonical arguments. */
export interface ToolCall {
  readonly tool: string;
  readonly args: unknown;
  /** Prints the results for a person, or as plain lines. Absent where the text of the result is printed. */
  readonly rows?: RowsOf;
}

/** The words of a command for arguments of its tool, where its options have none. */
interface ArgumentWords {
  /** The option of another command that makes a setting (`recursive: true`). */
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

/** A command of `filewright`. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  readonly about: string;
  /** Other names of its options, as well-known programs have them, besides those of the arguments of its tool. */
  readonly aliases?: Aliases;
  /** The lines of the help about its options, which declare them. */
  readonly help: readonly OptionLine[];
  /** Examples for the help: a command line, and what it does. */
  readonly examples: readonly (readonly [line: string, what: string])[];
  /**
   * The minimum and the maximum number of positional arguments, and a noun for the first, for the error about one that
   * begins with a dash. Default: `an argument`.
   */
  readonly takes: readonly [least: number, most: number, noun?: string];
  /**
   * Returns the tool call for a command line, from a call of `tool` with the arguments that its options mean. Absent for a
   * command that makes none. @throws UsageError
   */
  readonly toCall?: (
    parsed: ParsedCommandLine,
    shell: Shell,
    ofOptions: CallOfOptions,
  ) => ToolCall | Promise<ToolCall>;
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

/** A call with the arguments that the options of a command line mean. */
interface CallOfOptions {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Returns the options of a command, without those of all commands. */
export const optionsOf = ({ help }: Command): OptionTable => optionTableOf(help);

/** Returns the other names of the options of a command: those of the arguments of its tool, and its own. */
export function aliasesOf({ help, aliases }: Command): Aliases {
  const ofArguments = declaredOptions(help).flatMap(({ name, means }) => {
    const alias = typeof means === "string" ? means.replaceAll("_", "-") : name;
    return alias === name ? [] : [[alias, name] as const];
  });
  return { ...Object.fromEntries(ofArguments), ...aliases };
}

/** Returns the tool call for a command line; undefined for a command that makes none. @throws UsageError */
export function callOf(
  command: Command,
  parsed: ParsedCommandLine,
  shell: Shell,
): ToolCall | Promise<ToolCall> | undefined {
  const { tool = "", help } = command;
  return command.toCall?.(parsed, shell, { tool, args: argumentsOfOptions(help, parsed.values) });
}

/**
 * Returns the `toCall` of a command whose positional arguments are these arguments of its tool; a name that ends in
 * `...` is the list of all that are left.
 */
export function operands(names: readonly string[], rows?: RowsOf): NonNullable<Command["toCall"]> {
  return ({ positionals }, _shell, { tool, args }) => {
    const typed = names.map((name, index) =>
      name.endsWith("...") ? [name.slice(0, -3), positionals.slice(index)] : [name, positionals[index]],
    );
    return withoutUndefined({
      tool,
      rows,
      args: { ...withoutUndefined(Object.fromEntries(typed)), ...args },
    });
  };
}

/**
 * Returns the arguments that options mean. Where several give one argument, the first line of the help counts.
 * @throws UsageError
 */
function argumentsOfOptions(
  help: readonly OptionLine[],
  values: ParsedCommandLine["values"],
): CallOfOptions["args"] {
  const args: Record<string, unknown> = {};
  for (const option of declaredOptions(help)) {
    const { name, means } = option;
    const given = values[name];
    if (means === undefined || given === undefined || given === false) continue;
    const meant = typeof means === "string" ? { [means]: argumentOf(option, given) } : means;
    for (const [argument, value] of Object.entries(meant)) args[argument] ??= value;
  }
  return args;
}

/** Returns the argument that a value means: a whole number where its word is `N` or a range, as in `0-3`. */
function argumentOf({ name, value, isRepeatable }: DeclaredOption, given: unknown): unknown {
  if (isRepeatable) return valuesOfRepeatedOption(given);
  return value !== undefined && /^(?:N$|\d)/u.test(value) ? parseIntegerOption(given, name) : given;
}

/** Returns the parsed JSON value of an option. @throws UsageError */
export function parseJsonOption(text: string, option: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${option} is not JSON: ${messageOf(error)}`);
  }
}

/** Returns true for a command that asks the person at the terminal if an option says so. */
function canAskPerson({ toCall, sort }: Command): boolean {
  return toCall !== undefined || sort === "asks";
}

/** Commands that read contents, which take `--secrets`. */
const takesSecrets = ({ toCall, sort }: Command): boolean => toCall !== undefined && sort !== "own";

/** Returns the names of the options that lines of the help declare. */
const namesIn = (lines: readonly OptionLine[]): readonly string[] =>
  declaredOptions(lines).map(({ name }) => name);

/** Returns the names of the global options that a command takes. */
export const globalOptionsOf = (command: Command): readonly string[] => namesIn(globalHelpOf(command));

/**
 * Refuses options about asking for a command that never asks.
 * @throws UsageError
 */
export function assertMayAsk(command: Command, { values }: ParsedCommandLine): void {
  if (values["secrets"] === true && !takesSecrets(command))
    throw new UsageError(`--secrets does nothing here: ${command.name} reads no contents`);
  const known = namesIn([...command.help, ...globalHelpOf(command)]);
  for (const name of namesIn(ASKING_HELP))
    if (values[name] !== undefined && !known.includes(name))
      throw new UsageError(`--${name} does nothing here: ${command.name} asks nobody`);
}

/** The help for the option of commands that show or call tools under the names of a preset. */
export const PRESET_HELP: OptionLine = [
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
export const GRANTS_FILE_HELP: OptionLine = ["--grants-file FILE", "the file of granted directories"];

const ASKING_HELP: readonly OptionLine[] = [
  ["--ask", "show every change in the terminal and ask before making it"],
  ["--ask-dirs", "ask for each directory the first time it is used; see filewright grants"],
  GRANTS_FILE_HELP,
];

const SECRETS_HELP: OptionLine = [
  "--secrets",
  "also read files that hold secrets, such as .env and private keys",
];

/** The help for the global options. */
export const GLOBAL_HELP: readonly OptionLine[] = [
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

/** The global option `--root` of commands that take several directories. The help explains it once for all commands. */
export const SEVERAL_ROOTS_HELP: OptionLine = ["--root DIR...", ""];

/** The options of every command that is not `own`. */
export const GLOBAL_OPTIONS: OptionTable = optionTableOf(GLOBAL_HELP);

/** Returns the lines about the global options that a command takes. */
function globalHelpOf(command: Command): readonly OptionLine[] {
  if (command.sort === "own") return GLOBAL_HELP.slice(-1);
  return GLOBAL_HELP.filter((line) =>
    ASKING_HELP.includes(line) ? canAskPerson(command) : line !== SECRETS_HELP || takesSecrets(command),
  );
}

/** Returns the help for all options that a command takes. */
export function optionHelpOf(command: Command): readonly OptionLine[] {
  const own = command.help.filter(([, what]) => what !== "");
  // An option that a command explains itself is not explained twice.
  const explained = new Set(namesIn(own));
  const shared = globalHelpOf(command).filter((line) => !namesIn([line]).some((name) => explained.has(name)));
  return [...own, ...shared];
}
