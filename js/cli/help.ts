/** Help that teaches: what it is for, how it is used, what to try. */
import type { Command } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { EXIT_HELP } from "./exit-status.ts";

const GLOBAL_HELP: readonly (readonly [string, string])[] = [
  ["--root DIR", "the workspace; nothing outside it is touched (default: .)"],
  ["--config FILE", "a JSON file with the options of openWorkspace; its paths begin at its folder"],
  ["--rules FILE", "a JSON list of rules, as the option rules of openWorkspace"],
  ["--agent NAME", "who the change is made by, in the history"],
  ["--preset NAME", "with call and tools: another system's tool names, such as gemini or mcp"],
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

/** What `filewright --help` prints. */
export function overview(): string {
  return [
    "filewright: the filesystem that AI agents work through, from a shell.",
    "",
    "Usage: filewright COMMAND [arguments] [--root DIR] [--json]",
    "",
    "Commands:",
    table(COMMANDS.map(({ name, summary }) => [name, summary])),
    "",
    "Everywhere:",
    table(GLOBAL_HELP),
    "",
    "Try:",
    table([
      ["filewright demo", "watch a short session on this directory"],
      ["filewright grep TODO src", "search"],
      ["filewright COMMAND --help", "how a command is used, with examples"],
    ]),
    "",
    `Exit status: ${EXIT_HELP}`,
  ].join("\n");
}

/** What `filewright COMMAND --help` prints. */
export function commandHelp(command: Command): string {
  return [
    `${command.name}: ${command.summary}`,
    "",
    `Usage: ${command.usage}`,
    "",
    wrap(command.about),
    "",
    "Options:",
    table([...command.help, ...(command.own === true ? GLOBAL_HELP.slice(-1) : GLOBAL_HELP)]),
    "",
    "Examples:",
    ...command.examples.map(([line, what]) => `  ${line}\n      ${what}`),
    ...(command.outcome === undefined ? [] : ["", `Exit status: ${EXIT_HELP}`]),
  ].join("\n");
}

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`).join("\n");
}

function wrap(text: string, width = 88): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + word.length >= width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join("\n");
}
