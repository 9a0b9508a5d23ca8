/** Preset `codex`: `apply_patch` in the form of OpenAI's coding models, and reading tools. */
import type { ListDirectoryArgs, ListDirectoryData } from "../tools/index.ts";
import { integer, path, text } from "../tools/lib/shared.ts";
import { escapeControls, plural } from "../engine/escape.ts";
import { buildPreset, param, tool } from "./define.ts";
import { byArguments, call, calls, type Refused, type RenderInput } from "./meaning.ts";
import { type Preset, absolutePathIn, withHeadline } from "./preset.ts";

/**
 * Moves chunks that only add lines to the end of their file's section.
 *
 * In Codex, a chunk without context, removed lines and anchor adds its lines at the end of the file. The
 * canonical tool refuses it, because it names no place. These chunks must come last, because chunks have to
 * be in the order of the file.
 */
function withAdditionsAtEnd(patch: string): string {
  const lines = patch.split("\n");
  const result: string[] = [];
  let additions: string[] = [];
  let isUpdate = false;
  const flush = (): void => {
    result.push(...additions);
    additions = [];
  };
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] as string;
    if (line.startsWith("*** ") && line.trimEnd() !== END_OF_FILE_LINE) {
      if (!line.startsWith("*** Move to:")) {
        flush();
        isUpdate = line.startsWith("*** Update File:");
      }
      result.push(line);
      at += 1;
      continue;
    }
    let end = at + 1;
    while (end < lines.length && !/^(?:@@|\*\*\* )/u.test(lines[end] as string)) end += 1;
    const body = line.startsWith("@@") ? lines.slice(at + 1, end) : lines.slice(at, end);
    while (body.at(-1)?.trim() === "") body.pop();
    const isBare = !line.startsWith("@@") || line.trim() === "@@";
    const isAddition = body.length > 0 && body.every((one) => one.startsWith("+"));
    if (isUpdate && isBare && isAddition && lines[end]?.trimEnd() !== END_OF_FILE_LINE)
      additions.push("@@", ...body, END_OF_FILE_LINE);
    else result.push(...lines.slice(at, end));
    at = end;
  }
  flush();
  return result.join("\n");
}

const END_OF_FILE_LINE = "*** End of File";

function refusalMessage({ code, told }: Refused): string | undefined {
  return code === "PATCH_FAILED" ? withHeadline("apply_patch verification failed", told) : undefined;
}

const MARK_BY_TYPE = { dir: "/", symlink: "@", other: "?", file: "" } as const;

/** Returns the entries of a listing after the skipped ones, indented by level. */
function listingText(
  { data, call: made }: RenderInput<ListDirectoryArgs, ListDirectoryData>,
  skipped: number,
): string {
  const base = data.path === "." ? 0 : data.path.split("/").length;
  const rows = data.entries.slice(skipped).map(({ path: file, name, type }) => {
    const level = file.split("/").length - base - 1;
    return `${"  ".repeat(level)}${escapeControls(name)}${MARK_BY_TYPE[type]}`;
  });
  const more = data.truncated ? [`More than ${plural(rows.length, "entry", "entries")} found`] : [];
  const top = `Absolute path: ${escapeControls(absolutePathIn(made, data.path))}`;
  return [top, ...rows, ...more].join("\n");
}

const MARK_BY_OPERATION = { create: "A", copy: "A", delete: "D", update: "M", rename: "M" } as const;

const offsetSchema = (what: string): ReturnType<typeof integer> => integer(what, { default: 1, minimum: 1 });

/** Patches in the form `*** Begin Patch`; lines and entries count from 1. */
export const codex: Preset = buildPreset({
  name: "codex",
  about: "OpenAI's Codex",
  guard: "refuse",
  tools: [
    () =>
      tool({
        name: "apply_patch",
        description:
          "Applies a patch to any number of files, all of it or nothing. The patch begins with `*** Begin Patch` and ends with `*** End Patch`; between them stand sections `*** Add File: path` (each line with +), `*** Delete File: path` and `*** Update File: path`, optionally followed by `*** Move to: path`, with hunks of context, - and + lines behind `@@`. Give three lines of context around each change; lines without any are added at the end of the file. A hunk that is not found, or fits in two places, is refused with what is there.",
        params: { input: param("patch", text("The whole patch.", { minLength: 1 })) },
        required: ["input"],
        means: byArguments(["apply_patch"], ({ args }) =>
          call("apply_patch", {
            args: { ...args, patch: withAdditionsAtEnd(String(args["patch"])) },
            text({ data }) {
              const rows = data.files.map(
                ({ operation, path: file }) => `${MARK_BY_OPERATION[operation]} ${escapeControls(file)}`,
              );
              return ["Success. Updated the following files:", ...rows].join("\n");
            },
            refuse: refusalMessage,
          }),
        ),
      }),
    () =>
      tool({
        name: "read_file",
        description:
          "Reads a text file with line numbers (number, tab, line), at most `limit` lines from line `offset` on, counted from 1.",
        params: {
          file_path: param("path", path("The file to read")),
          offset: param("start_line", offsetSchema("The line to begin with, counted from 1.")),
          limit: param("max_lines", integer("How many lines at most.", { default: 2000, minimum: 1 })),
        },
        required: ["file_path"],
        means: calls("read_file", {
          fixed: { max_line_chars: 500 },
        }),
      }),
    () =>
      tool({
        name: "list_dir",
        description:
          "Lists a directory and what is below it, to `depth` levels, indented by level: directories end in /, links in @. At most `limit` entries from entry `offset` on, counted from 1.",
        params: {
          dir_path: param("path", path("The directory to list")),
          offset: param(null, offsetSchema("The entry to begin with, counted from 1.")),
          limit: param(
            null,
            integer("How many entries at most.", { default: 25, minimum: 1, maximum: 10_000 }),
          ),
          depth: param("depth", integer("How many levels.", { default: 2, minimum: 1, maximum: 32 })),
        },
        required: ["dir_path"],
        means: byArguments(["list_directory"], ({ args, given }) => {
          const skipped = Number(given["offset"]) - 1;
          return call("list_directory", {
            args: { sort: "name", ...args, limit: Math.min(skipped + Number(given["limit"]), 100_000) },
            text: (told) => listingText(told, skipped),
          });
        }),
      }),
    () =>
      tool({
        name: "grep_files",
        description:
          "Finds files whose content matches a regular expression (Rust syntax) and gives their paths, at most `limit`. `include` narrows it by a glob of file names.",
        params: {
          pattern: param("pattern", text("The regular expression.", { minLength: 1 })),
          include: param("glob", text("Only files whose path matches this glob.", { minLength: 1 })),
          path: param("path", path("The directory or file to search", { default: "." })),
          limit: param(
            "max_results",
            integer("How many paths at most.", { default: 100, minimum: 1, maximum: 2000 }),
          ),
        },
        required: ["pattern"],
        means: calls("grep", {
          fixed: { output: "files" },
          text: ({ data, plain }) =>
            data.complete && (data.files ?? []).length === 0 ? "No matches found." : plain(),
        }),
      }),
    () =>
      tool({
        name: "view_image",
        description: "Shows an image file of the workspace, so that it can be looked at.",
        params: { path: param("path", path("The image to show")) },
        required: ["path"],
        means: calls("read_file", {
          fixed: { non_text: "block" },
        }),
      }),
  ],
});
