/** Creates the texts of the help from the data of the commands: purpose, usage, options and examples. */
import { type Command, EXIT_HELP, GLOBAL_HELP, optionHelp } from "./command.ts";
import { COMMANDS } from "./commands.ts";

/** Returns the text that `filewright --help` prints. */
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

/** Returns the text that `filewright COMMAND --help` prints. */
export function commandHelp(command: Command): string {
  return [
    `${command.name}: ${command.summary}`,
    "",
    `Usage: ${command.usage}`,
    "",
    wrap(command.about),
    "",
    "Options:",
    table(optionHelp(command)),
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
