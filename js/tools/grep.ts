import { compileArgumentCheck, object } from "./lib/schema.ts";
import {
  choice,
  flag,
  integer,
  PATH_ALIASES,
  path,
  text,
  textOrTextListSchema,
  texts,
  WARNINGS_SCHEMA,
} from "./lib/shared.ts";
import { grepText, resultLines } from "./grep/text.ts";
import { plural } from "../engine/escape.ts";
import { quoteForPeople, truncatedClause } from "./lib/text.ts";
import { MAX_TOKENS_SCHEMA, TOKENS_SCHEMA } from "./lib/tokens.ts";
import { exactly, named } from "./lib/exact.ts";
import type { GrepData } from "./generated/types.ts";
import type { CheckedArgs } from "./generated/internal.ts";
import type { ReadingTool } from "./lib/tool.ts";
import { lazilyEarly } from "../engine/lazy.ts";

const searching = lazilyEarly("searches of contents", () => import("./run/grep.ts"));

type GrepToolArgs = CheckedArgs["grep"];

const inputSchema = object(
  {
    pattern: text(
      "Regular expression (Rust syntax: no look-around, no back-references), or plain text with regex: false.",
      { minLength: 1 },
    ),
    path: path("The directory to search, or one file", { default: "." }),
    glob: textOrTextListSchema("Only files whose path matches: *.ts at any depth, src/** below a directory."),
    exclude: texts("Globs of files to leave out.", { default: [] }),
    file_types: texts("Only files of these types or extensions: ts, rust, .py.", { default: [] }),
    regex: flag("False: the pattern is plain text.", true),
    case: choice(
      "Whether letter case counts; smart: only where the pattern has a capital.",
      ["sensitive", "insensitive", "smart"],
      "sensitive",
    ),
    word: flag("Match whole words only.", false),
    multiline: flag("Let a match span lines.", false),
    before: integer("Lines shown before each match.", { minimum: 0, maximum: 50 }),
    after: integer("Lines shown after each match.", { minimum: 0, maximum: 50 }),
    context: integer("Lines shown before and after each match.", { default: 0, minimum: 0, maximum: 50 }),
    output: named(
      "GrepOutput",
      choice(
        "The matching lines, only the paths of files that match, or the number of matching lines of each.",
        ["content", "files", "count"],
        "content",
      ),
    ),
    rank: named(
      "Rank",
      choice(
        "path; definitions: lines that define what was found first; recent: files that changed lately first. The latter two have no cursor.",
        ["path", "definitions", "recent"],
        "path",
      ),
    ),
    max_results: integer("The most lines (or files) given.", {
      default: 200,
      minimum: 1,
      maximum: 1_000_000,
    }),
    max_per_file: integer("The most lines given of one file.", { minimum: 1 }),
    max_line_chars: integer("Longer lines are cut around the match. 0: never.", { default: 500, minimum: 0 }),
    hidden: flag("Search names that begin with a dot too; .git is never searched.", true),
    respect_ignore: flag("Leave out what .gitignore, .ignore and .agentignore files name.", true),
    cursor: text("`next_cursor` of an earlier call with the same arguments, to go on from there."),
    max_tokens: MAX_TOKENS_SCHEMA,
    timeout_ms: integer("After this time what was found so far is given.", { default: 30_000, minimum: 1 }),
  },
  ["pattern"],
);

const AS_TEXT = object(
  { path: text("The first file."), line: integer("The first line."), count: integer("Matching lines.") },
  ["path", "line", "count"],
);

const outputSchema = exactly(
  object(
    {
      matches: {
        type: "array",
        description: "Matching lines, by path and line.",
        items: named(
          "GrepMatch",
          object(
            {
              path: text("Relative to the workspace."),
              line: integer("From 1."),
              column: integer("Of the first match, in characters from 1."),
              text: text("The line."),
              end_line: integer("Last line of a match that spans several."),
              rest: {
                type: "array",
                items: { type: "string" },
                description: "Lines of such a match after its first.",
              },
              before: { type: "array", items: { type: "string" }, description: "Lines before." },
              after: { type: "array", items: { type: "string" }, description: "Lines after." },
            },
            ["path", "line", "column", "text"],
          ),
        ),
      },
      files: { type: "array", items: { type: "string" }, description: "With output files." },
      counts: {
        type: "array",
        description: "With output count.",
        items: named(
          "GrepCount",
          object({ path: text("Relative to the workspace."), count: integer("Matching lines.") }, [
            "path",
            "count",
          ]),
        ),
      },
      total_matches: integer("Matching lines; a lower bound unless complete."),
      files_with_matches: integer("Files that match."),
      files_searched: integer("Files searched."),
      skipped_binary: integer("Binary files passed over."),
      skipped_large: integer("Files too large to be searched."),
      unreadable: integer("Entries that could not be read."),
      truncated: { type: "boolean", description: "Whether there is more." },
      fresh: exactly(text("watch, sweep or scan: how changes are known."), {
        values: ["watch", "sweep", "scan"],
      }),
      complete: { type: "boolean", description: "Whether everything was searched." },
      incomplete_reason: text("max_results, max_per_file or timeout."),
      next_cursor: text("Pass as cursor to go on."),
      as_text: exactly(AS_TEXT, {
        object: {
          ...AS_TEXT,
          description: "Where a pattern that finds nothing as a regular expression is there as plain text.",
        },
      }),
      tokens: TOKENS_SCHEMA,
      warnings: WARNINGS_SCHEMA,
    },
    ["total_matches", "files_with_matches", "files_searched", "skipped_binary", "truncated", "complete"],
  ),
  {
    always: ["skipped_large", "unreadable", "fresh"],
    oneOf: {
      common: "GrepSummary",
      by: { argument: "output", type: "GrepOutput" },
      cases: [
        { name: "GrepContentData", value: "content", required: ["matches"] },
        { name: "GrepFilesData", value: "files", required: ["files"] },
        { name: "GrepCountData", value: "count", required: ["counts"] },
      ],
    },
  },
);

/** Searches the contents of files. */
export const grep: ReadingTool<GrepToolArgs, GrepData> = {
  kind: "read",
  name: "grep",
  title: "Search contents",
  traits: ["searches"],
  otherNames: {
    names:
      /^search(?:files?|code|project)?$|^codebasesearch$|^filesearch$|^(?:rip)?grep(?:search|files)?$|^rg$|^searchcontents?$|^searchtext$|^findtext$|^searchfilecontent$/u,
    does: "finds contents",
  },
  description: `Searches the contents of files for a regular expression or plain text, below a directory or in one file; gives path:line:text by path and line, or a path with line:text below it where a file has six lines or more. Use it to find where something is defined or used; to find files by name use glob. Narrow it with glob or file_types; output files or count gives an overview first.
Ignored files, binary files and .git are left out. Nothing found is a success. At most max_results lines are given; the last line then says that there is more, and next_cursor goes on.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  aliases: PATH_ALIASES,
  parse: compileArgumentCheck("grep", inputSchema),
  paths: (args) => [{ argument: "path", typed: args.path, intent: "read", missing: "refuse" }],
  scans: () => "partial",
  run: async (args, call) => (await searching()).runGrep(args, call),
  texts: {
    render(data, args, { reader: { names } }) {
      return grepText(data, args, names);
    },
    display({ total_matches, files_with_matches, complete, truncated }, { pattern }) {
      const counts = `${plural(total_matches, "match", "matches")} in ${plural(files_with_matches, "file")}`;
      return `Found ${complete ? "" : "at least "}${counts} for ${quoteForPeople(pattern)}${truncatedClause(truncated)}`;
    },
    fit: {
      async shrink(data, args, lines, call) {
        const { truncateGrepData } = await searching();
        let used = 0;
        const kept = resultLines(data).filter((group) => {
          used += group.length;
          return used <= lines;
        }).length;
        const first = truncateGrepData(data, Math.max(1, kept), call);
        if (args.rank === "path") return first;
        const { next_cursor: _, ...ranked } = first;
        return ranked;
      },
    },
  },
};
