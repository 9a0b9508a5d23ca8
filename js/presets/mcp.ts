/** Preset `mcp`: the fourteen tools of the Model Context Protocol's filesystem server. */
import { isAbsolutePath } from "../backends/windows-paths.ts";
import { choice, flag, text } from "../tools/lib/shared.ts";
import { object, type Schema } from "../tools/lib/schema.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { escapeControls } from "../engine/escape.ts";
import { wrongArgumentError } from "./arguments.ts";
import { buildPreset, param, tool } from "./define.ts";
import { byArguments, call, calls, type Refused } from "./meaning.ts";
import {
  inMarkdownFence,
  fileInfoText,
  manyFilesText,
  readMcpText,
  listingWithSizesText,
  directoryTreeText,
} from "./mcp-texts.ts";
import { type Param, type Preset, type ToolSpec, absolutePathIn, withHeadline } from "./preset.ts";

/** The maximum number of entries of one listing. The limit of an answer's size usually ends it earlier. */
const MAX_LISTED_ENTRIES = 100_000;

const pathSchema = (what: string): Schema =>
  text(`${what}; absolute, or relative to the workspace.`, { minLength: 1 });

const lineCountParam = (what: string): Param =>
  param(null, { type: "number", minimum: 1, description: what });

function refusalMessage({ code, path, told, given }: Refused): string | undefined {
  if (code === "OUTSIDE_ALLOWED")
    return withHeadline(`Access denied - path outside allowed directories: ${path}`, told);
  if (code !== "MATCH_NOT_FOUND") return undefined;
  const [edit] = (given["edits"] as readonly { readonly oldText: string }[]).slice(0, 1);
  const shown = (edit?.oldText ?? "").split("\n", 3).map(escapeControls).join("\n");
  return withHeadline(`Could not find exact match for edit:\n${shown}`, told);
}

function readToolSpec(name: string, description: string): ToolSpec {
  return tool({
    name,
    description,
    params: {
      path: param("path", pathSchema("The file to read")),
      tail: lineCountParam("Only the last lines: how many."),
      head: lineCountParam("Only the first lines: how many."),
    },
    required: ["path"],
    means: byArguments(["read_file"], ({ args, given: { head, tail } }) => {
      if (head !== undefined && tail !== undefined)
        throw wrongArgumentError(name, "tail", "Cannot specify both head and tail parameters simultaneously");
      const start_line = tail === undefined ? undefined : -Number(tail);
      const whole = { line_numbers: "none", max_line_chars: 0, max_lines: head ?? null };
      return call("read_file", {
        args: withoutUndefined({ ...whole, ...args, start_line }),
        text: readMcpText,
        refuse: refusalMessage,
      });
    }),
  });
}

const EXCLUDE_PATTERNS_PARAM = param("exclude", {
  type: "array",
  items: { type: "string", minLength: 1 },
  default: [],
  description: "Globs of what to leave out.",
});

/** The tools of the reference server `server-filesystem`, with its names, parameters and texts. */
export const mcp: Preset = buildPreset({
  name: "mcp",
  about: "the Model Context Protocol's filesystem server",
  tools: [
    () =>
      readToolSpec("read_file", "Reads a file as text. Deprecated: read_text_file does the same; use that."),
    () =>
      readToolSpec(
        "read_text_file",
        "Reads a text file whole, or only its first (head) or last (tail) lines. The encoding is recognised. Use head or tail to look into large files, and read_media_file for images.",
      ),
    () =>
      tool({
        name: "read_media_file",
        description:
          "Reads an image and returns it as an image with its media type; of PDF files and other documents the text.",
        params: { path: param("path", pathSchema("The file to read")) },
        required: ["path"],
        means: calls("read_file", {
          fixed: { non_text: "block", max_lines: null, line_numbers: "none" },
          refuse: refusalMessage,
        }),
      }),
    () =>
      tool({
        name: "read_multiple_files",
        description:
          "Reads several text files at once, each behind a line with its path, in the order asked for. A file that cannot be read is reported in its place and does not fail the others.",
        params: {
          paths: param("paths", {
            type: "array",
            minItems: 1,
            items: { type: "string", minLength: 1 },
            description: "The files to read; absolute, or relative to the workspace.",
          }),
        },
        required: ["paths"],
        means: calls("read_many_files", {
          fixed: { use_default_excludes: false, respect_ignore: false, non_text: "error" },
          text: manyFilesText,
        }),
      }),
    () =>
      tool({
        name: "write_file",
        description:
          "Creates a file, or replaces an existing one without asking, atomically; missing directories are made. To change parts of a file use edit_file.",
        params: {
          path: param("path", pathSchema("The file to write")),
          content: param("content", text("The whole content, written as it is.")),
        },
        required: ["path", "content"],
        means: calls("write_file", {
          text: ({ args }) => `Successfully wrote to ${escapeControls(args.path)}`,
          refuse: refusalMessage,
        }),
      }),
    () =>
      tool({
        name: "edit_file",
        description:
          "Replaces text in a file by a list of edits, applied in order, all of them or none, and returns a git-style diff. Each oldText must stand in the file once; indentation may differ and is kept as in the file. dryRun only shows the diff.",
        params: {
          path: param("path", pathSchema("The file to edit")),
          edits: param(
            "edits",
            {
              type: "array",
              description: "The replacements, in order.",
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
          dryRun: param("dry_run", flag("Only show the diff; nothing is written.", false)),
        },
        required: ["path", "edits"],
        means: calls("edit_file", {
          text: ({ data }) => inMarkdownFence(data.diff),
          refuse: refusalMessage,
        }),
      }),
    () =>
      tool({
        name: "create_directory",
        description: "Makes a directory with its missing parents. One that exists already is fine.",
        params: { path: param("path", pathSchema("The directory to make")) },
        required: ["path"],
        means: calls("mkdir", {
          text: ({ args }) => `Successfully created directory ${escapeControls(args.path)}`,
          refuse: refusalMessage,
        }),
      }),
    () =>
      tool({
        name: "list_directory",
        description:
          "Lists a directory by name, one entry a line, marked [FILE], [DIR] or [LINK]. To find files anywhere below it use search_files.",
        params: { path: param("path", pathSchema("The directory to list")) },
        required: ["path"],
        means: calls("list_directory", {
          fixed: { sort: "name", limit: MAX_LISTED_ENTRIES },
          brief: true,
          refuse: refusalMessage,
        }),
      }),
    () =>
      tool({
        name: "list_directory_with_sizes",
        description:
          "Lists a directory, one entry a line, marked [FILE], [DIR] or [LINK], with the sizes of files and a sum at the end; by name, or the largest first.",
        params: {
          path: param("path", pathSchema("The directory to list")),
          sortBy: param(null, choice("What to sort by.", ["name", "size"], "name")),
        },
        required: ["path"],
        means: byArguments(["list_directory"], ({ args, given: { sortBy } }) => {
          const order = sortBy === "size" ? { sort: "size", order: "desc" } : { sort: "name" };
          return call("list_directory", {
            args: { limit: MAX_LISTED_ENTRIES, ...args, ...order },
            text: listingWithSizesText,
            refuse: refusalMessage,
          });
        }),
      }),
    () =>
      tool({
        name: "directory_tree",
        description:
          "Gives everything below a directory as JSON: name, type (file or directory) and, for directories, children. Leave out large directories such as node_modules with excludePatterns.",
        params: {
          path: param("path", pathSchema("The directory")),
          excludePatterns: { ...EXCLUDE_PATTERNS_PARAM, to: "ignore" },
        },
        required: ["path"],
        means: calls("list_directory", {
          fixed: { depth: 32, sort: "name", limit: MAX_LISTED_ENTRIES },
          brief: true,
          json: true,
          text: directoryTreeText,
          refuse: refusalMessage,
        }),
      }),
    () =>
      tool({
        name: "move_file",
        description:
          "Moves or renames a file or directory to the exact destination path. An existing destination is refused.",
        params: {
          source: param("source", pathSchema("What to move")),
          destination: param("destination", pathSchema("The exact new path")),
        },
        required: ["source", "destination"],
        means: calls("move", {
          text: ({ args }) =>
            `Successfully moved ${escapeControls(args.source)} to ${escapeControls(args.destination)}`,
          refuse: refusalMessage,
        }),
      }),
    () =>
      tool({
        name: "search_files",
        description:
          "Finds files and directories by name below a directory. The glob is compared with the path below it: *.ts finds files directly in it, **/*.ts at any depth. It does not search contents.",
        params: {
          path: param("path", pathSchema("The directory to search")),
          pattern: param("pattern", text("The glob.", { minLength: 1 }), {
            convert: (pattern: string) => (pattern.includes("/") ? pattern : `/${pattern}`),
          }),
          excludePatterns: EXCLUDE_PATTERNS_PARAM,
        },
        required: ["path", "pattern"],
        means: calls("glob", {
          fixed: { type: "any", respect_ignore: false, limit: MAX_LISTED_ENTRIES },
          text({ data, args, call, plain }) {
            if (data.matches.length === 0) return "No matches found";
            // A call with an absolute path is answered with absolute paths.
            const isAbsolute = args.path !== undefined && isAbsolutePath(args.path, call.reach.summary.paths);
            if (!isAbsolute || data.truncated) return plain();
            return data.matches.map((path) => escapeControls(absolutePathIn(call, path))).join("\n");
          },
          refuse: refusalMessage,
        }),
      }),
    () =>
      tool({
        name: "get_file_info",
        description:
          "Tells about a file or directory: size in bytes, times of creation, change and access, type and permissions.",
        params: { path: param("path", pathSchema("The file or directory")) },
        required: ["path"],
        means: calls("stat", {
          brief: true,
          text: fileInfoText,
          refuse: refusalMessage,
        }),
      }),
    () =>
      tool({
        name: "list_allowed_directories",
        description: "Lists the directories of the workspace. They may be used, and everything below them.",
        params: {},
        required: [],
        means: calls("access_info", {
          text({ data }) {
            const roots = [...(data.read_roots ?? ["/"]), ...data.write_roots];
            return ["Allowed directories:", ...[...new Set(roots)].map(escapeControls)].join("\n");
          },
        }),
      }),
  ],
});
