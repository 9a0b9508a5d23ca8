/** The options that many commands share, for help and manual. */
import { asksPeople, type Command, type OptionHelp } from "./command.ts";

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
