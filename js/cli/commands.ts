/** The commands, as data: what each takes, how it is used, and the tool call it becomes. */
import { nearest } from "../tools/nearest.ts";
import { readStdin } from "./input.ts";
import { many, type OptionTable, type Parsed, UsageError, whole } from "./parse.ts";

/** A tool call. */
export interface ToolCall {
  readonly tool: string;
  readonly args: unknown;
}

/** One option in the help. */
export type OptionHelp = readonly [flags: string, what: string];

/** One command. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  readonly about: string;
  readonly options: OptionTable;
  readonly help: readonly OptionHelp[];
  /** A command line and what it does. */
  readonly examples: readonly (readonly [line: string, what: string])[];
  /** How many positional arguments there may be. */
  readonly takes: readonly [least: number, most: number];
  /** The call; absent for the commands that are none. @throws UsageError */
  readonly toCall?: (parsed: Parsed) => ToolCall | Promise<ToolCall>;
}

type Values = Parsed["values"];

const set = (args: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));

const flag = { type: "boolean" } as const;
const value = { type: "string" } as const;
const values = { type: "string", multiple: true } as const;

const negated = (given: Values, name: string): false | undefined =>
  given[name] === true ? false : undefined;

/** Every command, in the order of the overview. */
export const COMMANDS: readonly Command[] = [
  {
    name: "demo",
    summary: "play a short agent's session on a directory",
    usage: "filewright demo [DIR]",
    about:
      "Searches, reads, compares and edits as an agent would, and prints each call, its result and its time. DIR itself is only read: the edit happens in a copy that is removed afterwards.",
    options: {},
    help: [],
    examples: [
      ["filewright demo", "on the current directory"],
      ["filewright demo ~/src/project", "on another one"],
    ],
    takes: [0, 1],
  },
  {
    name: "tools",
    summary: "list the tools that models are given",
    usage: "filewright tools [--json]",
    about: "With --json: names, descriptions and JSON Schemas, ready to hand to a model.",
    options: {},
    help: [],
    examples: [
      ["filewright tools", "names and purposes"],
      ["filewright tools --json > tools.json", "with their schemas"],
    ],
    takes: [0, 0],
  },
  {
    name: "call",
    summary: "call any tool with JSON arguments",
    usage: "filewright call TOOL [--args JSON|-]",
    about:
      "Prints the text a model would be given; with --json the whole result. `-` reads the arguments from standard input.",
    options: { args: value },
    help: [["--args JSON|-", "the arguments; default {}"]],
    examples: [
      [`filewright call stat --args '{"path":"package.json"}'`, "the facts about a file"],
      ["filewright call write_file --args - < args.json", "arguments from a file"],
    ],
    takes: [1, 1],
    async toCall({ positionals, values: given }) {
      const text =
        given["args"] === "-" ? await readStdin() : ((given["args"] as string | undefined) ?? "{}");
      return { tool: positionals[0] as string, args: jsonOf(text, "--args") };
    },
  },
  {
    name: "read",
    summary: "print a page of a file, with line numbers",
    usage: "filewright read PATH [--start N] [--lines N] [--numbers STYLE]",
    about: "A page of a file of any size costs the same. Encodings are recognised; binary files are refused.",
    options: { start: value, lines: value, numbers: value, encoding: value },
    help: [
      ["--start N", "first line; --start=-20 begins 20 lines before the end"],
      ["--lines N", "how many lines (2000)"],
      ["--numbers cat|arrow|plain|none", "how lines are numbered (cat)"],
      ["--encoding NAME", "instead of recognising it"],
    ],
    examples: [
      ["filewright read src/main.ts", "from the beginning"],
      ["filewright read server.log --start=-50", "the last 50 lines"],
    ],
    takes: [1, 1],
    toCall: ({ positionals, values: given }) => ({
      tool: "read_file",
      args: set({
        path: positionals[0],
        start_line: whole(given["start"], "start"),
        max_lines: whole(given["lines"], "lines"),
        line_numbers: given["numbers"],
        encoding: given["encoding"],
      }),
    }),
  },
  {
    name: "grep",
    summary: "search the contents of files",
    usage: "filewright grep PATTERN [PATH] [options]",
    about:
      "PATTERN is a regular expression of linear time (no look-around); -F searches for the text as it is. Ignore files are obeyed, .git is never searched.",
    options: {
      "ignore-case": { ...flag, short: "i" },
      "smart-case": { ...flag, short: "S" },
      fixed: { ...flag, short: "F" },
      word: { ...flag, short: "w" },
      multiline: { ...flag, short: "U" },
      context: { ...value, short: "C" },
      before: { ...value, short: "B" },
      after: { ...value, short: "A" },
      glob: { ...values, short: "g" },
      exclude: values,
      type: { ...values, short: "t" },
      files: { ...flag, short: "l" },
      count: { ...flag, short: "c" },
      limit: { ...value, short: "m" },
      "no-ignore": flag,
      "no-hidden": flag,
    },
    help: [
      ["-i, --ignore-case", "letter case does not count"],
      ["-S, --smart-case", "it counts only where PATTERN has a capital"],
      ["-F, --fixed", "PATTERN is plain text"],
      ["-w, --word", "whole words only"],
      ["-U, --multiline", "PATTERN may span lines"],
      ["-C N, -B N, -A N", "lines of context around, before, after"],
      ["-g, --glob GLOB", "only such files (repeatable)"],
      ["--exclude GLOB", "leave such files out (repeatable)"],
      ["-t, --type EXT", "only files with this extension (repeatable)"],
      ["-l, --files", "only the paths of files that match"],
      ["-c, --count", "the number of matching lines of each file"],
      ["-m, --limit N", "at most so many results (200)"],
      ["--no-ignore, --no-hidden", "search ignored files; skip dot files"],
    ],
    examples: [
      ["filewright grep 'fn \\w+' src", "a regular expression below src"],
      ["filewright grep -F 'a.b(c)' -g '*.ts' -C 2", "plain text, in TypeScript files, with context"],
    ],
    takes: [1, 2],
    toCall: ({ positionals, values: given }) => ({
      tool: "grep",
      args: set({
        pattern: positionals[0],
        path: positionals[1],
        case:
          given["ignore-case"] === true ? "insensitive" : given["smart-case"] === true ? "smart" : undefined,
        regex: negated(given, "fixed"),
        word: given["word"],
        multiline: given["multiline"],
        context: whole(given["context"], "context"),
        before: whole(given["before"], "before"),
        after: whole(given["after"], "after"),
        glob: many(given["glob"]),
        exclude: many(given["exclude"]),
        file_types: many(given["type"]),
        output: given["files"] === true ? "files" : given["count"] === true ? "count" : undefined,
        max_results: whole(given["limit"], "limit"),
        respect_ignore: negated(given, "no-ignore"),
        hidden: negated(given, "no-hidden"),
      }),
    }),
  },
  {
    name: "glob",
    summary: "find files by name",
    usage: "filewright glob PATTERN... [--path DIR] [options]",
    about:
      "`*` stays within a directory, `**` does not; a pattern without `/` matches at any depth. Ignore files are obeyed.",
    options: {
      path: value,
      exclude: values,
      type: value,
      sort: value,
      limit: value,
      "ignore-case": { ...flag, short: "i" },
      "no-ignore": flag,
      "no-hidden": flag,
    },
    help: [
      ["--path DIR", "where to look"],
      ["--exclude GLOB", "leave such paths out (repeatable)"],
      ["--type file|dir|any", "what to find (file)"],
      ["--sort path|recent|mtime", "the order (path)"],
      ["--limit N", "at most so many (1000)"],
      ["-i, --ignore-case", "letter case does not count"],
      ["--no-ignore, --no-hidden", "show ignored files; skip dot files"],
    ],
    examples: [
      ["filewright glob '*.ts'", "at any depth"],
      ["filewright glob 'src/*.{js,ts}' --sort recent", "the latest first"],
    ],
    takes: [1, 1000],
    toCall: ({ positionals, values: given }) => ({
      tool: "glob",
      args: set({
        pattern: positionals,
        path: given["path"],
        exclude: many(given["exclude"]),
        type: given["type"],
        sort: given["sort"],
        limit: whole(given["limit"], "limit"),
        case_sensitive: negated(given, "ignore-case"),
        respect_ignore: negated(given, "no-ignore"),
        hidden: negated(given, "no-hidden"),
      }),
    }),
  },
  {
    name: "edit",
    summary: "replace text in a file, exactly or not at all",
    usage: "filewright edit PATH --old TEXT --new TEXT [--all] [--dry-run]",
    about:
      "The old text must be there exactly once unless --all is given. Prints the diff. --edits takes a JSON list of {old_text, new_text, replace_all} that is applied as one; `-` reads it from standard input.",
    options: {
      old: value,
      new: value,
      all: flag,
      "dry-run": { ...flag, short: "n" },
      edits: value,
      match: value,
    },
    help: [
      ["--old TEXT, --new TEXT", "what to replace, and by what"],
      ["--all", "replace every occurrence"],
      ["--edits JSON|-", "several replacements at once"],
      ["--match exact|whitespace|fuzzy", "how strictly the old text must match (whitespace)"],
      ["-n, --dry-run", "only show the diff"],
    ],
    examples: [
      ["filewright edit README.md --old teh --new the --all", "every occurrence"],
      ["filewright edit a.ts --edits - --dry-run < edits.json", "a list of edits, not written"],
    ],
    takes: [1, 1],
    async toCall({ positionals, values: given }) {
      const common = { path: positionals[0], dry_run: given["dry-run"], match: given["match"] };
      if (given["edits"] !== undefined) {
        if (given["old"] !== undefined) throw new UsageError("give --edits, or --old and --new, not both");
        const text = given["edits"] === "-" ? await readStdin() : (given["edits"] as string);
        return { tool: "edit_file", args: set({ ...common, edits: jsonOf(text, "--edits") }) };
      }
      if (given["old"] === undefined) throw new UsageError("give --old TEXT and --new TEXT, or --edits JSON");
      return {
        tool: "edit_file",
        args: set({
          ...common,
          old_text: given["old"],
          new_text: given["new"] ?? "",
          replace_all: given["all"],
        }),
      };
    },
  },
  {
    name: "diff",
    summary: "compare two files",
    usage: "filewright diff A B|- [-w] [--context N] [--format unified|json|html]",
    about:
      'A unified diff, as git makes it. `-` compares with standard input. Equal files print "Files are identical"; the exit status is 0 either way.',
    options: {
      context: { ...value, short: "U" },
      "ignore-whitespace": { ...flag, short: "w" },
      format: value,
    },
    help: [
      ["-U, --context N", "unchanged lines around a change (3)"],
      ["-w, --ignore-whitespace", "white space does not count"],
      ["--format unified|json|html", "how it is printed (unified)"],
    ],
    examples: [
      ["filewright diff old.ts new.ts", "two files"],
      ["git show HEAD:a.ts | filewright diff a.ts -", "a file and standard input"],
    ],
    takes: [2, 2],
    async toCall({ positionals: [a, b], values: given }) {
      const second = b === "-" ? { content_b: await readStdin() } : { b };
      return {
        tool: "diff",
        args: set({
          a,
          ...second,
          context: whole(given["context"], "context"),
          ignore_whitespace: given["ignore-whitespace"],
          format: given["format"],
        }),
      };
    },
  },
  {
    name: "ls",
    summary: "list a directory",
    usage: "filewright ls [PATH] [--depth N] [--sort type|name|size|mtime] [--format FORM]",
    about: "Links are shown with their target and never followed.",
    options: {
      depth: { ...value, short: "d" },
      sort: value,
      desc: flag,
      format: value,
      ignore: values,
      limit: value,
      "respect-ignore": flag,
      "no-hidden": flag,
    },
    help: [
      ["-d, --depth N", "how many levels (1)"],
      ["--sort type|name|size|mtime, --desc", "the order (type: directories first)"],
      ["--format text|json|names|tree", "how it is printed (text)"],
      ["--ignore GLOB", "leave such names out (repeatable)"],
      ["--respect-ignore", "leave out what ignore files name"],
      ["--no-hidden", "skip dot files"],
      ["--limit N", "at most so many (1000)"],
    ],
    examples: [
      ["filewright ls src --depth 2 --format tree", "a tree"],
      ["filewright ls --sort size --desc", "the largest first"],
    ],
    takes: [0, 1],
    toCall: ({ positionals, values: given }) => ({
      tool: "list_directory",
      args: set({
        path: positionals[0],
        depth: whole(given["depth"], "depth"),
        sort: given["sort"],
        order: given["desc"] === true ? "desc" : undefined,
        format: given["format"],
        ignore: many(given["ignore"]),
        respect_ignore: given["respect-ignore"],
        hidden: negated(given, "no-hidden"),
        limit: whole(given["limit"], "limit"),
      }),
    }),
  },
  {
    name: "stat",
    summary: "the facts about a path",
    usage: "filewright stat PATH [--hash] [--no-follow]",
    about: "Type, size, permissions, times and media type.",
    options: { hash: flag, "no-follow": flag },
    help: [
      ["--hash", "the sha256 of a file's content too"],
      ["--no-follow", "a link itself, not what it leads to"],
    ],
    examples: [["filewright stat package.json --hash", "with its hash"]],
    takes: [1, 1],
    toCall: ({ positionals, values: given }) => ({
      tool: "stat",
      args: set({ path: positionals[0], hash: given["hash"], follow: negated(given, "no-follow") }),
    }),
  },
];

/** The command of a name. @throws UsageError naming the nearest one */
export function findCommand(name: string): Command {
  const found = COMMANDS.find((command) => command.name === name);
  if (found !== undefined) return found;
  const close = nearest(
    name,
    COMMANDS.map((command) => command.name),
  );
  throw new UsageError(
    `unknown command '${name}'${close === undefined ? "; filewright --help lists them" : `; did you mean '${close}'?`}`,
  );
}

function jsonOf(text: string, option: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${option} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
