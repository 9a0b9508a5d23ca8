/** `filewright man`: prints the manual in roff. It is generated from the data of parsing, help and completion. */
import { packageVersion } from "../../mcp/command.ts";
import { nearest } from "../../schema/nearest.ts";
import { type Command, type OptionHelp, EXIT_HELP, GLOBAL_HELP, optionHelp } from "../command.ts";
import { print } from "../streams.ts";
import { type ParsedCommandLine, UsageError } from "../../schema/command-line.node.ts";

/** Creates the command. `commands` returns all commands. */
export function manCommand(commands: () => readonly Command[]): Command {
  return {
    name: "man",
    summary: "print the manual page, of everything or of one command",
    usage: "filewright man [COMMAND]",
    about: "The page is in roff, the form of man(1).",
    options: {},
    help: [],
    examples: [
      ["filewright man | man -l -", "read it"],
      ["filewright man > ~/.local/share/man/man1/filewright.1", "install it"],
      ["filewright man grep | man -l -", "the page of one command"],
    ],
    takes: [0, 1],
    own: true,
    async run({ positionals }: ParsedCommandLine) {
      const [name] = positionals;
      const all = commands();
      if (name === undefined) {
        print(manual(all));
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
      print(commandPage(found));
      return 0;
    },
  };
}

/** Returns the page about the whole program. */
function manual(commands: readonly Command[]): string {
  return [
    title("filewright"),
    ".SH NAME",
    "filewright \\- the filesystem that AI agents work through, from a shell",
    ".SH SYNOPSIS",
    ".B filewright",
    ".I command",
    "[arguments] [options]",
    ".SH COMMANDS",
    ...commands.flatMap(({ name, summary }) => [".TP", `.B ${plain(name)}`, text(summary)]),
    ".SH OPTIONS OF MOST COMMANDS",
    ...optionList(GLOBAL_HELP),
    ...commands.flatMap((command) => [
      `.SH ${quoted(`filewright ${command.name}`)}`,
      ...described(command),
      ...optionList(command.help),
      ...examples(command),
    ]),
    ".SH EXIT STATUS",
    text(EXIT_HELP),
    ".SH ENVIRONMENT",
    ...optionList(ENVIRONMENT),
  ].join("\n");
}

const ENVIRONMENT: readonly OptionHelp[] = [
  ["NO_COLOR, FORCE_COLOR", "no colour, or colour in a pipe, unless --color says otherwise"],
  ["PAGER", "what shows a text that is longer than the screen (less -FRX)"],
  ["XDG_STATE_HOME", "where locks, the history and grants are kept (~/.local/state)"],
];

/** Returns the page about one command. */
function commandPage(command: Command): string {
  return [
    title(`filewright-${command.name}`),
    ".SH NAME",
    `${plain(`filewright-${command.name}`)} \\- ${plain(command.summary)}`,
    ".SH SYNOPSIS",
    ...described(command),
    ".SH OPTIONS",
    ...optionList(optionHelp(command)),
    ".SH EXAMPLES",
    ...examples(command),
    ".SH EXIT STATUS",
    text(EXIT_HELP),
  ].join("\n");
}

function described({ usage, about }: Command): readonly string[] {
  return [".nf", text(usage), ".fi", ".PP", text(about)];
}

function optionList(options: readonly OptionHelp[]): readonly string[] {
  return options.flatMap(([flags, what]) => [".TP", `.B ${plain(flags)}`, text(what)]);
}

function examples(command: Command): readonly string[] {
  return command.examples.flatMap(([line, what]) => [".TP", `.B ${plain(line)}`, text(what)]);
}

function title(name: string): string {
  return `.TH ${quoted(name.toUpperCase())} 1 "" ${quoted(`filewright ${packageVersion()}`)}`;
}

/** Escapes text within a line: roff gives a backslash and a dash a special meaning. */
function plain(words: string): string {
  return words.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll("\n", " ");
}

/** Escapes a whole line: roff takes a line that begins with a dot or a quote for a request. */
function text(words: string): string {
  const line = plain(words);
  return /^[.']/u.test(line) ? `\\&${line}` : line;
}

function quoted(words: string): string {
  return `"${plain(words).replaceAll('"', '""')}"`;
}
