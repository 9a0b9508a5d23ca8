/** Preset `gemini`: the file tools of Gemini CLI as its first models were taught them. */
import type { FilewrightError } from "../engine/errors.ts";
import { LIMITS_WITHOUT_PAGES } from "../tools/lib/limits.ts";
import { flag, integer, text, texts } from "../tools/lib/shared.ts";
import { escapeControls } from "../engine/escape.ts";
import { buildPreset, param, tool } from "./define.ts";
import {
  geminiGrepText,
  geminiReadText,
  geminiReplacement,
  ignoring,
  READ_MANY_FILTERS,
} from "./gemini-shared.ts";
import { call, calls, type Refused } from "./meaning.ts";
import { type Param, type Preset, diffWithoutLastEnding, withHeadline } from "./preset.ts";

const absolutePathSchema = (what: string) =>
  text(`${what}: an absolute path, not a relative one.`, { minLength: 1 });

const MODIFIED_BY_USER_PARAM: Param = param(
  null,
  flag("Set by the host where the user changed the text before it was approved.", false),
);

/** Returns the note that the user has changed the content that the model sent. */
function modifiedByUserNote(given: Readonly<Record<string, unknown>>, content: unknown): string {
  return given["modified_by_user"] === true ? ` User modified the \`content\` to be: ${String(content)}` : "";
}

const detailAsText = (error: FilewrightError, key: string): string => String(error.details?.[key] ?? "?");

function replaceRefusalMessage({ code, told, error }: Refused): string | undefined {
  switch (code) {
    case "MATCH_NOT_FOUND":
      return withHeadline("Failed to edit, could not find the string to replace.", told);
    case "MATCH_COUNT_MISMATCH":
      return withHeadline(
        `Failed to edit, Expected ${detailAsText(error, "expected")} occurrences but found ${detailAsText(error, "found")}.`,
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

/**
 * Paths are absolute, offsets count from 0, an edit replaces literal text and can state the expected number
 * of replacements, and searches ignore case.
 */
export const gemini: Preset = buildPreset({
  name: "gemini",
  about: "Gemini CLI, first generation",
  fixedText: true,
  limits: LIMITS_WITHOUT_PAGES,
  tools: [
    () =>
      tool({
        name: "write_file",
        description:
          "Writes content to a file, which is created or replaced whole; missing directories are made. The user may modify `content` before it is written; the response then says so.",
        params: {
          file_path: param("path", absolutePathSchema("The file to write"), { path: "absolute" }),
          content: param("content", text("The whole content, written as it is.")),
          modified_by_user: MODIFIED_BY_USER_PARAM,
        },
        required: ["file_path", "content"],
        means: calls("write_file", {
          text({ data, args, given }) {
            const path = escapeControls(args.path);
            const done =
              data.operation === "create"
                ? `Successfully created and wrote to new file: ${path}.`
                : `Successfully overwrote file: ${path}.`;
            return done + modifiedByUserNote(given, args.content);
          },
        }),
      }),
    () =>
      tool({
        name: "read_file",
        description:
          "Reads a file: text as it is, images (PNG, JPG, GIF, WEBP, SVG, BMP) and PDF files as such. Of long files at most 2000 lines are given; a first line then says which, and offset and limit page on. offset counts from 0.",
        params: {
          absolute_path: param("path", absolutePathSchema("The file to read"), { path: "absolute" }),
          offset: param("start_line", integer("The line to begin with, counted from 0.", { minimum: 0 }), {
            convert: (value: number) => value + 1,
            back: (value) => value - 1,
          }),
          limit: param("max_lines", integer("How many lines at most; default 2000.", { minimum: 1 })),
        },
        required: ["absolute_path"],
        means: calls("read_file", {
          fixed: { line_numbers: "none", non_text: "media" },
          text: geminiReadText,
        }),
      }),
    () =>
      tool({
        name: "replace",
        description:
          "Replaces literal text in a file: no regular expression, no escaping. old_string must match exactly and occur as often as expected_replacements says (default 1); include at least three lines of context before and after the change. An empty old_string creates a new file with new_string. The user may modify new_string before it is written.",
        params: {
          file_path: param("path", absolutePathSchema("The file to change"), { path: "absolute" }),
          old_string: param("old_text", text("The exact text to replace; empty to create a new file.")),
          new_string: param("new_text", text("The exact text to put there.")),
          expected_replacements: param(
            "expected_matches",
            integer("How often old_string must occur; all of them are replaced.", { default: 1, minimum: 1 }),
          ),
          modified_by_user: MODIFIED_BY_USER_PARAM,
        },
        required: ["file_path", "old_string", "new_string"],
        means: geminiReplacement(modifiedByUserNote, (edit) =>
          call("edit_file", {
            args: { match: "exact", ...edit },
            text: ({ data, args, given }) =>
              `Successfully modified file: ${escapeControls(args.path)} (${data.replacements} replacements).${modifiedByUserNote(given, given["new_string"])}\n${diffWithoutLastEnding(data)}`,
            refuse: replaceRefusalMessage,
          }),
        ),
      }),
    () =>
      tool({
        name: "search_file_content",
        description:
          "Searches the contents of files for a regular expression (Rust syntax, letter case aside) below a directory, or in the whole workspace; `include` narrows it to files by glob. Returns the matching lines with their files and line numbers.",
        params: {
          pattern: param("pattern", text("The regular expression.", { minLength: 1 })),
          path: param("path", absolutePathSchema("The directory to search; left out, the workspace"), {
            path: "absolute",
          }),
          include: param(
            "glob",
            text("Only files whose path matches this glob, such as *.ts.", { minLength: 1 }),
          ),
        },
        required: ["pattern"],
        means: ignoring("grep", { fixed: { case: "insensitive" }, text: geminiGrepText }),
      }),
    () =>
      tool({
        name: "glob",
        description:
          "Finds files by name pattern, such as **/*.ts, below a directory or in the whole workspace: those changed within a day first, newest first, then the others by path. Ignored files are left out unless respect_git_ignore is false.",
        params: {
          pattern: param("pattern", text("The glob.", { minLength: 1 })),
          path: param("path", absolutePathSchema("The directory to look in; left out, the workspace"), {
            path: "absolute",
          }),
          case_sensitive: param("case_sensitive", flag("Whether letter case counts.", false)),
          respect_git_ignore: param("respect_ignore", flag("Leave out what ignore files name.", true)),
        },
        required: ["pattern"],
        means: ignoring("glob", { fixed: { sort: "recent" } }),
      }),
    () =>
      tool({
        name: "read_many_files",
        description:
          "Reads several files, given by paths relative to the workspace or by globs, and returns their contents one after the other, each behind a line `--- path ---`. Images and PDF files are included where they are asked for by name or extension. Usual build and dependency directories are left out unless useDefaultExcludes is false.",
        params: {
          paths: param("paths", texts("Files, directories and globs.", { minItems: 1 })),
          include: param("include", texts("Further globs to include.")),
          ...READ_MANY_FILTERS,
        },
        required: ["paths"],
        means: ignoring("read_many_files", { fixed: { non_text: "media" } }),
      }),
    () =>
      tool({
        name: "list_directory",
        description:
          "Lists the names of files and subdirectories directly within a directory, directories first. Names that match an `ignore` glob are left out.",
        params: {
          path: param("path", absolutePathSchema("The directory to list"), { path: "absolute" }),
          ignore: param("ignore", texts("Globs of what to leave out.")),
        },
        required: ["path"],
        means: calls("list_directory"),
      }),
  ],
});
