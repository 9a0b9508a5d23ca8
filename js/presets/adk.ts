/** Preset `adk`: the in-process file tools proposed for the Agent Development Kit. */
import { LIMITS_WITHOUT_PAGES } from "../tools/lib/limits.ts";
import { chosenMatchLine } from "../tools/edit_file.ts";
import { object } from "../tools/lib/schema.ts";
import { flag, path, text, texts } from "../tools/lib/shared.ts";
import { buildPreset, param, tool } from "./define.ts";
import { calls } from "./meaning.ts";
import type { Preset } from "./preset.ts";

/**
 * The workspace must list its directories as absolute paths. An edit whose text occurs several times replaces
 * the first occurrence.
 */
export const adk: Preset = buildPreset({
  name: "adk",
  about: "the Agent Development Kit's proposal for file tools",
  fixedText: true,
  limits: LIMITS_WITHOUT_PAGES,
  access: { listed: true },
  tools: [
    () =>
      tool({
        name: "read_file",
        description:
          "Reads a whole text file and returns its content as it is, without line numbers. Images are returned as images; other binary files are refused. To find a file first, use search.",
        params: { path: param("path", path("The file to read")) },
        required: ["path"],
        means: calls("read_file", {
          fixed: { line_numbers: "none", max_lines: null, max_line_chars: 0 },
        }),
      }),
    () =>
      tool({
        name: "write_file",
        description:
          "Creates a file with exactly this content; missing directories are made. An existing file is refused unless overwrite is true, and is then replaced atomically. To change parts of a file use edit_file.",
        params: {
          path: param("path", path("The file to write")),
          content: param("content", text("The whole content, written as it is.")),
          overwrite: param("overwrite", flag("Replace the file if it exists already.", false)),
        },
        required: ["path", "content"],
        means: calls("write_file"),
      }),
    () =>
      tool({
        name: "edit_file",
        description:
          "Replaces text in a file by a list of edits, applied in order, all of them or none, and returns a git-style diff. Each oldText is replaced where it first occurs; where only the white space differs, the indentation of the file is kept. With dry_run nothing is written and only the diff is returned.",
        params: {
          path: param("path", path("The file to edit")),
          edits: param(
            "edits",
            {
              type: "array",
              minItems: 1,
              description: "The replacements, in order; each is applied to the result of those before it.",
              items: object(
                {
                  oldText: text("The text to replace, as it stands in the file.", { minLength: 1 }),
                  newText: text("The text to put there; empty deletes."),
                },
                ["oldText", "newText"],
              ),
            },
            { keys: { oldText: "old_text", newText: "new_text" } },
          ),
          dry_run: param("dry_run", flag("Only show the diff; nothing is written.", false)),
        },
        required: ["path", "edits"],
        means: calls("edit_file", {
          fixed: { match: "whitespace", on_multiple: "first" },
          text: ({ data, args }) => data.diff.replace(/\n$/u, "") + chosenMatchLine(data, args),
        }),
      }),
    () =>
      tool({
        name: "copy",
        description:
          "Copies a file, or a directory with everything in it, to the exact destination path. An existing destination is refused; symbolic links are copied as links.",
        params: {
          source_path: param("source", path("The file or directory to copy")),
          destination_path: param("destination", path("The exact path of the copy")),
        },
        required: ["source_path", "destination_path"],
        means: calls("copy"),
      }),
    () =>
      tool({
        name: "delete",
        description:
          "Deletes a file, a symbolic link (never its target), or a directory with everything in it. There is no undo by this tool; the allowed directories themselves cannot be deleted.",
        params: { path: param("path", path("The file or directory to delete")) },
        required: ["path"],
        means: calls("delete", {
          fixed: { recursive: true },
        }),
      }),
    () =>
      tool({
        name: "list_directory",
        description:
          "Lists the names in a directory, one a line, directories first, marked [DIR], [FILE] or [LINK]. To find files anywhere below it use search.",
        params: { path: param("path", path("The directory to list")) },
        required: ["path"],
        means: calls("list_directory"),
      }),
    () =>
      tool({
        name: "get_info",
        description:
          "Tells size in bytes, type, permissions and the times of creation and last change of a file or directory, without reading it.",
        params: { path: param("path", path("The file or directory")) },
        required: ["path"],
        means: calls("stat"),
      }),
    () =>
      tool({
        name: "search",
        description:
          "Finds files and directories by name pattern below a directory, such as *.py (at any depth) or src/**/test_*; one path a line. Exclude patterns leave out what they match. It does not search contents.",
        params: {
          path: param("path", path("The directory to search in")),
          pattern: param("pattern", text("Glob of the names to find.", { minLength: 1 })),
          exclude_patterns: param("exclude", texts("Globs of what to leave out.")),
        },
        required: ["path", "pattern"],
        means: calls("glob", {
          fixed: { type: "any" },
        }),
      }),
  ],
});
