/** `filewright man`: prints the manual in roff. It is generated from the data of parsing, help and completion. */
import { packageVersion } from "../../mcp/command.ts";
import { nearest } from "../../schema/nearest.ts";
import { type Command, EXIT_HELP, GLOBAL_HELP, optionHelpOf } from "../command.ts";
import { printText } from "../streams.ts";
import {
  type OptionLine,
  type ParsedCommandLine,
  shownOptionLines,
  UsageError,
} from "../../schema/command-line.node.ts";

/** Creates the command. `commands` returns all commands. */
export function manCommand(commands: () => readonly Command[]): Command {
  return {
    name: "man",
    summary: "print the manual page, of everything or of one command",
    usage: "filewright man [COMMAND]",
    about: "The page is in roff, the form of man(1).",
    help: [],
    examples: [
      ["filewright man | man -l -", "read it"],
      ["filewright man > ~/.local/share/man/man1/filewright.1", "install it"],
      ["filewright man grep | man -l -", "the page of one command"],
    ],
    takes: [0, 1],
    sort: "own",
    async run({ positionals }: ParsedCommandLine, shell) {
      const [name] = positionals;
      const all = commands();
      if (name === undefined) {
        printText(shell, manualPage(all));
        return 0;
      }
      const found = all.find((command) => command.name === name);
      const close = nearest(
        name,
        all.map((command) => command.name),
      );
      if (found === undefined)
        throw new UsageError(
          `unknown command '${name}'${close === undefined ? "; filewright --help lists them" : `; did you mean '${close}'?`}`,
        );
      printText(shell, commandPage(found));
      return 0;
    },
  };
}

/** Returns the page about the whole program. */
function manualPage(commands: readonly Command[]): string {
  return [
    titleLine("filewright"),
    ".SH NAME",
    "filewright \\- the filesystem that AI agents work through, from a shell",
    ".SH SYNOPSIS",
    ".B filewright",
    ".I command",
    "[arguments] [options]",
    ".SH COMMANDS",
    ...commands.flatMap(({ name, summary }) => [
      ".TP",
      `.B ${escapeRoffText(name)}`,
      escapeRoffLine(summary),
    ]),
    ".SH OPTIONS OF MOST COMMANDS",
    ...optionsSection(GLOBAL_HELP),
    ...commands.flatMap((command) => [
      `.SH ${quoteRoffArgument(`filewright ${command.name}`)}`,
      ...descriptionSection(command),
      ...optionsSection(command.help),
      ...examplesSection(command),
    ]),
    ".SH EXIT STATUS",
    escapeRoffLine(EXIT_HELP),
    ".SH ENVIRONMENT",
    ...optionsSection(ENVIRONMENT_VARIABLES_HELP),
  ].join("\n");
}

const ENVIRONMENT_VARIABLES_HELP: readonly OptionLine[] = [
  ["NO_COLOR, FORCE_COLOR", "no colour, or colour in a pipe, unless --color says otherwise"],
  ["PAGER", "what shows a text that is longer than the screen (less -FRX)"],
  ["XDG_STATE_HOME", "where locks, the history and grants are kept (~/.local/state)"],
];

/** Returns the page about one command. */
function commandPage(command: Command): string {
  return [
    titleLine(`filewright-${command.name}`),
    ".SH NAME",
    `${escapeRoffText(`filewright-${command.name}`)} \\- ${escapeRoffText(command.summary)}`,
    ".SH SYNOPSIS",
    ...descriptionSection(command),
    ".SH OPTIONS",
    ...optionsSection(optionHelpOf(command)),
    ".SH EXAMPLES",
    ...examplesSection(command),
    ".SH EXIT STATUS",
    escapeRoffLine(EXIT_HELP),
  ].join("\n");
}

function descriptionSection({ usage, about }: Command): readonly string[] {
  return [".nf", escapeRoffLine(usage), ".fi", ".PP", escapeRoffLine(about)];
}

function optionsSection(options: readonly OptionLine[]): readonly string[] {
  return shownOptionLines(options).flatMap(([flags, what]) => [
    ".TP",
    `.B ${escapeRoffText(flags)}`,
    escapeRoffLine(what),
  ]);
}

function examplesSection(command: Command): readonly string[] {
  return command.examples.flatMap(([line, what]) => [
    ".TP",
    `.B ${escapeRoffText(line)}`,
    escapeRoffLine(what),
  ]);
}

function titleLine(name: string): string {
  return `.TH ${quoteRoffArgument(name.toUpperCase())} 1 "" ${quoteRoffArgument(`filewright ${packageVersion()}`)}`;
}

/** Escapes text within a line: roff gives a backslash and a dash a special meaning. */
function escapeRoffText(words: string): string {
  return words.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll("\n", " ");
}

/** Escapes a whole line: roff takes a line that begins with a dot or a quote for a request. */
function escapeRoffLine(words: string): string {
  const line = escapeRoffText(words);
  return /^[.']/u.test(line) ? `\\&${line}` : line;
}

function quoteRoffArgument(words: string): string {
  return `"${escapeRoffText(words).replaceAll('"', '""')}"`;
}
