/** Creates the texts of the help from the data of the commands: purpose, usage, options and examples. */
import { type OptionLine, shownOptionLines } from "../schema/command-line.node.ts";
import { type Command, EXIT_HELP, GLOBAL_HELP, optionHelpOf } from "./command.ts";
import { COMMANDS } from "./commands.ts";

/** The command of this text itself. */
const HELP_ROW = ["help", "print this text, or that of one command: filewright help grep"] as const;

/** Returns the text that `filewright --help` prints. */
export function helpOverview(): string {
  return [
    "filewright: the filesystem that AI agents work through, from a shell.",
    "",
    "Usage: filewright COMMAND [arguments] [--root DIR] [--json]",
    "",
    "Commands:",
    twoColumnTable([...COMMANDS.map(({ name, summary }) => [name, summary] as const), HELP_ROW]),
    "",
    "Everywhere:",
    twoColumnTable(GLOBAL_HELP),
    "",
    "Try:",
    twoColumnTable([
      ["filewright demo", "watch a short session on this directory"],
      ["filewright grep TODO src", "search"],
      ["filewright COMMAND --help", "how a command is used, with examples"],
    ]),
    "",
    `Exit status: ${EXIT_HELP}`,
  ].join("\n");
}

/** Returns the text that `filewright COMMAND --help` prints. */
export function helpOfCommand(command: Command): string {
  return [
    `${command.name}: ${command.summary}`,
    "",
    `Usage: ${command.usage}`,
    "",
    wrapText(command.about),
    "",
    "Options:",
    twoColumnTable(optionHelpOf(command)),
    "",
    "Examples:",
    ...command.examples.map(([line, what]) => `  ${line}\n      ${what}`),
    ...(command.outcome === undefined ? [] : ["", `Exit status: ${EXIT_HELP}`]),
  ].join("\n");
}

function twoColumnTable(lines: readonly OptionLine[]): string {
  const rows = shownOptionLines(lines);
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`).join("\n");
}

function wrapText(text: string, width = 88): string {
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
