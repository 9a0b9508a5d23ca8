/** The options that many commands share, for help and manual. */
import { asksPeople, type Command, type OptionHelp } from "./command.ts";

/** The file of grants, for the commands that read it without asking. */
export const GRANTS_FILE_HELP: OptionHelp = [
  "--grants-file FILE",
  "where granted directories are written down",
];

const ASKING_HELP: readonly OptionHelp[] = [
  ["--ask", "show every change in the terminal and ask before it is made"],
  ["--ask-dirs", "ask for each directory the first time it is used; see filewright grants"],
  GRANTS_FILE_HELP,
];

/** The shared options of the commands that call tools. */
export const GLOBAL_HELP: readonly OptionHelp[] = [
  ["--root DIR", "the workspace; nothing outside it is touched (default: .)"],
  ["--config FILE", "a JSON file with the options of openWorkspace; its paths begin at its folder"],
  ["--rules FILE", "a JSON list of rules, as the option rules of openWorkspace"],
  ["--agent NAME", "who the change is made by, in the history"],
  ...ASKING_HELP,
  ["--yes", "take / or the home directory as the workspace, if it is really meant"],
  ["--json", "print the whole result as JSON"],
  ["--jsonl", "print each item of the result as a line of JSON"],
  ["--color auto|always|never", "colours, and on a pipe the form for people (auto: on a terminal)"],
  ["--no-pager", "print what is longer than the screen at once"],
  ["-h, --help", "this text"],
];

/** Returns the help for all options of a command. */
export function optionHelp(command: Command): readonly OptionHelp[] {
  if (command.own === true) return [...command.help, ...GLOBAL_HELP.slice(-1)];
  const shared = asksPeople(command) ? GLOBAL_HELP : GLOBAL_HELP.filter((row) => !ASKING_HELP.includes(row));
  return [...command.help, ...shared];
}
