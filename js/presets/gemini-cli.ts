/** Preset `gemini-cli`: the file tools of Gemini CLI as its models know them today. */
import { closingLine } from "../tools/grep/text.ts";
import type { GrepArgs, GrepData } from "../tools/index.ts";
import { flag, integer, path, text, texts } from "../tools/lib/shared.ts";
import { escapeControls, plural } from "../engine/escape.ts";
import { wrongArgumentError } from "./arguments.ts";
import { buildPreset, param, tool } from "./define.ts";
import {
  geminiGrepText,
  geminiReadText,
  geminiReplacement,
  ignoring,
  FILE_FILTERING,
  READ_MANY_FILTERS,
  withGeminiIgnoreFiles,
} from "./gemini-shared.ts";
import { byArguments, call, calls, type Refused, type RenderInput } from "./meaning.ts";
import { type Preset, matchCountOf, withHeadline, diffWithoutLastEnding } from "./preset.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";

const NO_NOTE = (): string => "";

function expectedReplacementsPhrase({ expected_replacements: times = 1 }: Refused["given"]): string {
  return `${String(times)} occurrence${times === 1 ? "" : "s"}`;
}

/**
 * Returns a note that the argument `instruction` was not used to find the text, because a model may rely on
 * it when `old_string` is inexact.
 */
function unusedInstructionNote({ instruction }: Refused["given"]): string {
  return instruction === "" ? "" : "\nThe instruction is not used to find it.";
}

function replaceRefusalMessage({ code, told, error, given }: Refused): string | undefined {
  switch (code) {
    case "MATCH_NOT_FOUND":
      return (
        withHeadline("Failed to edit, 0 occurrences found for old_string.", told) +
        unusedInstructionNote(given)
      );
    case "MATCH_NOT_UNIQUE":
      return withHeadline(
        `Failed to edit, expected ${expectedReplacementsPhrase(given)} but found ${matchCountOf(error)} for old_string; set allow_multiple: true to replace them all.`,
        told,
      );
    case "NOT_FOUND":
      return withHeadline(
        "File not found. Cannot apply edit. Use an empty old_string to create a new file.",
        told,
      );
    default:
      return undefined;
  }
}

/** Returns the matches grouped by file; with `names_only` only the files. */
function grepText(told: RenderInput<GrepArgs, GrepData>): string {
  const { data, given, args, call, plain } = told;
  const { matches } = data;
  if (matches === undefined) return plain();
  if (given["names_only"] !== true || matches.length === 0) return geminiGrepText(told);
  const files = [...new Set(matches.map((match) => escapeControls(match.path)))];
  const whole = !data.truncated && data.complete;
  return [
    ...files,
    ...(whole ? [] : [closingLine(data, args as Parameters<typeof closingLine>[1], call.reader.names)]),
  ].join("\n");
}

/** Paths may be relative or absolute, lines count from 1, and an edit replaces one occurrence or all. */
export const geminiCli: Preset = buildPreset({
  name: "gemini-cli",
  about: "Gemini CLI today",
  guard: "refuse",
  tools: [
    () =>
      tool({
        name: "read_file",
        description:
          "Reads a file: text as it is, images and PDF files as such. Give start_line and end_line for the part that is needed; otherwise at most 2000 lines are given, and a first line says which.",
        params: {
          file_path: param("path", path("The file to read")),
          start_line: param("start_line", integer("First line, counted from 1.", { minimum: 1 })),
          end_line: param(null, integer("Last line, counted from 1, included.", { minimum: 1 })),
        },
        required: ["file_path"],
        means: byArguments(["read_file"], ({ args, given: { start_line: start = 1, end_line: end } }) => {
          if (end !== undefined && Number(end) < Number(start))
            throw wrongArgumentError("read_file", "end_line", "it lies before start_line");
          const max_lines = end === undefined ? undefined : Number(end) - Number(start) + 1;
          return call("read_file", {
            args: withoutUndefined({ line_numbers: "none", non_text: "media", ...args, max_lines }),
            text: (told) => geminiReadText(told, "start_line/end_line"),
          });
        }),
      }),
    () =>
      tool({
        name: "write_file",
        description:
          "Writes the complete content of a file, which is created or replaced whole; missing directories are made. Give all of it, without placeholders. For changes of existing files use replace. The user may modify the content before it is written.",
        params: {
          file_path: param("path", path("The file to write")),
          content: param("content", text("The complete content, written as it is.")),
        },
        required: ["file_path", "content"],
        means: calls("write_file", {
          text: ({ data, args }) =>
            data.operation === "create"
              ? `Successfully created and wrote to new file: ${escapeControls(args.path)}.`
              : `Successfully overwrote file: ${escapeControls(args.path)}.`,
        }),
      }),
    () =>
      tool({
        name: "replace",
        description:
          "Replaces text in a file. old_string must stand in the file once, with enough lines around the change to be unique, or allow_multiple must be true: then every occurrence is replaced. An empty old_string creates a new file. The user may modify new_string before it is written.",
        params: {
          file_path: param("path", path("The file to change")),
          instruction: param(null, text("What the change is for, in a sentence or two.", { default: "" })),
          old_string: param(
            "old_text",
            text("The exact text to replace, unescaped; empty to create a new file."),
          ),
          new_string: param("new_text", text("The exact text to put there, unescaped and complete.")),
          expected_replacements: param(
            "expected_matches",
            integer("How many occurrences are replaced, where not one.", { minimum: 1 }),
          ),
          allow_multiple: param("replace_all", flag("Replace every occurrence.", false)),
        },
        required: ["file_path", "old_string", "new_string"],
        means: geminiReplacement(NO_NOTE, (args) =>
          call("edit_file", {
            args,
            text: ({ data, args: { path: file } }) =>
              `Successfully modified file: ${escapeControls(file)} (${plural(data.replacements, "replacement")}).\n${diffWithoutLastEnding(data)}`,
            refuse: replaceRefusalMessage,
          }),
        ),
      }),
    () =>
      tool({
        name: "grep_search",
        description:
          "Searches the contents of files for a regular expression (Rust syntax, letter case aside) below a directory or in one file, and gives the lines with their files and numbers, at most 100 unless total_max_matches says otherwise. names_only gives an overview first.",
        params: {
          pattern: param("pattern", text("The regular expression.", { minLength: 1 })),
          dir_path: param("path", path("The directory or file to search", { default: "." })),
          include_pattern: param(
            "glob",
            text("Only files whose path matches this glob, such as *.ts.", { minLength: 1 }),
          ),
          exclude_pattern: param(
            null,
            text("Leave out lines that match this regular expression.", { minLength: 1 }),
          ),
          names_only: param("output", flag("Only give the paths of files with a match.", false), {
            convert: (only: boolean) => (only ? "files" : "content"),
          }),
          case_sensitive: param("case", flag("Whether letter case counts.", false), {
            convert: (counts: boolean) => (counts ? "sensitive" : "insensitive"),
          }),
          fixed_strings: param("regex", flag("The pattern is plain text.", false), {
            convert: (plain: boolean) => !plain,
          }),
          context: param(
            "context",
            integer("Lines around each match.", { default: 0, minimum: 0, maximum: 50 }),
          ),
          after: param("after", integer("Lines after each match.", { minimum: 0, maximum: 50 })),
          before: param("before", integer("Lines before each match.", { minimum: 0, maximum: 50 })),
          no_ignore: param("respect_ignore", flag("Search ignored files too.", false), {
            convert: (all: boolean) => !all,
          }),
          max_matches_per_file: param("max_per_file", integer("The most lines of one file.", { minimum: 1 })),
          total_max_matches: param(
            "max_results",
            integer("The most lines of all.", { default: 100, minimum: 1, maximum: 1_000_000 }),
          ),
        },
        required: ["pattern"],
        means: byArguments(["grep"], (sent) => {
          const { exclude_pattern: pattern } = sent.given;
          const excludeLines = typeof pattern === "string" ? pattern : undefined;
          // Lines can only be excluded by a pattern when the lines are returned.
          const args = excludeLines === undefined ? sent.args : { ...sent.args, output: "content" };
          return { ...withGeminiIgnoreFiles(call("grep", { args, text: grepText }), sent), excludeLines };
        }),
      }),
    () =>
      tool({
        name: "glob",
        description:
          "Finds files by name pattern, such as src/**/*.ts: those changed within a day first, newest first, then the others by path. Ignored files are left out unless respect_git_ignore is false.",
        params: {
          pattern: param("pattern", text("The glob.", { minLength: 1 })),
          dir_path: param("path", path("The directory to look in", { default: "." })),
          case_sensitive: param("case_sensitive", flag("Whether letter case counts.", false)),
          respect_git_ignore: param("respect_ignore", flag("Leave out what ignore files name.", true)),
          respect_gemini_ignore: param(null, flag("Leave out what .geminiignore names.", true)),
        },
        required: ["pattern"],
        means: ignoring("glob", { fixed: { sort: "recent" } }),
      }),
    () =>
      tool({
        name: "list_directory",
        description:
          "Lists the names of files and subdirectories directly within a directory, directories first. Names that match an `ignore` glob are left out.",
        params: {
          dir_path: param("path", path("The directory to list")),
          ignore: param("ignore", texts("Globs of what to leave out.")),
          file_filtering_options: FILE_FILTERING,
        },
        required: ["dir_path"],
        means: ignoring("list_directory"),
      }),
    () =>
      tool({
        name: "read_many_files",
        description:
          "Reads the contents of several files, found by globs or named exactly, one after the other, each behind a line `--- path ---`. Usual build and dependency directories are left out unless useDefaultExcludes is false.",
        params: {
          include: param("paths", texts("Files, directories and globs.", { minItems: 1 })),
          ...READ_MANY_FILTERS,
        },
        required: ["include"],
        means: ignoring("read_many_files", { fixed: { non_text: "media" } }),
      }),
  ],
});
