/** The commands about the content of files: read, edit, patch, diff, stat, changes. */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { type Command, operands, parseJsonOption } from "../command.ts";
import { readInput, readStdin } from "../streams.ts";
import { type OptionLine, optionTableOf, UsageError } from "../../schema/command-line.node.ts";
import { rowsOfFile, rowsOfFiles } from "../person/view.ts";

/** The options of `read`, which select a page of a single file. */
const PAGE_HELP: readonly OptionLine[] = [
  ["--start N", "the first line; --start=-20 begins 20 lines before the end", "start_line"],
  ["--lines N", "the number of lines (all)", "max_lines"],
  ["--numbers cat|arrow|plain|none", "the form of line numbers (cat)", "line_numbers"],
  ["--encoding NAME", "the encoding, instead of detecting it", "encoding"],
  ["--start-byte N", "begin at this byte, also inside a line", "start_byte"],
  ["--force-text", "show a binary file as text", "force_text"],
];

/** The commands of this file. */
export const FILE_COMMANDS: readonly Command[] = [
  {
    name: "read",
    tool: "read_file",
    summary: "print a file, or some of its lines, with line numbers",
    usage: "filewright read PATH... [--start N] [--lines N] [--numbers STYLE]",
    about:
      "Prints a file of any size. Encodings are detected; binary files are refused. Several PATHs are printed as by filewright cat.",
    aliases: { offset: "start", limit: "lines" },
    help: PAGE_HELP,
    examples: [
      ["filewright read src/main.ts", "from the beginning"],
      ["filewright read server.log --start=-50", "the last 50 lines"],
    ],
    pages: true,
    takes: [1, 10_000],
    toCall: ({ positionals, values }, _shell, { tool, args }) => {
      if (positionals.length === 1)
        return { tool, rows: rowsOfFile, args: { path: positionals[0], ...args } };
      const option = Object.keys(optionTableOf(PAGE_HELP)).find((name) => values[name] !== undefined);
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
    help: [
      [
        "--old TEXT, --new TEXT",
        "the old text and the new text; the same as OLD and NEW",
        "old_text",
        "new_text",
      ],
      ["--all", "replace every occurrence", "replace_all"],
      ["--edits JSON|-", "several replacements at once"],
      ["--match exact|whitespace|fuzzy", "how strictly the old text must match (whitespace)", "match"],
      ["--whole-file", "write a comment that looks like a placeholder for omitted lines", "whole_file"],
      ["-n, --dry-run", "only show the diff", "dry_run"],
    ],
    examples: [
      ["filewright edit notes.md draft final", "replace the only occurrence of draft"],
      ["filewright edit README.md --old teh --new the --all", "every occurrence"],
      ["filewright edit a.ts --edits - --dry-run < edits.json", "a list of edits, not written"],
    ],
    takes: [1, 3],
    async toCall({ positionals: [path, ...texts], values }, shell, { tool, args }) {
      const { old_text, new_text, replace_all, ...common } = args;
      const { edits } = values;
      if (texts.length > 0 && (old_text ?? new_text ?? edits) !== undefined)
        throw new UsageError("give OLD and NEW, or --old and --new, or --edits, not both");
      if (edits !== undefined) {
        if (old_text !== undefined) throw new UsageError("give --edits, or --old and --new, not both");
        const text = edits === "-" ? await readStdin(shell) : String(edits);
        return { tool, args: { path, ...common, edits: parseJsonOption(text, "--edits") } };
      }
      const [old = old_text, new_ = new_text] = texts;
      if (old === undefined) throw new UsageError("give --old TEXT and --new TEXT, or --edits JSON");
      // An empty new text deletes the old one. A missing new text is an error, because it was probably
      // forgotten.
      if (new_ === undefined) throw new UsageError(`the new text is missing; --new '' deletes the old one`);
      const replacement = withoutUndefined({ old_text: old, new_text: new_, replace_all });
      return { tool, args: { path, ...common, ...replacement } };
    },
  },
  {
    name: "patch",
    tool: "apply_patch",
    summary: "apply a patch to its files, all or nothing",
    usage: "filewright patch FILE|- [--path PATH] [--reverse] [--dry-run]",
    about:
      "Takes unified diffs, git's form with renames and modes, and *** Begin Patch. Hunks are found by their lines, even if their line numbers are wrong. FILE is relative to the current directory, the paths in the patch are relative to the workspace.",
    help: [
      ["--path PATH", "the file, if the patch does not name it", "path"],
      ["-p, --strip N", "directories to take from names (a/ and b/)", "strip"],
      ["-F, --fuzz 0-3", "context lines that may differ (2)", "fuzz"],
      ["-R, --reverse", "undo the patch", "reverse"],
      ["-n, --dry-run", "only show the diff", "dry_run"],
    ],
    examples: [
      ["filewright patch fix.diff --dry-run", "show the result without writing"],
      ["git diff HEAD~1 | filewright patch - -R", "undo a commit's changes"],
    ],
    takes: [1, 1],
    toCall: async ({ positionals: [file = ""] }, shell, { tool, args }) => ({
      tool,
      args: { patch: await readInput(shell, file), ...args },
    }),
  },
  {
    name: "diff",
    tool: "diff",
    summary: "compare two files",
    usage: "filewright diff A B|- [-w] [--context N] [--format unified|json|html]",
    about:
      "A unified diff in the form of git. `-` compares with standard input. The exit status is 0 for equal files, of which nothing is printed, 1 for different ones, and 2 for an error, as that of diff.",
    help: [
      ["-U, --context N", "unchanged lines around a change (3)", "context"],
      ["-w, --ignore-whitespace", "ignore white space", "ignore_whitespace"],
      ["--format unified|json|html", "the form of the output (unified)", "format"],
    ],
    examples: [
      ["filewright diff old.ts new.ts", "two files"],
      ["git show HEAD:a.ts | filewright diff a.ts -", "a file and standard input"],
    ],
    pages: true,
    outcome: (data) => ((data as { readonly identical: boolean }).identical ? "same" : "differs"),
    takes: [2, 2],
    async toCall({ positionals: [a, b] }, shell, { tool, args }) {
      const second = b === "-" ? { content_b: await readStdin(shell) } : { b };
      return { tool, args: { a, ...second, ...args } };
    },
  },
  {
    name: "stat",
    tool: "stat",
    summary: "print type, size and times of a path",
    usage: "filewright stat PATH [--hash] [--no-follow]",
    about: "Type, size, permissions, times and media type.",
    help: [
      ["--hash", "also the sha256 of a file's content", "hash"],
      ["--no-follow", "a link itself, not its target", { follow: false }],
    ],
    examples: [["filewright stat package.json --hash", "with its hash"]],
    takes: [1, 1],
    toCall: operands(["path"]),
  },
  {
    name: "changes",
    tool: "changes_since",
    summary: "print what changed since a mark or a change",
    usage: "filewright changes MARK|ID [--path PATH] [--max-tokens N]",
    about:
      "The files that recorded changes touched since a mark, or since the change with this id, as hunks against what is there now. What does not fit is named.",
    help: [
      ["--path PATH", "only this file, or below this directory", "path"],
      ["--max-tokens N", "the most tokens of the text (default: 2000)", "max_tokens"],
    ],
    examples: [["filewright changes before-lunch", "what changed since the mark"]],
    takes: [1, 1],
    toCall: operands(["since"]),
  },
];
