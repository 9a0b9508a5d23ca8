/** Preset `go`: the eleven tools of a Go `filesystem` toolbox. */
import { BYTES_PER_MIB, LIMITS_WITHOUT_PAGES } from "../tools/lib/limits.ts";
import { object } from "../tools/lib/schema.ts";
import { flag, path, text } from "../tools/lib/shared.ts";
import { buildPreset, param, tool } from "./define.ts";
import { calls, type Refused } from "./meaning.ts";
import { type Preset, matchCountOf, withHeadline } from "./preset.ts";

const OK_TEXT = (): string => "ok";

function editRefusalMessage({ code, error, told }: Refused): string | undefined {
  if (code === "MATCH_NOT_FOUND") return withHeadline("old_text not found in file", told);
  if (code === "MATCH_NOT_UNIQUE")
    return withHeadline(`old_text appears ${matchCountOf(error)} times, must be unique`, told);
  return undefined;
}

/** Returns a message that names the hunk of a patch that cannot be applied, by its index from 0. */
function patchRefusalMessage(refused: Refused): string | undefined {
  const index = refused.error.details?.["edit_index"];
  const message = editRefusalMessage(refused);
  if (typeof index !== "number") return message;
  return `hunk ${index}: ${message ?? refused.told}`;
}

const OLD_TEXT_SCHEMA = text("The text to replace; it must occur exactly once.", { minLength: 1 });
const NEW_TEXT_SCHEMA = text("The text to put there; left out, the old text is deleted.", { default: "" });

/**
 * Texts have no line numbers, listings are JSON, and a success is `ok`. Directories are used only after the
 * user has granted them.
 */
export const go: Preset = buildPreset({
  name: "go",
  about: "a Go filesystem toolbox",
  fixedText: true,
  access: { prompt: true },
  limits: { wholeFileBytes: 10 * BYTES_PER_MIB, ...LIMITS_WITHOUT_PAGES },
  tools: [
    () =>
      tool({
        name: "fs_read",
        description:
          "Reads a whole text file of up to 10 MB and returns its content as it is, without line numbers.",
        params: { path: param("path", path("The file to read")) },
        required: ["path"],
        means: calls("read_file", {
          fixed: { line_numbers: "none", max_lines: null, max_line_chars: 0 },
          refuse: ({ code, told }) =>
            code === "TOO_LARGE" ? withHeadline("file exceeds maximum read size of 10 MB", told) : undefined,
        }),
      }),
    () =>
      tool({
        name: "fs_write",
        description:
          "Writes a file with exactly this content, atomically. An existing file is replaced and keeps its mode; missing directories are made. Returns ok.",
        params: {
          path: param("path", path("The file to write")),
          content: param("content", text("The whole content, written as it is.")),
        },
        required: ["path", "content"],
        means: calls("write_file", {
          text: OK_TEXT,
        }),
      }),
    () =>
      tool({
        name: "fs_edit",
        description:
          "Replaces one piece of text in a file. old_text must occur exactly once, character for character; add surrounding lines to make it unique. Returns ok.",
        params: {
          path: param("path", path("The file to edit")),
          old_text: param("old_text", OLD_TEXT_SCHEMA),
          new_text: param("new_text", NEW_TEXT_SCHEMA),
        },
        required: ["path", "old_text"],
        means: calls("edit_file", {
          fixed: { match: "exact" },
          text: OK_TEXT,
          refuse: editRefusalMessage,
        }),
      }),
    () =>
      tool({
        name: "fs_list",
        description:
          "Lists a directory as a JSON array of {name, type, size}; type is dir, file, symlink or other.",
        params: { path: param("path", path("The directory to list")) },
        required: ["path"],
        means: calls("list_directory", {
          fixed: { format: "json" },
          text: ({ data }) =>
            indentedJsonRows(data.entries.map(({ name, type, size }) => ({ name, type, size: size ?? 0 }))),
        }),
      }),
    () =>
      tool({
        name: "fs_delete",
        description:
          "Deletes a file, a symbolic link (never its target) or an empty directory; with recursive a directory with everything in it. Returns ok.",
        params: {
          path: param("path", path("What to delete")),
          recursive: param("recursive", flag("Delete a directory with everything in it.", false)),
        },
        required: ["path"],
        means: calls("delete", {
          text: OK_TEXT,
        }),
      }),
    () =>
      tool({
        name: "fs_move",
        description:
          "Moves or renames a file or directory to the exact destination path. An existing destination is refused. Returns ok.",
        params: {
          source: param("source", path("What to move")),
          destination: param("destination", path("The exact new path")),
        },
        required: ["source", "destination"],
        means: calls("move", {
          text: OK_TEXT,
        }),
      }),
    () =>
      tool({
        name: "fs_copy",
        description:
          "Copies a file, or a directory with everything in it, to the exact destination path. An existing destination is refused. Returns ok.",
        params: {
          source: param("source", path("What to copy")),
          destination: param("destination", path("The exact path of the copy")),
        },
        required: ["source", "destination"],
        means: calls("copy", {
          text: OK_TEXT,
        }),
      }),
    () =>
      tool({
        name: "fs_stat",
        description:
          "Tells about a file or directory as JSON: name, size in bytes, mode, mod_time (UTC) and is_dir.",
        params: { path: param("path", path("The file or directory")) },
        required: ["path"],
        means: calls("stat", {
          text: ({ data }) =>
            JSON.stringify({
              name: data.name,
              size: data.size,
              mode: data.mode_string ?? (data.is_dir ? "d---------" : "----------"),
              mod_time: data.modified.replace(/\.\d+Z$/u, "Z"),
              is_dir: data.is_dir,
            }),
        }),
      }),
    () =>
      tool({
        name: "fs_diff",
        description:
          "Compares two text files and returns a unified diff with three lines of context, or says that they are identical.",
        params: {
          file_a: param("a", path("The first (old) file")),
          file_b: param("b", path("The second (new) file")),
        },
        required: ["file_a", "file_b"],
        means: calls("diff", {
          text: ({ data, plain }) => (data.identical ? "files are identical" : plain()),
        }),
      }),
    () =>
      tool({
        name: "fs_patch",
        description:
          "Applies several find-and-replace hunks to one file, in order, all of them or none. Each old_text must occur exactly once in the result of the hunks before it; a failure names the hunk, counted from 0. Returns ok.",
        params: {
          path: param("path", path("The file to patch")),
          hunks: param(
            "edits",
            {
              type: "array",
              minItems: 1,
              description: "The hunks, in order.",
              items: object({ old_text: OLD_TEXT_SCHEMA, new_text: NEW_TEXT_SCHEMA }, ["old_text"]),
            },
            { keys: { old_text: "old_text", new_text: "new_text" } },
          ),
        },
        required: ["path", "hunks"],
        means: calls("edit_file", {
          fixed: { match: "exact" },
          text: OK_TEXT,
          refuse: patchRefusalMessage,
        }),
      }),
    () =>
      tool({
        name: "fs_mkdir",
        description: "Makes a directory with its missing parents; one that exists is fine. Returns ok.",
        params: { path: param("path", path("The directory to make")) },
        required: ["path"],
        means: calls("mkdir", {
          text: OK_TEXT,
        }),
      }),
  ],
});

function indentedJsonRows(list: readonly object[]): string {
  return list.length === 0 ? "[]" : `[\n${list.map((row) => JSON.stringify(row)).join(",\n")}\n]`;
}
