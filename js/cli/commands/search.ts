/** The search commands: grep, glob, search, symbol, outline, find, ls. */
import { type Command, operands, type SearchOutcome } from "../command.ts";
import {
  type OptionLine,
  type ParsedCommandLine,
  valuesOfRepeatedOption,
} from "../../schema/command-line.node.ts";
import { mergeSearches } from "../several-paths.ts";
import { type RowsOf, rowsOfEntries, rowsOfFoundFiles, rowsOfMatches, rowsOfPaths } from "../person/view.ts";

/**
 * Returns what a search found, for the exit status. Without a match it is `unknown` when the search ended
 * early.
 */
function searchOutcomeOf(data: unknown): SearchOutcome {
  const facts = data as {
    readonly total?: number;
    readonly total_matches?: number;
    readonly total_definitions?: number;
    readonly total_uses?: number;
    readonly complete?: boolean;
  };
  const named = (facts.total_definitions ?? 0) + (facts.total_uses ?? 0);
  if ((facts.total_matches ?? facts.total ?? named) > 0) return "found";
  return facts.complete === false ? "unknown" : "nothing";
}

/** Returns the `toCall` of a search. With `--quiet` one result is enough, because only the exit status matters. */
function searchFor(names: readonly string[], rows: RowsOf, limit: string): NonNullable<Command["toCall"]> {
  const call = operands(names, rows);
  return (parsed, shell, { tool, args }) =>
    call(parsed, shell, { tool, args: parsed.values["quiet"] === true ? { ...args, [limit]: 1 } : args });
}

const QUIET_HELP: OptionLine = [
  "-q, --quiet",
  "print nothing: the exit status says whether there is a match",
];

/** The depth to which `--recursive` lists. */
const MAX_RECURSIVE_DEPTH = 32;

/** Puts the patterns of `-e` before the paths. Several become one that matches where any of them does. */
function withPatternOfOptions(parsed: ParsedCommandLine): ParsedCommandLine {
  const { regexp, ...values } = parsed.values;
  const patterns = valuesOfRepeatedOption(regexp);
  if (patterns === undefined) return parsed;
  const [first = "", ...others] = patterns;
  if (others.length === 0) return { values, positionals: [first, ...parsed.positionals] };
  const isText = values["fixed"] === true;
  const either = patterns.map((one) => `(?:${isText ? literalPattern(one) : one})`).join("|");
  return { values: { ...values, fixed: false }, positionals: [either, ...parsed.positionals] };
}

/** Returns the regular expression that matches a text. */
const literalPattern = (text: string): string => text.replaceAll(/[\\^$.|?*+()[\]{}&~#-]/gu, "\\$&");

/** The commands of this file. */
export const SEARCH_COMMANDS: readonly Command[] = [
  {
    name: "grep",
    tool: "grep",
    words: { called: { path: "PATH", pattern: "PATTERN" } },
    summary: "search the contents of files",
    usage: "filewright grep PATTERN [PATH...] [options]",
    about:
      "PATTERN is a regular expression without look-around; -F searches for literal text. Ignored files are skipped, .git is never searched.",
    aliases: {
      "max-count": "limit",
      "files-with-matches": "files",
      "fixed-strings": "fixed",
      "word-regexp": "word",
    },
    help: [
      [
        "-e, --regexp PATTERN...",
        "PATTERN, also with a dash before it (repeatable); all arguments are then paths",
      ],
      ["-i, --ignore-case", "ignore letter case", { case: "insensitive" }],
      ["-S, --smart-case", "ignore it unless PATTERN has a capital letter", { case: "smart" }],
      ["-F, --fixed", "PATTERN is plain text", { regex: false }],
      ["-w, --word", "whole words only", "word"],
      ["-U, --multiline", "PATTERN may span lines", "multiline"],
      ["-C N, -B N, -A N", "lines of context around, before, after"],
      ["-C, --context N", "", "context"],
      ["-B, --before N", "", "before"],
      ["-A, --after N", "", "after"],
      ["-g, --glob GLOB...", "only matching files (repeatable)", "glob"],
      ["--exclude GLOB...", "skip matching files (repeatable)", "exclude"],
      ["-t, --type EXT...", "only files with this extension (repeatable)", "file_types"],
      ["-l, --files", "only the paths of files that match", { output: "files" }],
      ["-c, --count", "the number of matching lines of each file", { output: "count" }],
      ["--rank path|definitions|recent", "which results come first (path)", "rank"],
      ["-m, --limit N", "the maximum number of results (no limit)", "max_results"],
      [
        "--no-ignore, --no-hidden",
        "search ignored files; skip dot files",
        { respect_ignore: false },
        { hidden: false },
      ],
      QUIET_HELP,
      ["-n, -r, -E", "accepted as in other greps; they are always on"],
      ["-n, --line-number, -r, --recursive, -E, --extended-regexp", ""],
      [
        "--heading, --no-heading",
        "print file names above their matches (on a terminal), or before each line",
      ],
    ],
    examples: [
      ["filewright grep 'fn \\w+' src", "a regular expression below src"],
      ["filewright grep TODO src test -m 50", "below two directories, at most 50 lines in all"],
      ["filewright grep -F 'a.b(c)' -g '*.ts' -C 2", "plain text, in TypeScript files, with context"],
    ],
    takes: [1, 10_000, "a pattern"],
    several: { from: 1, arrange: withPatternOfOptions, refuses: ["rank"], merge: mergeSearches },
    outcome: searchOutcomeOf,
    pages: true,
    toCall: searchFor(["pattern", "path"], rowsOfMatches, "max_results"),
  },
  {
    name: "glob",
    tool: "glob",
    summary: "find files by name",
    usage: "filewright glob PATTERN... [--path DIR] [options]",
    about:
      "`*` stays within a directory, `**` does not; a pattern without `/` matches at any depth. Ignored files are skipped.",
    aliases: { "max-results": "limit" },
    help: [
      ["--path DIR", "the directory to search", "path"],
      ["--exclude GLOB...", "skip matching paths (repeatable)", "exclude"],
      ["--type file|dir|any", "the type to find (file)", "type"],
      ["--sort path|recent|mtime", "the order (path)", "sort"],
      ["--limit N", "the maximum number (no limit)", "limit"],
      ["-i, --ignore-case", "ignore letter case", { case_sensitive: false }],
      [
        "--no-ignore, --no-hidden",
        "show ignored files; skip dot files",
        { respect_ignore: false },
        { hidden: false },
      ],
      QUIET_HELP,
    ],
    examples: [
      ["filewright glob '*.ts'", "at any depth"],
      ["filewright glob 'src/*.{js,ts}' --sort recent", "the latest first"],
    ],
    takes: [1, 1000, "a pattern"],
    outcome: searchOutcomeOf,
    toCall: searchFor(["pattern..."], rowsOfPaths, "limit"),
  },
  {
    name: "search",
    tool: "search_code",
    summary: "find the code that answers a question in words",
    usage: "filewright search QUESTION [DIR] [options]",
    about:
      "The functions and passages that fit QUESTION best, best first, with the lines that have its words. Words and names are compared, not types.",
    help: [
      ["-g, --glob GLOB...", "only matching files (repeatable)", "glob"],
      [
        "--kind any|definition|test",
        "all, only definitions of a name in QUESTION, or only tests (any)",
        "kind",
      ],
      ["--max-tokens N", "the most tokens of the text (2000)", "max_tokens"],
      ["-m, --limit N", "the most blocks (10)", "limit"],
      ["--known HASH...", "print only the place of a block that you have (repeatable)", "known"],
    ],
    examples: [
      ["filewright search 'where are expired sessions removed'", "in words"],
      ["filewright search SessionStore src --kind definition", "where a name is defined"],
    ],
    takes: [1, 2, "a question"],
    toCall: operands(["query", "path"]),
  },
  {
    name: "symbol",
    tool: "find_symbol",
    summary: "find where a name is defined and used",
    usage: "filewright symbol NAME [PATH] [options]",
    about:
      "The definitions of NAME, then the lines that use it, each with the function or type around it. Names are compared, not types.",
    help: [
      ["-g, --glob GLOB...", "only matching files (repeatable)", "glob"],
      ["--no-uses", "only the definitions", { uses: false }],
      ["--max-tokens N", "the most tokens of the text (2000)", "max_tokens"],
    ],
    examples: [
      ["filewright symbol SessionStore", "everywhere"],
      ["filewright symbol Parser.parse src --no-uses", "one of several with that name"],
    ],
    takes: [1, 2, "a name"],
    outcome: searchOutcomeOf,
    toCall: operands(["name", "path"]),
  },
  {
    name: "outline",
    tool: "outline",
    summary: "print what files define, with their lines",
    usage: "filewright outline [PATH] [options]",
    about:
      "The definitions of a file, or a map of a directory with the top ones of each file. About 30 languages are known.",
    help: [
      ["--depth N", "levels of definitions (all of a file, 1 of a directory)", "depth"],
      ["--max-tokens N", "the most tokens of the text (4000)", "max_tokens"],
      ["--anchors", "lines as `filewright edit` takes them", "anchors"],
      [
        "--no-ignore, --no-hidden",
        "map ignored files; skip dot files",
        { respect_ignore: false },
        { hidden: false },
      ],
    ],
    examples: [
      ["filewright outline src/server.ts", "one file"],
      ["filewright outline src --depth 2", "a map with the members of types"],
    ],
    takes: [0, 1],
    toCall: operands(["path"]),
  },
  {
    name: "find",
    tool: "find_files",
    summary: "find files by letters of their paths",
    usage: "filewright find LETTERS [PATH] [options]",
    about:
      "The path has LETTERS in this order, not necessarily together; longer LETTERS may have one typo. Best matches first.",
    aliases: { "max-results": "limit" },
    help: [
      ["--recent", "prefer recently changed files", { rank: "recent" }],
      ["-m, --limit N", "the maximum number (no limit)", "limit"],
      ["--no-ignore", "also find ignored files", { respect_ignore: false }],
    ],
    examples: [
      ["filewright find usrctl", "src/user/controller.ts, if there is one"],
      ["filewright find hub.c drivers --recent", "below a directory, recently changed files first"],
    ],
    takes: [1, 2],
    outcome: searchOutcomeOf,
    toCall: operands(["query", "path"], rowsOfFoundFiles),
  },
  {
    name: "ls",
    tool: "list_directory",
    summary: "list a directory",
    usage: "filewright ls [PATH...] [--depth N] [--sort type|name|size|mtime] [--format FORM]",
    about: "Links are shown with their target and never followed.",
    help: [
      ["-d, --depth N", "the number of levels (1)", "depth"],
      ["-R, --recursive", `every level, down to ${MAX_RECURSIVE_DEPTH}`, { depth: MAX_RECURSIVE_DEPTH }],
      ["-l, --long", "types, sizes and times in a pipe, too"],
      ["-a, --all", "accepted; dot files are always listed"],
      [
        "--sort type|name|size|mtime, --desc",
        "the order (type: directories first)",
        "sort",
        { order: "desc" },
      ],
      ["--format text|json|names|tree", "the form of the output (text)", "format"],
      ["--ignore GLOB...", "skip matching names (repeatable)", "ignore"],
      ["--respect-ignore", "skip ignored files", "respect_ignore"],
      ["--no-hidden", "skip dot files", { hidden: false }],
      ["--limit N", "the maximum number (no limit)", "limit"],
    ],
    examples: [
      ["filewright ls src --depth 2 --format tree", "a tree"],
      ["filewright ls --sort size --desc", "the largest first"],
    ],
    takes: [0, 10_000],
    several: { from: 0 },
    toCall: operands(["path"], rowsOfEntries),
  },
];
