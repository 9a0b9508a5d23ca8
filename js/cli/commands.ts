/** The list of all commands, and the lookup by name. */
import { packageVersion } from "../mcp/command.ts";
import { nearest } from "../schema/nearest.ts";
import { type Command, parseJsonOption, PRESET_HELP } from "./command.ts";
import { APPROVE_COMMAND } from "./commands/approve.ts";
import { AUDIT_COMMAND } from "./commands/audit.ts";
import { BENCH_COMMAND } from "./commands/bench.ts";
import { CHANGE_COMMANDS } from "./commands/change.ts";
import { completionCommand } from "./commands/completion.ts";
import { CONFIG_COMMAND } from "./commands/config.ts";
import { runDemo } from "./commands/demo.ts";
import { DOCTOR_COMMAND } from "./commands/doctor.ts";
import { FILE_COMMANDS } from "./commands/file.ts";
import { GRANTS_COMMAND } from "./commands/grants.ts";
import { HISTORY_COMMANDS } from "./commands/history.ts";
import { REWIND_COMMANDS } from "./commands/rewind.ts";
import { assertNarrowRoot } from "./command.ts";
import { readStdin, printText } from "./streams.ts";
import { manCommand } from "./commands/man.ts";
import { UsageError } from "../schema/command-line.node.ts";
import { REVIEW_COMMAND } from "./commands/review.ts";
import { SEARCH_COMMANDS } from "./commands/search.ts";
import { SERVER_COMMANDS } from "./commands/server.ts";

const VERSION_COMMAND: Command = {
  name: "version",
  summary: "print the version",
  usage: "filewright version",
  about: "The version of the package; filewright doctor reports more.",
  help: [],
  examples: [["filewright version", "as filewright --version"]],
  takes: [0, 0],
  sort: "own",
  async run(_, shell) {
    printText(shell, packageVersion());
    return 0;
  },
};

/** All commands, in the order in which the help lists them. */
export const COMMANDS: readonly Command[] = [
  {
    name: "demo",
    summary: "run a short agent session on a directory",
    usage: "filewright demo [DIR]",
    about:
      "Searches, reads, compares and edits as an agent would, and prints each call, its result and its time. DIR itself is only read: the edit happens in a copy that is removed afterwards.",
    help: [],
    examples: [
      ["filewright demo", "on the current directory"],
      ["filewright demo ~/src/project", "on another one"],
    ],
    takes: [0, 1],
    run: (parsed, shell) => {
      const dir = parsed.positionals[0] ?? String(parsed.values["root"] ?? ".");
      assertNarrowRoot(dir, parsed);
      return runDemo(dir, shell);
    },
  },
  {
    name: "tools",
    summary: "list the tools for models",
    usage: "filewright tools [--preset NAME] [--json]",
    about: "With --json: names, descriptions and JSON Schemas, in the form that models take.",
    help: [PRESET_HELP],
    examples: [
      ["filewright tools", "names and purposes"],
      ["filewright tools --json > tools.json", "with their schemas"],
    ],
    takes: [0, 0],
    sort: "machine",
  },
  {
    name: "call",
    summary: "call any tool with JSON arguments",
    usage: "filewright call TOOL [--args JSON|-] [--preset NAME]",
    about:
      "Prints the text that a model would get; with --json the whole result. `-` reads the arguments from standard input.",
    help: [["--args JSON|-", "the arguments; default {}"], PRESET_HELP],
    examples: [
      [`filewright call stat --args '{"path":"package.json"}'`, "print the data of a file"],
      ["filewright call write_file --args - < args.json", "arguments from a file"],
    ],
    speaksToModels: true,
    takes: [1, 1],
    async toCall({ positionals, values: given }, shell) {
      const text =
        given["args"] === "-" ? await readStdin(shell) : ((given["args"] as string | undefined) ?? "{}");
      return { tool: positionals[0] as string, args: parseJsonOption(text, "--args") };
    },
  },
  ...SERVER_COMMANDS,
  APPROVE_COMMAND,
  REVIEW_COMMAND,
  ...HISTORY_COMMANDS,
  ...REWIND_COMMANDS,
  GRANTS_COMMAND,
  AUDIT_COMMAND,
  ...SEARCH_COMMANDS,
  ...FILE_COMMANDS,
  ...CHANGE_COMMANDS,
  DOCTOR_COMMAND,
  BENCH_COMMAND,
  CONFIG_COMMAND,
  VERSION_COMMAND,
  manCommand(() => COMMANDS),
  completionCommand(() => COMMANDS),
];

/** Returns the command with a name. @throws UsageError that suggests the nearest name */
export function findCommand(name: string): Command {
  const found = COMMANDS.find((command) => command.name === name);
  if (found !== undefined) return found;
  const close = nearest(
    name,
    COMMANDS.map((command) => command.name),
  );
  throw new UsageError(
    `unknown command '${name}'${close === undefined ? "; filewright --help lists them" : `; did you mean '${close}'?`}`,
  );
}
