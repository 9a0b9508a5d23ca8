/**
 * The commands that change files (write, copy, move, delete, mkdir, batch), and two that only report: cat and
 * access.
 */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import {
  type Command,
  FLAG_OPTION,
  parseJsonOption,
  falseIfGiven,
  NO_IGNORE_WORDS,
  VALUE_OPTION,
  REPEATABLE_OPTION,
} from "../command.ts";
import { readInput, readStdin } from "../streams.ts";
import {
  valuesOfRepeatedOption,
  type ParsedCommandLine,
  UsageError,
  parseIntegerOption,
} from "../../schema/command-line.node.ts";
import { rowsOfFiles } from "../person/view.ts";

const TRANSFER_SETTINGS = {
  "create_dirs: true": { leaveOut: "--no-parents" },
  // That of filewright delete, which makes room for the destination.
  "recursive: true": { add: "-r" },
} as const;

/** Returns the command `copy` or `move`. */
function transferCommand(name: "copy" | "move", summary: string, example: string): Command {
  return {
    name,
    tool: name,
    words: { settings: TRANSFER_SETTINGS },
    summary,
    usage: `filewright ${name} SOURCE DESTINATION [--overwrite] [--no-parents]`,
    about:
      "DESTINATION is the exact new path. An existing one is refused unless --overwrite is given. Missing directories are created.",
    options: { overwrite: FLAG_OPTION, "no-parents": FLAG_OPTION },
    help: [
      ["--overwrite", "replace an existing destination"],
      ["--no-parents", "do not create missing directories"],
    ],
    examples: [[example, "a whole directory, or one file"]],
    takes: [2, 2],
    toCall: ({ positionals: [source, destination], values: given }) => ({
      tool: name,
      args: withoutUndefined({
        source,
        destination,
        overwrite: given["overwrite"],
        create_dirs: falseIfGiven(given, "no-parents"),
      }),
    }),
  };
}

/** The commands of this file. */
export const CHANGE_COMMANDS: readonly Command[] = [
  {
    name: "write",
    tool: "write_file",
    words: { settings: { "overwrite: true": { leaveOut: "--no-overwrite" } } },
    summary: "write a file from an argument, a file or standard input",
    usage: "filewright write PATH [- | --content TEXT | --from FILE] [--append] [--no-overwrite]",
    about:
      "Writes atomically: readers see the old file or the new one. Without --content and --from the content is read from standard input. Missing directories are created.",
    options: {
      content: VALUE_OPTION,
      from: VALUE_OPTION,
      append: { ...FLAG_OPTION, short: "a" },
      "no-overwrite": FLAG_OPTION,
      encoding: VALUE_OPTION,
      eol: VALUE_OPTION,
      mode: VALUE_OPTION,
      expect: VALUE_OPTION,
      "whole-file": FLAG_OPTION,
    },
    aliases: { "expected-hash": "expect" },
    help: [
      ["--content TEXT", "the content"],
      ["--from FILE", "a file with the content; - is standard input"],
      ["-a, --append", "add to the end"],
      ["--no-overwrite", "refuse if the file exists"],
      ["--encoding NAME", "such as utf-16le or latin1 (that of the file, otherwise utf-8)"],
      ["--eol as_is|lf|crlf|keep", "line ends (keep: those of the file, otherwise as sent)"],
      ["--mode OCTAL", "permission bits, such as 0755"],
      ["--whole-file", "write a comment that looks like a placeholder for omitted lines"],
      ["--expect HASH", "refuse unless the file has this hash; stat --hash prints it"],
    ],
    examples: [
      ["date | filewright write log/today.txt -", "from standard input"],
      [`filewright write notes.md -a --content "one more line\n"`, "added to the end"],
    ],
    takes: [1, 2],
    async toCall({ positionals, values: given }, shell) {
      const { content, from } = given;
      if ([content, from, positionals[1]].filter((one) => one !== undefined).length > 1)
        throw new UsageError("give one of -, --content and --from");
      if (positionals[1] !== undefined && positionals[1] !== "-")
        throw new UsageError(`'${positionals[1]}' is not understood; --content takes text, --from a file`);
      return {
        tool: "write_file",
        args: withoutUndefined({
          path: positionals[0],
          content: content ?? (await readInput(shell, typeof from === "string" ? from : "-")),
          append: given["append"],
          overwrite: falseIfGiven(given, "no-overwrite"),
          encoding: given["encoding"],
          eol: given["eol"],
          mode: given["mode"],
          expected_hash: given["expect"],
          whole_file: given["whole-file"],
        }),
      };
    },
  },
  transferCommand("copy", "copy a file or a directory", "filewright copy src backup/src"),
  transferCommand("move", "move or rename a file or a directory", "filewright move draft.md docs/guide.md"),
  {
    name: "delete",
    tool: "delete",
    summary: "delete a file, a link or a directory",
    usage: "filewright delete PATH [-r] [-f]",
    about: "Removes a link itself, never its target. filewright undo restores deleted files.",
    options: { recursive: { ...FLAG_OPTION, short: "r" }, force: { ...FLAG_OPTION, short: "f" } },
    aliases: { "missing-ok": "force" },
    help: [
      ["-r, --recursive", "a directory with its content"],
      ["-f, --force", "do nothing if it does not exist"],
    ],
    examples: [["filewright delete build -r", "a directory"]],
    takes: [1, 1],
    toCall: ({ positionals, values: given }) => ({
      tool: "delete",
      args: withoutUndefined({
        path: positionals[0],
        recursive: given["recursive"],
        missing_ok: given["force"],
      }),
    }),
  },
  {
    name: "mkdir",
    tool: "mkdir",
    words: {
      settings: { "exist_ok: true": { leaveOut: "--new" }, "parents: true": { leaveOut: "--no-parents" } },
    },
    summary: "create a directory with its parents",
    usage: "filewright mkdir PATH [--new] [--no-parents]",
    about: "An existing directory is no error unless --new is given.",
    options: { new: FLAG_OPTION, "no-parents": FLAG_OPTION },
    help: [
      ["--new", "refuse if it exists"],
      ["--no-parents", "do not create missing parents"],
    ],
    examples: [["filewright mkdir a/b/c", "all three"]],
    takes: [1, 1],
    toCall: ({ positionals, values: given }) => ({
      tool: "mkdir",
      args: withoutUndefined({
        path: positionals[0],
        exist_ok: falseIfGiven(given, "new"),
        parents: falseIfGiven(given, "no-parents"),
      }),
    }),
  },
  {
    name: "batch",
    tool: "batch",
    summary: "run several calls as one change, all or none",
    usage: "filewright batch FILE|- [--not-atomic] [--dry-run]",
    about:
      "FILE contains a JSON list of {tool, args}. If a call fails, or the process is killed, the earlier calls are rolled back.",
    options: { "not-atomic": FLAG_OPTION, "dry-run": { ...FLAG_OPTION, short: "n" } },
    help: [
      ["--not-atomic", "keep earlier changes when a call fails"],
      ["-n, --dry-run", "only show the effect of each call"],
    ],
    examples: [["filewright batch steps.json -n", "show the result without writing"]],
    takes: [1, 1],
    async toCall({ positionals, values: given }, shell) {
      const text =
        positionals[0] === "-" ? await readStdin(shell) : await readInput(shell, positionals[0] as string);
      return {
        tool: "batch",
        args: withoutUndefined({
          operations: parseJsonOption(text, "the list"),
          atomic: falseIfGiven(given, "not-atomic"),
          dry_run: given["dry-run"],
        }),
      };
    },
  },
  {
    name: "cat",
    tool: "read_many_files",
    words: { settings: NO_IGNORE_WORDS },
    summary: "print several files, each after its name",
    usage: "filewright cat PATH... [--exclude GLOB] [--max-files N] [--max-bytes N]",
    about:
      "PATH is a file, a directory or a glob. Ignored files are skipped; binary files are left out with a note.",
    options: {
      exclude: REPEATABLE_OPTION,
      "max-files": VALUE_OPTION,
      "max-bytes": VALUE_OPTION,
      "no-ignore": FLAG_OPTION,
    },
    aliases: { "max-total-bytes": "max-bytes" },
    help: [
      ["--exclude GLOB", "skip matching files (repeatable)"],
      ["--max-files N", "the maximum number (no limit)"],
      ["--max-bytes N", "the maximum size of the content in bytes (no limit)"],
      ["--no-ignore", "also print ignored files"],
    ],
    examples: [["filewright cat 'src/**/*.ts' --exclude '*.test.ts'", "by a glob"]],
    takes: [1, 10_000],
    toCall: ({ positionals, values: given }: ParsedCommandLine) => ({
      tool: "read_many_files",
      rows: rowsOfFiles,
      args: withoutUndefined({
        paths: positionals,
        exclude: valuesOfRepeatedOption(given["exclude"]),
        max_files: parseIntegerOption(given["max-files"], "max-files"),
        max_total_bytes: parseIntegerOption(given["max-bytes"], "max-bytes"),
        respect_ignore: falseIfGiven(given, "no-ignore"),
      }),
    }),
  },
  {
    name: "access",
    tool: "access_info",
    summary: "show which paths may be read and changed",
    usage: "filewright access",
    about: "Prints the roots, the denied paths, and the confinement by the kernel.",
    options: {},
    help: [],
    examples: [["filewright access --root ~/project", "of another directory"]],
    takes: [0, 0],
    toCall: () => ({ tool: "access_info", args: {} }),
  },
];
