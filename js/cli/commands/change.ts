/**
 * The commands that change files (write, copy, move, delete, mkdir, batch), and two that only report: cat and
 * access.
 */
import { type Command, operands, parseJsonOption } from "../command.ts";
import { readInput } from "../streams.ts";
import { UsageError } from "../../schema/command-line.node.ts";
import { rowsOfFiles } from "../person/view.ts";

/** Returns the command `copy` or `move`. */
function transferCommand(name: "copy" | "move", summary: string, example: string): Command {
  return {
    name,
    tool: name,
    // That of filewright delete, which makes room for the destination.
    words: { settings: { "recursive: true": { add: "-r" } } },
    summary,
    usage: `filewright ${name} SOURCE DESTINATION [--overwrite] [--no-parents]`,
    about:
      "DESTINATION is the exact new path. An existing one is refused unless --overwrite is given. Missing directories are created.",
    help: [
      ["--overwrite", "replace an existing destination", "overwrite"],
      ["--no-parents", "do not create missing directories", { create_dirs: false }],
    ],
    examples: [[example, "a whole directory, or one file"]],
    takes: [2, 2],
    toCall: operands(["source", "destination"]),
  };
}

/** The commands of this file. */
export const CHANGE_COMMANDS: readonly Command[] = [
  {
    name: "write",
    tool: "write_file",
    summary: "write a file from an argument, a file or standard input",
    usage: "filewright write PATH [- | --content TEXT | --from FILE] [--append] [--no-overwrite]",
    about:
      "Writes atomically: readers see the old file or the new one. Without --content and --from the content is read from standard input. Missing directories are created.",
    help: [
      ["--content TEXT", "the content", "content"],
      ["--from FILE", "a file with the content; - is standard input"],
      ["-a, --append", "add to the end", "append"],
      ["--no-overwrite", "refuse if the file exists", { overwrite: false }],
      ["--encoding NAME", "such as utf-16le or latin1 (that of the file, otherwise utf-8)", "encoding"],
      ["--eol as_is|lf|crlf|keep", "line ends (keep: those of the file, otherwise as sent)", "eol"],
      ["--mode OCTAL", "permission bits, such as 0755", "mode"],
      ["--whole-file", "write a comment that looks like a placeholder for omitted lines", "whole_file"],
      ["--expect HASH", "refuse unless the file has this hash; stat --hash prints it", "expected_hash"],
    ],
    examples: [
      ["date | filewright write log/today.txt -", "from standard input"],
      [`filewright write notes.md -a --content "one more line\n"`, "added to the end"],
    ],
    takes: [1, 2],
    async toCall({ positionals: [path, input], values: { content, from } }, shell, { tool, args }) {
      if ([content, from, input].filter((one) => one !== undefined).length > 1)
        throw new UsageError("give one of -, --content and --from");
      if (input !== undefined && input !== "-")
        throw new UsageError(`'${input}' is not understood; --content takes text, --from a file`);
      if (content !== undefined) return { tool, args: { path, ...args } };
      return { tool, args: { path, content: await readInput(shell, String(from ?? "-")), ...args } };
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
    help: [
      ["-r, --recursive", "a directory with its content", "recursive"],
      ["-f, --force", "do nothing if it does not exist", "missing_ok"],
    ],
    examples: [["filewright delete build -r", "a directory"]],
    takes: [1, 1],
    toCall: operands(["path"]),
  },
  {
    name: "mkdir",
    tool: "mkdir",
    summary: "create a directory with its parents",
    usage: "filewright mkdir PATH [--new] [--no-parents]",
    about: "An existing directory is no error unless --new is given.",
    help: [
      ["--new", "refuse if it exists", { exist_ok: false }],
      ["--no-parents", "do not create missing parents", { parents: false }],
    ],
    examples: [["filewright mkdir a/b/c", "all three"]],
    takes: [1, 1],
    toCall: operands(["path"]),
  },
  {
    name: "batch",
    tool: "batch",
    summary: "run several calls as one change, all or none",
    usage: "filewright batch FILE|- [--not-atomic] [--dry-run]",
    about:
      "FILE contains a JSON list of {tool, args}. If a call fails, or the process is killed, the earlier calls are rolled back.",
    help: [
      ["--not-atomic", "keep earlier changes when a call fails", { atomic: false }],
      ["-n, --dry-run", "only show the effect of each call", "dry_run"],
    ],
    examples: [["filewright batch steps.json -n", "show the result without writing"]],
    takes: [1, 1],
    async toCall({ positionals: [file = ""] }, shell, { tool, args }) {
      const operations = parseJsonOption(await readInput(shell, file), "the list");
      return { tool, args: { operations, ...args } };
    },
  },
  {
    name: "cat",
    tool: "read_many_files",
    summary: "print several files, each after its name",
    usage: "filewright cat PATH... [--exclude GLOB] [--max-files N] [--max-bytes N]",
    about:
      "PATH is a file, a directory or a glob. Ignored files are skipped; binary files are left out with a note.",
    help: [
      ["--exclude GLOB...", "skip matching files (repeatable)", "exclude"],
      ["--max-files N", "the maximum number (no limit)", "max_files"],
      ["--max-bytes N", "the maximum size of the content in bytes (no limit)", "max_total_bytes"],
      ["--no-ignore", "also print ignored files", { respect_ignore: false }],
    ],
    examples: [["filewright cat 'src/**/*.ts' --exclude '*.test.ts'", "by a glob"]],
    takes: [1, 10_000],
    toCall: operands(["paths..."], rowsOfFiles),
  },
  {
    name: "access",
    tool: "access_info",
    summary: "show which paths may be read and changed",
    usage: "filewright access",
    about: "Prints the roots, the denied paths, and the confinement by the kernel.",
    help: [],
    examples: [["filewright access --root ~/project", "of another directory"]],
    takes: [0, 0],
    toCall: operands([]),
  },
];
