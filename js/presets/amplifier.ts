/** Preset `amplifier`: the filesystem module of Amplifier. */
import { LIMITS_WITHOUT_PAGES } from "../tools/lib/limits.ts";
import { flag, integer, path, text } from "../tools/lib/shared.ts";
import { escapeControls } from "../engine/escape.ts";
import { buildPreset, param, tool } from "./define.ts";
import { byArguments, call, calls, type Meant, type Refused } from "./meaning.ts";
import { type Preset, matchCountOf, withHeadline } from "./preset.ts";

function makeAccessRefusal(side: "read" | "write") {
  return ({ code, path: shown, told, error, given }: Refused): string | undefined => {
    switch (code) {
      case "OUTSIDE_ALLOWED":
        return withHeadline(`Access denied: ${shown} is not within allowed ${side} paths`, told);
      case "NOT_FOUND":
        return withHeadline(`${side === "read" ? "Path" : "File"} not found: ${shown}`, told);
      case "NO_CHANGE":
        return "old_string and new_string must be different (no changes to make)";
      case "MATCH_NOT_UNIQUE":
        return given["replace_all"] === true
          ? undefined
          : withHeadline(
              `old_string appears ${matchCountOf(error)} times in ${shown}; add context to make it unique, or set replace_all`,
              told,
            );
      default:
        return undefined;
    }
  };
}

/** Returns the call that lists a directory in place of reading it. */
function listing(directory: unknown): Meant {
  return call("list_directory", {
    args: { path: directory },
    text({ data, plain }) {
      if (data.total === 0) return plain();
      const lines = data.entries.map(
        ({ type, name }) => `  ${type === "dir" ? "DIR " : "FILE"} ${escapeControls(name)}`,
      );
      return lines.join("\n") + (data.truncated ? `\n[${lines.length} of ${data.total} entries]` : "");
    },
    refuse: makeAccessRefusal("read"),
  });
}

/**
 * Reads anywhere and writes below the working directory. Lines are numbered as by `cat -n`; edits must match
 * exactly.
 */
export const amplifier: Preset = buildPreset({
  name: "amplifier",
  about: "Amplifier",
  fixedText: true,
  limits: LIMITS_WITHOUT_PAGES,
  access: { read: null, write: ["."] },
  tools: [
    () =>
      tool({
        name: "read_file",
        description:
          "Reads a text file with line numbers as `cat -n` shows them (number, tab, line), at most `limit` lines from line `offset` on; offset counts from 1. Longer lines than 2000 characters are cut. Images are returned as images, a directory as a listing. The line numbers are not part of the file.",
        params: {
          file_path: param("path", path("The file to read"), { path: "home" }),
          offset: param(
            "start_line",
            integer("The line to begin with, counted from 1.", { default: 1, minimum: 1 }),
          ),
          limit: param("max_lines", integer("How many lines at most.", { default: 2000, minimum: 1 })),
        },
        required: ["file_path"],
        means: byArguments(["read_file", "list_directory"], ({ args }) =>
          call("read_file", {
            args: { line_numbers: "cat", ...args },
            text: ({ data, plain }) =>
              data.total_lines === 0 && data.image === undefined
                ? `${plain()}\nWarning: File exists but has empty contents`
                : plain(),
            refuse: makeAccessRefusal("read"),
            instead: (code) => (code === "IS_DIRECTORY" ? listing(args["path"]) : undefined),
          }),
        ),
      }),
    () =>
      tool({
        name: "write_file",
        description:
          "Writes a file with exactly this content; an existing file is overwritten, missing directories are made. Read an existing file first, and prefer edit_file to change parts of it. Reports the bytes written.",
        params: {
          file_path: param("path", path("The file to write"), { path: "home" }),
          content: param("content", text("The whole content, written as it is.")),
        },
        required: ["file_path", "content"],
        means: calls("write_file", {
          refuse: makeAccessRefusal("write"),
        }),
      }),
    () =>
      tool({
        name: "edit_file",
        description:
          "Replaces exact text in a file. old_string must occur exactly once, or replace_all must be true; copy it from read_file without the line number prefix (everything up to and including the tab). new_string must differ. Reports the replacements and the bytes written.",
        params: {
          file_path: param("path", path("The file to edit"), { path: "home" }),
          old_string: param(
            "old_text",
            text("The text to replace, exactly as in the file.", { minLength: 1 }),
          ),
          new_string: param("new_text", text("The text to put there; it must be different.")),
          replace_all: param("replace_all", flag("Replace every occurrence.", false)),
        },
        required: ["file_path", "old_string", "new_string"],
        means: calls("edit_file", {
          fixed: { match: "exact" },
          text({ data, args }) {
            const done = `Edited ${escapeControls(args.path)}: ${data.replacements} replacement(s), ${data.bytes_written} bytes written`;
            return `${done}\n${data.diff.replace(/\n$/u, "")}`;
          },
          refuse: makeAccessRefusal("write"),
        }),
      }),
  ],
});
