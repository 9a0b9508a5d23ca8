/** Preset `claude`: the file tools that Claude models know from Claude Code. */
import type { GrepArgs, GrepData, GrepMatch } from "../tools/index.ts";
import { object } from "../tools/lib/schema.ts";
import { choice, flag, integer, path, text } from "../tools/lib/shared.ts";
import { escapeControls, plural } from "../engine/escape.ts";
import { buildPreset, param, tool } from "./define.ts";
import { byArguments, call, calls, type Refused, type RenderInput } from "./meaning.ts";
import { type Param, type Preset, matchCountOf, withHeadline, diffWithoutLastEnding } from "./preset.ts";
import { grepRowsOf, linesByFile } from "../tools/grep/text.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";

const OLD_STRING_PARAM: Param = param(
  "old_text",
  text("The text to replace, exactly as in the file.", { minLength: 1 }),
);
const NEW_STRING_PARAM: Param = param("new_text", text("The text to put there; it must be different."));
const REPLACE_ALL_PARAM: Param = param("replace_all", flag("Replace every occurrence.", false));

function refusalMessage({ code, told, error, given }: Refused): string | undefined {
  if (code === "NOT_FOUND") return withHeadline("File does not exist.", told);
  if (code === "NO_CHANGE")
    return withHeadline("No changes to make: old_string and new_string must be different.", told);
  if (code === "MATCH_NOT_FOUND") return withHeadline("String to replace not found in file.", told);
  if (code === "MATCH_NOT_UNIQUE" && given["replace_all"] !== true) {
    return withHeadline(
      `Found ${matchCountOf(error)} matches of the string to replace, but replace_all is false. Set replace_all to true, or add context to say which.`,
      told,
    );
  }
  return undefined;
}

const lineCountSchema = (what: string): Param["schema"] => integer(what, { minimum: 0, maximum: 50 });

/** Returns which results a search shows: how many are skipped, and the maximum number shown. */
function shownResultWindow(given: RenderInput["given"]): { readonly skip: number; readonly most: number } {
  const most = Number(given["head_limit"]);
  return { skip: Number(given["offset"]), most: most === 0 ? MAX_GREP_RESULTS : most };
}

const MAX_GREP_RESULTS = 100_000;

/** Returns the lines of the matches; without numbers, each with its path. */
function matchLines(matches: readonly GrepMatch[], numbered: boolean): readonly string[] {
  const results = grepRowsOf(matches);
  if (numbered) return linesByFile(results).flat();
  return results
    .flat()
    .map(({ path: file, text: content, hit }) => `${escapeControls(file)}${hit ? ":" : "-"}${content}`);
}

function grepText({ data, given, args, plain }: RenderInput<GrepArgs, GrepData>): string {
  const { skip, most } = shownResultWindow(given);
  const found = (data.files ?? data.counts ?? data.matches ?? []).length;
  if (found === 0 && !data.complete) return plain();
  if (found > 0 && skip >= found) {
    const least = data.truncated || !data.complete ? "at least " : "";
    return `Nothing from offset ${skip} on; found: ${least}${plural(found, "result")}`;
  }
  const page = <T>(list: readonly T[]): readonly T[] => list.slice(skip, skip + most);
  const more = data.truncated || !data.complete ? `\n[there are more; raise head_limit or offset]` : "";
  if (args.output === "files") {
    const files = page(data.files ?? []);
    if (files.length === 0) return "No files found";
    const found = `Found ${plural(files.length, "file")}`;
    return [found, ...files.map(escapeControls)].join("\n") + more;
  }
  if (args.output === "count") {
    const counts = page(data.counts ?? []);
    if (counts.length === 0) return "No matches found";
    const total = counts.reduce((sum, { count }) => sum + count, 0);
    const rows = counts.map(({ path: file, count }) => `${escapeControls(file)}:${count}`);
    return (
      [...rows, "", `Found ${plural(total, "matching line")} in ${plural(counts.length, "file")}`].join(
        "\n",
      ) + more
    );
  }
  const matches = page(data.matches ?? []);
  if (matches.length === 0) return "No matches found";
  return matchLines(matches, given["-n"] !== false).join("\n") + more;
}

/** The tools with the parameter names of Claude Code. */
export const claude: Preset = buildPreset({
  name: "claude",
  about: "Claude Code",
  guard: "refuse",
  tools: [
    () =>
      tool({
        name: "Read",
        description:
          "Reads a file with line numbers (number, tab, line), at most 2000 lines from line `offset` on, counted from 1; longer lines than 2000 characters are cut. Images are returned as images; of PDF files, notebooks and office documents the text, of PDF files some `pages` only. The line numbers are not part of the file.",
        params: {
          file_path: param("path", path("The file to read")),
          offset: param("start_line", integer("The line to begin with, counted from 1.", { minimum: 1 })),
          limit: param("max_lines", integer("How many lines at most; default 2000.", { minimum: 1 })),
          pages: param("pages", text('Of a PDF: which pages, such as "3" or "1-5".')),
        },
        required: ["file_path"],
        means: calls("read_file", {
          refuse: refusalMessage,
        }),
      }),
    () =>
      tool({
        name: "Write",
        description:
          "Writes a file with exactly this content, atomically; an existing file is replaced, missing directories are made. Read an existing file first, and prefer Edit to change parts of it.",
        params: {
          file_path: param("path", path("The file to write")),
          content: param("content", text("The whole content, written as it is.")),
        },
        required: ["file_path", "content"],
        means: calls("write_file", {
          text: ({ data, args }) =>
            data.operation === "create"
              ? `File created successfully at: ${escapeControls(args.path)}`
              : `The file ${escapeControls(args.path)} has been updated.`,
          refuse: refusalMessage,
        }),
      }),
    () =>
      tool({
        name: "Edit",
        description:
          "Replaces exact text in a file. old_string must occur once, or replace_all must be true; copy it from Read without the line numbers (everything up to and including the arrow), with its indentation. Returns the diff.",
        params: {
          file_path: param("path", path("The file to edit")),
          old_string: OLD_STRING_PARAM,
          new_string: NEW_STRING_PARAM,
          replace_all: REPLACE_ALL_PARAM,
        },
        required: ["file_path", "old_string", "new_string"],
        means: calls("edit_file", {
          fixed: { match: "exact" },
          text: ({ data, args }) =>
            `The file ${escapeControls(args.path)} has been updated.\n${diffWithoutLastEnding(data)}`,
          refuse: refusalMessage,
        }),
      }),
    () =>
      tool({
        name: "MultiEdit",
        description:
          "Makes several edits to one file in one go: in order, each on the result of those before it, all of them or none. Each edit follows the rules of Edit. Returns the diff.",
        params: {
          file_path: param("path", path("The file to edit")),
          edits: param(
            "edits",
            {
              type: "array",
              minItems: 1,
              description: "The edits, in order.",
              items: object(
                {
                  old_string: OLD_STRING_PARAM.schema,
                  new_string: NEW_STRING_PARAM.schema,
                  replace_all: REPLACE_ALL_PARAM.schema,
                },
                ["old_string", "new_string"],
              ),
            },
            { keys: { old_string: "old_text", new_string: "new_text", replace_all: "replace_all" } },
          ),
        },
        required: ["file_path", "edits"],
        means: calls("edit_file", {
          fixed: { match: "exact" },
          text: ({ data, args, given }) =>
            `Applied ${plural((given["edits"] as readonly unknown[]).length, "edit")} to ${escapeControls(args.path)}\n${diffWithoutLastEnding(data)}`,
          refuse: refusalMessage,
        }),
      }),
    () =>
      tool({
        name: "Glob",
        description:
          "Finds files by name pattern, such as **/*.ts or src/**/*.{js,jsx}, the most recently changed first, at most 100. Use it when something of the name is known; to search contents use Grep.",
        params: {
          pattern: param("pattern", text("The glob.", { minLength: 1 })),
          path: param("path", path("The directory to look in", { default: "." })),
        },
        required: ["pattern"],
        means: calls("glob", {
          fixed: { sort: "mtime", limit: 100 },
          text: ({ data, plain }) => (data.matches.length === 0 ? "No files found" : plain()),
          refuse: refusalMessage,
        }),
      }),
    () =>
      tool({
        name: "Grep",
        description:
          "Searches the contents of files for a regular expression (Rust syntax, as in ripgrep). output_mode files_with_matches (the default) gives paths, content the lines, count the number of lines of each file. Narrow it by glob or type; ignored and binary files are left out.",
        params: {
          pattern: param("pattern", text("The regular expression.", { minLength: 1 })),
          path: param("path", path("The directory or file to search", { default: "." })),
          glob: param("glob", text("Only files whose path matches, such as *.{ts,tsx}.", { minLength: 1 })),
          output_mode: param(
            "output",
            choice("What is given.", ["content", "files_with_matches", "count"], "files_with_matches"),
            { convert: (mode: string) => (mode === "files_with_matches" ? "files" : mode) },
          ),
          "-B": param("before", lineCountSchema("Lines before each match, with output_mode content.")),
          "-A": param("after", lineCountSchema("Lines after each match, with output_mode content.")),
          "-C": param(
            "context",
            lineCountSchema("Lines before and after each match, with output_mode content."),
          ),
          context: param(null, lineCountSchema("The same as -C.")),
          "-n": param(null, flag("Show line numbers, with output_mode content.", true)),
          "-i": param("case", flag("Letter case does not count.", false), {
            convert: (aside: boolean) => (aside ? "insensitive" : "sensitive"),
          }),
          type: param(
            "file_types",
            text("Only files of this type, such as js, py, rust.", { minLength: 1 }),
            {
              convert: (type: string) => [type],
            },
          ),
          head_limit: param(
            null,
            integer("The most lines or paths given; 0 for all.", { default: 250, minimum: 0 }),
          ),
          offset: param(null, integer("How many lines or paths to skip first.", { default: 0, minimum: 0 })),
          multiline: param("multiline", flag("Let a match span lines.", false)),
        },
        required: ["pattern"],
        means: byArguments(["grep"], ({ args, given }) => {
          const { skip, most } = shownResultWindow(given);
          const context = args["context"] ?? given["context"];
          const max_results = Math.min(skip + most, 1_000_000);
          return call("grep", {
            args: withoutUndefined({ ...args, context, max_results }),
            text: grepText,
            refuse: refusalMessage,
          });
        }),
      }),
  ],
});
