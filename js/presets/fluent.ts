/** Preset `fluent`: the workspace tools of adk-fluent. */
import { LIMITS_WITHOUT_PAGES } from "../tools/lib/limits.ts";
import { closingLine as grepClosing } from "../tools/grep/text.ts";
import { readFileAnswerText } from "../tools/read/text.ts";
import { integer, path, text } from "../tools/lib/shared.ts";
import { escapeControls } from "../engine/escape.ts";
import { buildPreset, param, tool } from "./define.ts";
import { calls, type Refused } from "./meaning.ts";
import { type Preset, matchCountOf } from "./preset.ts";

function outsideMessage({ code, path: shown }: Refused): string | undefined {
  return code === "OUTSIDE_ALLOWED" ? `path '${shown}' is outside the allowed workspace.` : undefined;
}

/** Edits must match exactly; line numbers are plain and an offset counts from 0; lists are short. */
export const fluent: Preset = buildPreset({
  name: "fluent",
  about: "adk-fluent",
  fixedText: true,
  limits: { outputBytes: 100_000, ...LIMITS_WITHOUT_PAGES },
  tools: [
    () =>
      tool({
        name: "read_file",
        description:
          "Reads a text file with line numbers (number, tab, line), at most `limit` lines from line `offset` on. The numbers count from 1, offset counts from 0: offset 10 begins with line 11. Leave the numbers out of edits.",
        params: {
          path: param("path", path("The file to read")),
          offset: param(
            "start_line",
            integer("How many lines to skip: 0 begins with the first line.", { default: 0, minimum: 0 }),
            { convert: (value: number) => value + 1, back: (value) => value - 1 },
          ),
          limit: param("max_lines", integer("How many lines at most.", { default: 2000, minimum: 1 })),
        },
        required: ["path"],
        means: calls("read_file", {
          fixed: { line_numbers: "plain" },
          text: ({ data, args, call }) =>
            readFileAnswerText(
              data,
              { line_numbers: "plain", max_line_chars: 2000, anchors: false, path: args.path },
              call,
              false,
            ),
          refuse: outsideMessage,
        }),
      }),
    () =>
      tool({
        name: "edit_file",
        description:
          "Replaces old_string by new_string in a file. old_string must stand in the file exactly once, character for character, without line numbers; give a few lines around the change to make it unique.",
        params: {
          path: param("path", path("The file to edit")),
          old_string: param(
            "old_text",
            text("The text to replace, exactly as in the file.", { minLength: 1 }),
          ),
          new_string: param("new_text", text("The text to put there; empty deletes.")),
        },
        required: ["path", "old_string", "new_string"],
        means: calls("edit_file", {
          fixed: { match: "exact" },
          text: ({ args }) => `Successfully edited ${escapeControls(args.path)}`,
          refuse(refused) {
            const { code, path: shown, error } = refused;
            if (code === "MATCH_NOT_FOUND") return `old_string not found in ${shown}`;
            if (code === "MATCH_NOT_UNIQUE")
              return `old_string appears ${matchCountOf(error)} times in ${shown}. Must be unique.`;
            return outsideMessage(refused);
          },
        }),
      }),
    () =>
      tool({
        name: "write_file",
        description:
          "Writes a file with exactly this content, atomically; an existing file is replaced, missing directories are made. To change parts of a file use edit_file.",
        params: {
          path: param("path", path("The file to write")),
          content: param("content", text("The whole content, written as it is.")),
        },
        required: ["path", "content"],
        means: calls("write_file", {
          text: ({ args }) => `Successfully wrote ${escapeControls(args.path)}`,
          refuse: outsideMessage,
        }),
      }),
    () =>
      tool({
        name: "list_dir",
        description:
          "Lists a directory, one entry a line: `d name` for directories, which come first, `f name` for files, `l name -> target` for links. At most 200 entries.",
        params: { path: param("path", path("The directory to list", { default: "." })) },
        required: [],
        means: calls("list_directory", {
          fixed: { limit: 200 },
          text({ data, plain }) {
            if (data.total === 0) return "(empty directory)";
            const marks = { dir: "d", file: "f", symlink: "l", other: "o" } as const;
            const lines = data.entries.map(({ type, name, target }) => {
              const pointed = target === undefined ? "" : ` -> ${escapeControls(target)}`;
              return `${marks[type]} ${escapeControls(name)}${pointed}`;
            });
            // A truncated list ends with the last line of the canonical text, which says how many entries there
            // are.
            return data.truncated ? [...lines, lastLineOf(plain())].join("\n") : lines.join("\n");
          },
          refuse: outsideMessage,
        }),
      }),
    () =>
      tool({
        name: "glob_search",
        description:
          "Finds files by name pattern in the whole workspace, such as *.py (at any depth) or src/**/*.ts; one path a line, at most 100. To search contents use grep_search.",
        params: { pattern: param("pattern", text("Glob of the files to find.", { minLength: 1 })) },
        required: ["pattern"],
        means: calls("glob", {
          fixed: { limit: 100 },
          text: ({ data, plain }) =>
            data.matches.length === 0 ? "No files found matching the pattern." : plain(),
          refuse: outsideMessage,
        }),
      }),
    () =>
      tool({
        name: "grep_search",
        description:
          "Searches the contents of files for a regular expression (Rust syntax) and gives `path:line: text`, sorted. Narrow it by a glob of file names. To find files by name use glob_search.",
        params: {
          pattern: param("pattern", text("Regular expression; letter case counts.", { minLength: 1 })),
          glob: param(
            "glob",
            text("Only files whose path matches this glob.", { default: "**/*", minLength: 1 }),
          ),
          max_results: param(
            "max_results",
            integer("The most matching lines given.", { default: 50, minimum: 1, maximum: 1_000_000 }),
          ),
        },
        required: ["pattern"],
        means: calls("grep", {
          text({ data, args, call, plain }) {
            const { matches = [] } = data;
            if (matches.length === 0) return data.complete ? "No matches found." : plain();
            const lines = matches.map(
              (match) => `${escapeControls(match.path)}:${match.line}: ${match.text}`,
            );
            const whole = !data.truncated && data.complete;
            return [...lines, ...(whole ? [] : [grepClosing(data, args as never, call.reader.names)])].join(
              "\n",
            );
          },
          refuse: outsideMessage,
        }),
      }),
  ],
});

function lastLineOf(lines: string): string {
  return lines.slice(lines.lastIndexOf("\n") + 1);
}
