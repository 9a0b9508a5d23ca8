/** The commands about the content of files: read, edit, patch, diff, stat. */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { type Command, FLAG_OPTION, parseJsonOption, falseIfGiven, VALUE_OPTION } from "../command.ts";
import { readInput, readStdin } from "../streams.ts";
import { UsageError, parseIntegerOption } from "../../schema/command-line.node.ts";
import { rowsOfFile, rowsOfFiles } from "../person/view.ts";

/** Options of `read` that select a page; they apply to a single file. */
const PAGE_OPTIONS = {
  start: VALUE_OPTION,
  lines: VALUE_OPTION,
  numbers: VALUE_OPTION,
  encoding: VALUE_OPTION,
  "start-byte": VALUE_OPTION,
  "force-text": FLAG_OPTION,
} as const;

/** The commands of this file. */
export const FILE_COMMANDS: readonly Command[] = [
  {
    name: "read",
    tool: "read_file",
    summary: "print a file, or some of its lines, with line numbers",
    usage: "filewright read PATH... [--start N] [--lines N] [--numbers STYLE]",
    about:
      "Prints a file of any size. Encodings are detected; binary files are refused. Several PATHs are printed as by filewright cat.",
    options: PAGE_OPTIONS,
    aliases: {
      "start-line": "start",
      offset: "start",
      "max-lines": "lines",
      limit: "lines",
      "line-numbers": "numbers",
    },
    help: [
      ["--start N", "the first line; --start=-20 begins 20 lines before the end"],
      ["--lines N", "the number of lines (all)"],
      ["--numbers cat|arrow|plain|none", "the form of line numbers (cat)"],
      ["--encoding NAME", "the encoding, instead of detecting it"],
      ["--start-byte N", "begin at this byte, also inside a line"],
      ["--force-text", "show a binary file as text"],
    ],
    examples: [
      ["filewright read src/main.ts", "from the beginning"],
      ["filewright read server.log --start=-50", "the last 50 lines"],
    ],
    pages: true,
    takes: [1, 10_000],
    toCall: ({ positionals, values: given }) => {
      const page = withoutUndefined({
        start_line: parseIntegerOption(given["start"], "start"),
        max_lines: parseIntegerOption(given["lines"], "lines"),
        line_numbers: given["numbers"],
        encoding: given["encoding"],
        start_byte: parseIntegerOption(given["start-byte"], "start-byte"),
        force_text: given["force-text"],
      });
      if (positionals.length === 1)
        return { tool: "read_file", rows: rowsOfFile, args: { path: positionals[0], ...page } };
      const option = Object.keys(PAGE_OPTIONS).find((name) => given[name] !== undefined);
      if (option !== undefined) throw new UsageError(`--${option} goes with one path`);
      return { tool: "read_many_files", rows: rowsOfFiles, args: { paths: positionals } };
    },
  },
  {
    name: "edit",
    tool: "edit_file",
    words: { called: { old_text: "the old text", new_text: "the new text" } },
    summary: "replace text in a file, exactly or not at all",
    usage: "filewright edit PATH (OLD NEW | --old TEXT --new TEXT | --edits JSON) [--all] [--dry-run]",
    about:
      "The old text must occur exactly once unless --all is given. Prints the diff. --edits takes a JSON list of {old_text, new_text, replace_all}, applied together; `-` reads it from standard input.",
    options: {
      old: VALUE_OPTION,
      new: VALUE_OPTION,
      all: FLAG_OPTION,
      "dry-run": { ...FLAG_OPTION, short: "n" },
      edits: VALUE_OPTION,
      match: VALUE_OPTION,
      "whole-file": FLAG_OPTION,
    },
    aliases: { "old-text": "old", "new-text": "new", "replace-all": "all" },
    help: [
      ["--old TEXT, --new TEXT", "the old text and the new text; the same as OLD and NEW"],
      ["--all", "replace every occurrence"],
      ["--edits JSON|-", "several replacements at once"],
      ["--match exact|whitespace|fuzzy", "how strictly the old text must match (whitespace)"],
      ["--whole-file", "write a comment that looks like a placeholder for omitted lines"],
      ["-n, --dry-run", "only show the diff"],
    ],
    examples: [
      ["filewright edit notes.md draft final", "replace the only occurrence of draft"],
      ["filewright edit README.md --old teh --new the --all", "every occurrence"],
      ["filewright edit a.ts --edits - --dry-run < edits.json", "a list of edits, not written"],
    ],
    takes: [1, 3],
    async toCall({ positionals, values: given }, shell) {
      const [path, ...texts] = positionals;
      const common = {
        path,
        dry_run: given["dry-run"],
        match: given["match"],
        whole_file: given["whole-file"],
      };
      if (texts.length > 0 && (given["old"] ?? given["new"] ?? given["edits"]) !== undefined)
        throw new UsageError("give OLD and NEW, or --old and --new, or --edits, not both");
      if (given["edits"] !== undefined) {
        if (given["old"] !== undefined) throw new UsageError("give --edits, or --old and --new, not both");
        const text = given["edits"] === "-" ? await readStdin(shell) : (given["edits"] as string);
        return {
          tool: "edit_file",
          args: withoutUndefined({ ...common, edits: parseJsonOption(text, "--edits") }),
        };
      }
      const [old = given["old"], new_ = given["new"]] = texts;
      if (old === undefined) throw new UsageError("give --old TEXT and --new TEXT, or --edits JSON");
      // An empty new text deletes the old one. A missing new text is an error, because it was probably
      // forgotten.
      if (new_ === undefined) throw new UsageError(`the new text is missing; --new '' deletes the old one`);
      return {
        tool: "edit_file",
        args: withoutUndefined({ ...common, old_text: old, new_text: new_, replace_all: given["all"] }),
      };
    },
  },
  {
    name: "patch",
    tool: "apply_patch",
    summary: "apply a patch to its files, all or nothing",
    usage: "filewright patch FILE|- [--path PATH] [--reverse] [--dry-run]",
    about:
      "Takes unified diffs, git's form with renames and modes, and *** Begin Patch. Hunks are found by their lines, even if their line numbers are wrong. FILE is relative to the current directory, the paths in the patch are relative to the workspace.",
    options: {
      path: VALUE_OPTION,
      strip: { ...VALUE_OPTION, short: "p" },
      fuzz: { ...VALUE_OPTION, short: "F" },
      reverse: { ...FLAG_OPTION, short: "R" },
      "dry-run": { ...FLAG_OPTION, short: "n" },
    },
    help: [
      ["--path PATH", "the file, if the patch does not name it"],
      ["-p, --strip N", "directories to take from names (a/ and b/)"],
      ["-F, --fuzz 0-3", "context lines that may differ (2)"],
      ["-R, --reverse", "undo the patch"],
      ["-n, --dry-run", "only show the diff"],
    ],
    examples: [
      ["filewright patch fix.diff --dry-run", "show the result without writing"],
      ["git diff HEAD~1 | filewright patch - -R", "undo a commit's changes"],
    ],
    takes: [1, 1],
    toCall: async ({ positionals, values: given }, shell) => ({
      tool: "apply_patch",
      args: withoutUndefined({
        patch: await readInput(shell, positionals[0] as string),
        path: given["path"],
        strip: parseIntegerOption(given["strip"], "strip"),
        fuzz: parseIntegerOption(given["fuzz"], "fuzz"),
        reverse: given["reverse"],
        dry_run: given["dry-run"],
      }),
    }),
  },
  {
    name: "diff",
    tool: "diff",
    summary: "compare two files",
    usage: "filewright diff A B|- [-w] [--context N] [--format unified|json|html]",
    about:
      "A unified diff in the form of git. `-` compares with standard input. The exit status is 0 for equal files, of which nothing is printed, 1 for different ones, and 2 for an error, as that of diff.",
    options: {
      context: { ...VALUE_OPTION, short: "U" },
      "ignore-whitespace": { ...FLAG_OPTION, short: "w" },
      format: VALUE_OPTION,
    },
    help: [
      ["-U, --context N", "unchanged lines around a change (3)"],
      ["-w, --ignore-whitespace", "ignore white space"],
      ["--format unified|json|html", "the form of the output (unified)"],
    ],
    examples: [
      ["filewright diff old.ts new.ts", "two files"],
      ["git show HEAD:a.ts | filewright diff a.ts -", "a file and standard input"],
    ],
    pages: true,
    outcome: (data) => ((data as { readonly identical: boolean }).identical ? "same" : "differs"),
    takes: [2, 2],
    async toCall({ positionals: [a, b], values: given }, shell) {
      const second = b === "-" ? { content_b: await readStdin(shell) } : { b };
      return {
        tool: "diff",
        args: withoutUndefined({
          a,
          ...second,
          context: parseIntegerOption(given["context"], "context"),
          ignore_whitespace: given["ignore-whitespace"],
          format: given["format"],
        }),
      };
    },
  },
  {
    name: "stat",
    tool: "stat",
    summary: "print type, size and times of a path",
    usage: "filewright stat PATH [--hash] [--no-follow]",
    about: "Type, size, permissions, times and media type.",
    options: { hash: FLAG_OPTION, "no-follow": FLAG_OPTION },
    help: [
      ["--hash", "also the sha256 of a file's content"],
      ["--no-follow", "a link itself, not its target"],
    ],
    examples: [["filewright stat package.json --hash", "with its hash"]],
    takes: [1, 1],
    toCall: ({ positionals, values: given }) => ({
      tool: "stat",
      args: withoutUndefined({
        path: positionals[0],
        hash: given["hash"],
        follow: falseIfGiven(given, "no-follow"),
      }),
    }),
  },
];
