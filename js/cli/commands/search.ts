/** The search commands: grep, glob, find, ls. */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import {
  type Command,
  FLAG_OPTION,
  falseIfGiven,
  NO_IGNORE_WORDS,
  type OptionHelp,
  type SearchOutcome,
  VALUE_OPTION,
  REPEATABLE_OPTION,
} from "../command.ts";
import {
  valuesOfRepeatedOption,
  type ParsedCommandLine,
  parseIntegerOption,
} from "../../schema/command-line.node.ts";
import { mergeSearches } from "../several-paths.ts";
import { rowsOfEntries, rowsOfFoundFiles, rowsOfMatches, rowsOfPaths } from "../person/view.ts";

/**
 * Returns what a search found, for the exit status. Without a match it is `unknown` when the search ended
 * early.
 */
function searchOutcomeOf(data: unknown): SearchOutcome {
  const facts = data as {
    readonly total?: number;
    readonly total_matches?: number;
    readonly complete?: boolean;
  };
  if ((facts.total_matches ?? facts.total ?? 0) > 0) return "found";
  return facts.complete === false ? "unknown" : "nothing";
}

/** Returns the maximum number of results. With `--quiet` it is 1, because only the exit status matters. */
const resultLimitOf = (given: ParsedCommandLine["values"]): number | undefined =>
  given["quiet"] === true ? 1 : parseIntegerOption(given["limit"], "limit");

const QUIET_HELP: OptionHelp = [
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
    words: {
      settings: { "regex: false": { add: "-F" }, "case: insensitive": { add: "-i" }, ...NO_IGNORE_WORDS },
      called: { path: "PATH", pattern: "PATTERN" },
    },
    summary: "search the contents of files",
    usage: "filewright grep PATTERN [PATH...] [options]",
    about:
      "PATTERN is a regular expression without look-around; -F searches for literal text. Ignored files are skipped, .git is never searched.",
    options: {
      regexp: { ...REPEATABLE_OPTION, short: "e" },
      "ignore-case": { ...FLAG_OPTION, short: "i" },
      "smart-case": { ...FLAG_OPTION, short: "S" },
      fixed: { ...FLAG_OPTION, short: "F" },
      word: { ...FLAG_OPTION, short: "w" },
      multiline: { ...FLAG_OPTION, short: "U" },
      context: { ...VALUE_OPTION, short: "C" },
      before: { ...VALUE_OPTION, short: "B" },
      after: { ...VALUE_OPTION, short: "A" },
      glob: { ...REPEATABLE_OPTION, short: "g" },
      exclude: REPEATABLE_OPTION,
      type: { ...REPEATABLE_OPTION, short: "t" },
      files: { ...FLAG_OPTION, short: "l" },
      count: { ...FLAG_OPTION, short: "c" },
      rank: VALUE_OPTION,
      limit: { ...VALUE_OPTION, short: "m" },
      "no-ignore": FLAG_OPTION,
      "no-hidden": FLAG_OPTION,
      quiet: { ...FLAG_OPTION, short: "q" },
      heading: FLAG_OPTION,
      "no-heading": FLAG_OPTION,
      "line-number": { ...FLAG_OPTION, short: "n" },
      recursive: { ...FLAG_OPTION, short: "r" },
      "extended-regexp": { ...FLAG_OPTION, short: "E" },
    },
    aliases: {
      "max-results": "limit",
      "max-count": "limit",
      "file-types": "type",
      "files-with-matches": "files",
      "fixed-strings": "fixed",
      "word-regexp": "word",
    },
    help: [
      [
        "-e, --regexp PATTERN",
        "PATTERN, also with a dash before it (repeatable); all arguments are then paths",
      ],
      ["-i, --ignore-case", "ignore letter case"],
      ["-S, --smart-case", "ignore it unless PATTERN has a capital letter"],
      ["-F, --fixed", "PATTERN is plain text"],
      ["-w, --word", "whole words only"],
      ["-U, --multiline", "PATTERN may span lines"],
      ["-C N, -B N, -A N", "lines of context around, before, after"],
      ["-g, --glob GLOB", "only matching files (repeatable)"],
      ["--exclude GLOB", "skip matching files (repeatable)"],
      ["-t, --type EXT", "only files with this extension (repeatable)"],
      ["-l, --files", "only the paths of files that match"],
      ["-c, --count", "the number of matching lines of each file"],
      ["--rank path|definitions|recent", "which results come first (path)"],
      ["-m, --limit N", "the maximum number of results (no limit)"],
      ["--no-ignore, --no-hidden", "search ignored files; skip dot files"],
      QUIET_HELP,
      ["-n, -r, -E", "accepted as in other greps; they are always on"],
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
    toCall: ({ positionals, values: given }) => ({
      tool: "grep",
      rows: rowsOfMatches,
      args: withoutUndefined({
        pattern: positionals[0],
        path: positionals[1],
        case:
          given["ignore-case"] === true ? "insensitive" : given["smart-case"] === true ? "smart" : undefined,
        regex: falseIfGiven(given, "fixed"),
        word: given["word"],
        multiline: given["multiline"],
        context: parseIntegerOption(given["context"], "context"),
        before: parseIntegerOption(given["before"], "before"),
        after: parseIntegerOption(given["after"], "after"),
        glob: valuesOfRepeatedOption(given["glob"]),
        exclude: valuesOfRepeatedOption(given["exclude"]),
        file_types: valuesOfRepeatedOption(given["type"]),
        output: given["files"] === true ? "files" : given["count"] === true ? "count" : undefined,
        rank: given["rank"],
        max_results: resultLimitOf(given),
        respect_ignore: falseIfGiven(given, "no-ignore"),
        hidden: falseIfGiven(given, "no-hidden"),
      }),
    }),
  },
  {
    name: "glob",
    tool: "glob",
    words: { settings: NO_IGNORE_WORDS },
    summary: "find files by name",
    usage: "filewright glob PATTERN... [--path DIR] [options]",
    about:
      "`*` stays within a directory, `**` does not; a pattern without `/` matches at any depth. Ignored files are skipped.",
    options: {
      path: VALUE_OPTION,
      exclude: REPEATABLE_OPTION,
      type: VALUE_OPTION,
      sort: VALUE_OPTION,
      limit: VALUE_OPTION,
      "ignore-case": { ...FLAG_OPTION, short: "i" },
      "no-ignore": FLAG_OPTION,
      "no-hidden": FLAG_OPTION,
      quiet: { ...FLAG_OPTION, short: "q" },
    },
    aliases: { "max-results": "limit" },
    help: [
      ["--path DIR", "the directory to search"],
      ["--exclude GLOB", "skip matching paths (repeatable)"],
      ["--type file|dir|any", "the type to find (file)"],
      ["--sort path|recent|mtime", "the order (path)"],
      ["--limit N", "the maximum number (no limit)"],
      ["-i, --ignore-case", "ignore letter case"],
      ["--no-ignore, --no-hidden", "show ignored files; skip dot files"],
      QUIET_HELP,
    ],
    examples: [
      ["filewright glob '*.ts'", "at any depth"],
      ["filewright glob 'src/*.{js,ts}' --sort recent", "the latest first"],
    ],
    takes: [1, 1000, "a pattern"],
    outcome: searchOutcomeOf,
    toCall: ({ positionals, values: given }) => ({
      tool: "glob",
      rows: rowsOfPaths,
      args: withoutUndefined({
        pattern: positionals,
        path: given["path"],
        exclude: valuesOfRepeatedOption(given["exclude"]),
        type: given["type"],
        sort: given["sort"],
        limit: resultLimitOf(given),
        case_sensitive: falseIfGiven(given, "ignore-case"),
        respect_ignore: falseIfGiven(given, "no-ignore"),
        hidden: falseIfGiven(given, "no-hidden"),
      }),
    }),
  },
  {
    name: "find",
    tool: "find_files",
    words: { settings: NO_IGNORE_WORDS },
    summary: "find files by letters of their paths",
    usage: "filewright find LETTERS [PATH] [options]",
    about:
      "The path has LETTERS in this order, not necessarily together; longer LETTERS may have one typo. Best matches first.",
    options: { recent: FLAG_OPTION, limit: { ...VALUE_OPTION, short: "m" }, "no-ignore": FLAG_OPTION },
    aliases: { "max-results": "limit" },
    help: [
      ["--recent", "prefer recently changed files"],
      ["-m, --limit N", "the maximum number (no limit)"],
      ["--no-ignore", "also find ignored files"],
    ],
    examples: [
      ["filewright find usrctl", "src/user/controller.ts, if there is one"],
      ["filewright find hub.c drivers --recent", "below a directory, recently changed files first"],
    ],
    takes: [1, 2],
    outcome: searchOutcomeOf,
    toCall: ({ positionals, values: given }) => ({
      tool: "find_files",
      rows: rowsOfFoundFiles,
      args: withoutUndefined({
        query: positionals[0],
        path: positionals[1],
        rank: given["recent"] === true ? "recent" : undefined,
        limit: parseIntegerOption(given["limit"], "limit"),
        respect_ignore: falseIfGiven(given, "no-ignore"),
      }),
    }),
  },
  {
    name: "ls",
    tool: "list_directory",
    summary: "list a directory",
    usage: "filewright ls [PATH...] [--depth N] [--sort type|name|size|mtime] [--format FORM]",
    about: "Links are shown with their target and never followed.",
    options: {
      depth: { ...VALUE_OPTION, short: "d" },
      sort: VALUE_OPTION,
      desc: FLAG_OPTION,
      format: VALUE_OPTION,
      ignore: REPEATABLE_OPTION,
      limit: VALUE_OPTION,
      "respect-ignore": FLAG_OPTION,
      "no-hidden": FLAG_OPTION,
      long: { ...FLAG_OPTION, short: "l" },
      all: { ...FLAG_OPTION, short: "a" },
      recursive: { ...FLAG_OPTION, short: "R" },
    },
    help: [
      ["-d, --depth N", "the number of levels (1)"],
      ["-R, --recursive", `every level, down to ${MAX_RECURSIVE_DEPTH}`],
      ["-l, --long", "types, sizes and times in a pipe, too"],
      ["-a, --all", "accepted; dot files are always listed"],
      ["--sort type|name|size|mtime, --desc", "the order (type: directories first)"],
      ["--format text|json|names|tree", "the form of the output (text)"],
      ["--ignore GLOB", "skip matching names (repeatable)"],
      ["--respect-ignore", "skip ignored files"],
      ["--no-hidden", "skip dot files"],
      ["--limit N", "the maximum number (no limit)"],
    ],
    examples: [
      ["filewright ls src --depth 2 --format tree", "a tree"],
      ["filewright ls --sort size --desc", "the largest first"],
    ],
    takes: [0, 10_000],
    several: { from: 0 },
    toCall: ({ positionals, values: given }) => ({
      tool: "list_directory",
      rows: rowsOfEntries,
      args: withoutUndefined({
        path: positionals[0],
        depth:
          parseIntegerOption(given["depth"], "depth") ??
          (given["recursive"] === true ? MAX_RECURSIVE_DEPTH : undefined),
        sort: given["sort"],
        order: given["desc"] === true ? "desc" : undefined,
        format: given["format"],
        ignore: valuesOfRepeatedOption(given["ignore"]),
        respect_ignore: given["respect-ignore"],
        hidden: falseIfGiven(given, "no-hidden"),
        limit: parseIntegerOption(given["limit"], "limit"),
      }),
    }),
  },
];
