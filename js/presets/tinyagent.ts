/** Preset `tinyagent`: TinyAgent's native file tools. */
import { LIMITS_WITHOUT_PAGES } from "../tools/lib/limits.ts";
import { flag, integer, path, text, texts } from "../tools/lib/shared.ts";
import { flatGrepText } from "../tools/grep/text.ts";
import { escapeControls } from "../engine/escape.ts";
import { buildPreset, param, tool } from "./define.ts";
import { calls, type Refused } from "./meaning.ts";
import { type Preset, withHeadline } from "./preset.ts";

/**
 * Returns a function that creates the message of an error: TinyAgent's own text, followed by the canonical
 * one.
 */
function makeRefusal(side: "readable" | "writable", what: "Path" | "Directory", verb: string) {
  return ({ code, error, path: shown, told }: Refused): string | undefined => {
    if (code === "OUTSIDE_ALLOWED")
      return withHeadline(`Access denied: ${what} outside ${side} boundaries: ${shown}`, told);
    if (code === "MATCH_NOT_FOUND") return withHeadline(`Old content not found in file: ${shown}`, told);
    if (code === "PERMISSION_DENIED" && error.details?.["layer"] === "landlock")
      return withHeadline(`Permission denied by Landlock restrictions: ${shown}`, told);
    return code === "IO_ERROR" ? withHeadline(`File ${verb} error: ${shown}`, told) : undefined;
  };
}

/**
 * Reads text only and shows lines without numbers; an edit must match exactly and state its number of
 * matches; searches are literal.
 */
export const tinyagent: Preset = buildPreset({
  name: "tinyagent",
  about: "TinyAgent",
  fixedText: true,
  limits: LIMITS_WITHOUT_PAGES,
  tools: [
    () =>
      tool({
        name: "read_file",
        description:
          "Reads a text file and returns its lines as they are. Use this tool to:\n- look at source code, configuration and logs\n- read part of a large file with start_line and max_lines\nBinary files and images are refused with what they are.",
        params: {
          file_path: param("path", path("The file to read")),
          start_line: param("start_line", integer("First line, counted from 1.", { default: 1 })),
          max_lines: param("max_lines", {
            type: ["integer", "null"],
            minimum: 1,
            default: null,
            description: "How many lines at most; null reads all.",
          }),
          encoding: param("encoding", text("Name of the encoding; auto recognises it.", { default: "auto" })),
        },
        required: ["file_path"],
        means: calls("read_file", {
          fixed: { line_numbers: "none", max_line_chars: 0, non_text: "error" },
          refuse: makeRefusal("readable", "Path", "read"),
        }),
      }),
    () =>
      tool({
        name: "write_file",
        description:
          "Writes a file with exactly this content. Use this tool to:\n- create a file\n- replace a file completely\nThe file is written whole or not at all; missing directories are made unless create_dirs is false. To change part of a file use update_file.",
        params: {
          file_path: param("path", path("The file to write")),
          content: param("content", text("The whole content, written as it is.")),
          create_dirs: param("create_dirs", flag("Make missing directories.", true)),
          encoding: param(
            "encoding",
            text("Encoding of the file; keep is that of the file.", { default: "keep" }),
          ),
        },
        required: ["file_path", "content"],
        means: calls("write_file", {
          text: ({ data, args }) =>
            `Successfully wrote ${data.lines_written} lines (${data.bytes_written} bytes) to ${escapeControls(args.path)}`,
          refuse: makeRefusal("writable", "Path", "write"),
        }),
      }),
    () =>
      tool({
        name: "update_file",
        description:
          "Replaces exact text in a file. Use this tool to:\n- change part of a file\n- make the same change in several places, with expected_matches\nold_content must stand in the file exactly, as often as expected_matches says; otherwise nothing is changed. Returns a summary and the diff.",
        params: {
          file_path: param("path", path("The file to update")),
          old_content: param(
            "old_text",
            text("The text to replace, exactly as in the file.", { minLength: 1 }),
          ),
          new_content: param("new_text", text("The text to put there; empty deletes.")),
          expected_matches: param(
            "expected_matches",
            integer("How often old_content must occur; all of them are replaced.", {
              default: 1,
              minimum: 1,
            }),
          ),
        },
        required: ["file_path", "old_content", "new_content"],
        means: calls("edit_file", {
          fixed: { match: "exact" },
          text: ({ data, args }) =>
            `Successfully updated ${escapeControls(args.path)}: ${data.replacements} replacement(s)\n${data.diff.replace(/\n$/u, "")}`,
          refuse: makeRefusal("writable", "Path", "update"),
        }),
      }),
    () =>
      tool({
        name: "search_files",
        description:
          "Searches the contents of files and returns path:line:text. Use this tool to:\n- find where something is defined or used\n- search only some kinds of files, with file_types\nThe pattern is plain text in any letter case unless regex or case_sensitive say otherwise. Ignored and binary files are left out.",
        params: {
          pattern: param("pattern", text("What to search for.", { minLength: 1 })),
          directory: param("path", path("The directory to search in", { default: "." })),
          file_types: param("file_types", texts("Only files with these extensions, such as .py.")),
          case_sensitive: param("case", flag("Whether letter case counts.", false), {
            convert: (value: boolean) => (value ? "sensitive" : "insensitive"),
          }),
          regex: param("regex", flag("Whether the pattern is a regular expression (Rust syntax).", false)),
        },
        required: ["pattern"],
        means: calls("grep", {
          text: ({ data, plain }) => flatGrepText(data, plain()),
          refuse: makeRefusal("readable", "Directory", "search"),
        }),
      }),
  ],
});
