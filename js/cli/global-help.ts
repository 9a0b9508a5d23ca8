/** The options of every command, for help and manual. */
import type { OptionHelp } from "./command.ts";

/** The options of every command. */
export const GLOBAL_HELP: readonly OptionHelp[] = [
  ["--root DIR", "the workspace; nothing outside it is touched (default: .)"],
  ["--config FILE", "a JSON file with the options of openWorkspace; its paths begin at its folder"],
  ["--rules FILE", "a JSON list of rules, as the option rules of openWorkspace"],
  ["--agent NAME", "who the change is made by, in the history"],
  ["--ask", "show every change in the terminal and ask before it is made"],
  ["--ask-dirs", "ask for each directory the first time it is used; see filewright grants"],
  ["--grants-file FILE", "where granted directories are written down"],
  ["--yes", "take / or the home directory as the workspace, if it is really meant"],
  ["--json", "print the whole result as JSON"],
  ["--jsonl", "print each item of the result as a line of JSON"],
  ["--color auto|always|never", "colours, and on a pipe the form for people (auto: on a terminal)"],
  ["--no-pager", "print what is longer than the screen at once"],
  ["-h, --help", "this text"],
];
