/**
 * Rewords advice in the texts of tools, so that it names commands and options of the command line.
 *
 * Tools write for models and name tools and arguments. This file alone replaces these by `filewright ls` and
 * `--limit`; the options that stand for arguments come from the aliases of the commands.
 */
import type { Command } from "./command.ts";
import { COMMANDS } from "./commands.ts";

/** For each tool, the command that calls it. */
export const COMMAND_BY_TOOL: Readonly<Record<string, string>> = {
  read_file: "read",
  read_many_files: "cat",
  write_file: "write",
  edit_file: "edit",
  apply_patch: "patch",
  diff: "diff",
  list_directory: "ls",
  glob: "glob",
  find_files: "find",
  grep: "grep",
  stat: "stat",
  copy: "copy",
  move: "move",
  delete: "delete",
  mkdir: "mkdir",
  batch: "batch",
  access_info: "access",
  undo: "undo",
  history: "history",
};

type Rewording = readonly [tool: RegExp, command: string];

/** Advice that needs another wording for people, by the command that was called. */
const REWORDINGS_BY_COMMAND: Readonly<Record<string, readonly Rewording[]>> = {
  write: [[/set overwrite: ?true to replace it/u, "leave out --no-overwrite to replace it"]],
  mkdir: [
    [/set exist_ok: ?true if that is fine/u, "leave out --new if that is fine"],
    [/Set parents: ?true to make it/u, "Leave out --no-parents to make it"],
  ],
  grep: [[/put the pattern into glob: path="([^"]*)", glob="([^"]*)"/u, "give $1 and -g '$2'"]],
};

/** Advice of every command that needs another wording for people. */
const COMMON_REWORDINGS: readonly Rewording[] = [
  [/set regex: ?false to search (?:for )?the text as it is/u, "add -F to search for the text as it is"],
  [/set regex: ?false/u, "add -F"],
  [/send regex: false/u, "add -F"],
  [/set multiline: ?true/u, "add -U"],
  [/ with case="insensitive"/u, " with -i"],
  [/Set create_dirs: ?true to make it/u, "Leave out --no-parents to make it"],
  [/set overwrite: ?true/u, "add --overwrite"],
  [/set recursive: ?true/u, "add -r"],
  [/set whole_file: ?true/u, "add --whole-file"],
  [/force_text: true shows/u, "--force-text shows"],
  [/set encoding: "utf-8"/u, "add --encoding utf-8"],
  [/pass another encoding, or encoding: "auto"/u, "name it with --encoding"],
  [/use match: exact/u, "add --match exact"],
  [/set replace_all or near_line/u, "add --all"],
  [/(?:continue|go on) with cursor="[^"]*"/u, "--limit shows more"],
  [/(continue(?: inside it)? with) (start_line|start_byte)=(\d+)/u, "$1 $2 $3"],
  [/, or raise timeout_ms\b/u, ""],
  [/^Error: Invalid argument '([a-z_]+)': /u, "Error: $1: "],
  [/^Invalid argument '([a-z_]+)': /u, "$1: "],
  [/\[start_line (\d+) is past/u, "[line $1 is past"],
  [/\bold_text not found\b/gu, "the old text was not found"],
  [/\bold_text (occurs|is|has|begins)/gu, "the old text $1"],
  [/\bhistory lists\b/u, "filewright history lists"],
  [/\bstat tells\b/u, "filewright stat tells"],
  [/\bonly stat and list_directory look at it/u, "only filewright stat and filewright ls look at it"],
  [/\bglob finds paths\b/u, "filewright glob finds paths"],
  [/\bPut the pattern into glob\b/iu, "give it with filewright glob"],
];

/** Matches paths and texts in quotes, which must not be reworded. */
const QUOTED_TEXT = /('(?:[^'\\]|\\.)*')/u;
const SNAKE_CASE_NAME = /(?<!-)\b[a-z]+(?:_[a-z]+)+\b(?:: ?true\b)?/gu;

/** Rewords a text of a tool for the command line. `tool` is the name of the tool that was called. */
export function rewordForCommandLine(text: string, tool?: string): string {
  const command = COMMANDS.find(({ name }) => name === COMMAND_BY_TOOL[tool ?? ""]);
  const [first = "", ...rest] = text.split("\n");
  // Lines after the first may quote files. Of these only the tools' own notes, in brackets, are reworded.
  return [
    rewordLine(first, command),
    ...rest.map((line) => (/^\[.*\]$/u.test(line) ? rewordLine(line, command) : line)),
  ].join("\n");
}

function rewordLine(line: string, command: Command | undefined): string {
  const own = command === undefined ? [] : (REWORDINGS_BY_COMMAND[command.name] ?? []);
  const sentences = [...own, ...COMMON_REWORDINGS];
  const worded = sentences.reduce((said, [from, to]) => said.replace(from, to), line);
  return worded
    .split(QUOTED_TEXT)
    .map((part, at) =>
      at % 2 === 1 ? part : part.replace(SNAKE_CASE_NAME, (name) => commandOrOptionNamed(name, command)),
    )
    .join("");
}

/**
 * Returns the command for the name of a tool, the option for the name of an argument, and any other word
 * unchanged.
 */
function commandOrOptionNamed(found: string, command: Command | undefined): string {
  const name = found.replace(/: ?true$/u, "");
  const spelt = COMMAND_BY_TOOL[name];
  if (spelt !== undefined) return `filewright ${spelt}`;
  const option = name.replaceAll("_", "-");
  const meant = command?.aliases?.[option] ?? option;
  return command?.options[meant] === undefined ? found : `--${meant}`;
}
