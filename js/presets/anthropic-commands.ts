/**
 * Converts calls of Anthropic's text editor tool and memory tool, which have a `command` argument, to
 * canonical calls.
 */
import type { Arguments } from "../tools/lib/schema.ts";
import { escapeControls } from "../engine/escape.ts";
import { wrongArgumentError } from "./arguments.ts";
import { call, type Meant, type Refused } from "./meaning.ts";
import { matchCountOf, withHeadline, diffWithoutLastEnding } from "./preset.ts";

/** The directory that the memory tool calls `/memories`, relative to the working directory. */
const MEMORIES_DIRECTORY = "memories";

/** Converts a call of the text editor tool to a canonical call. @throws FilewrightError INVALID_ARGUMENT */
export function editorCall(given: Arguments): Meant {
  const at = requiredText(EDITOR_TOOL_NAME, given, "path");
  return callOfCommand(EDITOR_TOOL_NAME, given, at, at);
}

/** Converts a call of the memory tool to a canonical call. @throws FilewrightError INVALID_ARGUMENT */
export function memoryCall(given: Arguments): Meant {
  const { command: name } = given;
  if (name === "rename") {
    const [from, to] = [
      requiredText(MEMORY_TOOL_NAME, given, "old_path"),
      requiredText(MEMORY_TOOL_NAME, given, "new_path"),
    ];
    return call("move", {
      args: {
        source: toWorkspaceMemoryPath(from, "old_path", true),
        destination: toWorkspaceMemoryPath(to, "new_path", true),
      },
      text: () => `Successfully renamed ${escapeControls(from)} to ${escapeControls(to)}`,
      refuse: makeRefusalTexts(from),
    });
  }
  const path = requiredText(MEMORY_TOOL_NAME, given, "path");
  if (name !== "delete")
    return callOfCommand(MEMORY_TOOL_NAME, given, path, toWorkspaceMemoryPath(path, "path", false));
  return call("delete", {
    args: { path: toWorkspaceMemoryPath(path, "path", true), recursive: true },
    text: () => `Successfully deleted ${escapeControls(path)}`,
    refuse: makeRefusalTexts(path),
  });
}

const EDITOR_TOOL_NAME = "str_replace_based_edit_tool";
const MEMORY_TOOL_NAME = "memory";

function callOfCommand(tool: string, given: Arguments, path: string, at: string): Meant {
  const refuse = makeRefusalTexts(path);
  const shown = escapeControls(path);
  switch (given["command"]) {
    case "create":
      return call("write_file", {
        args: { path: at, content: requiredText(tool, given, "file_text"), overwrite: false },
        text: () => `File created successfully at: ${shown}`,
        refuse: (refused) =>
          refused.code === "ALREADY_EXISTS" ? `File ${shown} already exists` : refuse(refused),
      });
    case "str_replace":
      return call("edit_file", {
        args: {
          path: at,
          old_text: requiredText(tool, given, "old_str"),
          new_text: requiredText(tool, given, "new_str"),
          match: "exact",
        },
        text: ({ data }) => `The file ${shown} has been edited.\n${diffWithoutLastEnding(data)}`,
        refuse,
      });
    case "insert":
      return call("apply_patch", {
        args: { path: at, patch: insertionPatch(tool, given), fuzz: 0 },
        text: ({ data }) => `The file ${shown} has been edited.\n${diffWithoutLastEnding(data)}`,
        refuse: (refused) => insertRefusal(refused, given["insert_line"]) ?? refuse(refused),
      });
    default:
      return call("read_file", {
        args: { path: at, line_numbers: "cat", ...viewedLineRange(tool, given) },
        text: ({ plain }) =>
          tool === MEMORY_TOOL_NAME
            ? `Here's the content of ${shown} with line numbers:\n${plain()}`
            : plain(),
        refuse,
        instead: (code) => (code === "IS_DIRECTORY" ? listingOf(path, at) : undefined),
      });
  }
}

/** Returns the call that lists a directory in place of reading it; `at` is its path in the workspace. */
function listingOf(path: string, at: string): Meant {
  const top = escapeControls(path.replace(/\/+$/u, "") || "/");
  return call("list_directory", {
    args: { path: at, depth: 2, hidden: false, ignore: ["node_modules"], sort: "name" },
    text({ data }) {
      const rows = data.entries.map(({ path: file, size = 0, type }) => {
        const below = pathBelowTop(file, data.path);
        return `${formatSize(type === "dir" ? 0 : size)}\t${top === "/" ? "" : top}/${escapeControls(below)}`;
      });
      const head = `Here're the files and directories up to 2 levels deep in ${top}, excluding hidden items and node_modules:`;
      const more = data.truncated ? [`[${rows.length} of ${data.total} entries]`] : [];
      return [head, ...rows, ...more].join("\n");
    },
    refuse: makeRefusalTexts(path),
  });
}

function pathBelowTop(path: string, top: string): string {
  if (top === ".") return path;
  return path.startsWith(`${top}/`) ? path.slice(top.length + 1) : path;
}

function formatSize(bytes: number): string {
  if (bytes < 1024) return String(bytes);
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)}K` : `${(bytes / 1024 / 1024).toFixed(1)}M`;
}

/** Returns a patch that inserts the text after line `insert_line`; the file must have that line. */
function insertionPatch(tool: string, given: Arguments): string {
  const { insert_line: line, insert_text: inserted = given["new_str"] } = given;
  if (line === undefined) throw wrongArgumentError(tool, "insert_line", "is required with insert");
  if (typeof inserted !== "string") throw wrongArgumentError(tool, "insert_text", "is required with insert");
  const lines = inserted.replace(/\r?\n$/u, "").split("\n");
  const at = Number(line);
  return `@@ -${at},0 +${at + 1},${lines.length} @@\n${lines.map((one) => `+${one}\n`).join("")}`;
}

/**
 * Returns the message that Anthropic documents for a line which the file does not have; undefined for any
 * other failure.
 */
function insertRefusal({ code, error }: Refused, line: unknown): string | undefined {
  if (code !== "PATCH_FAILED" || error.details?.["reason"] !== "lines_differ") return undefined;
  const lines = Number(error.details["line"]);
  return `Invalid \`insert_line\` parameter: ${String(line)}. It should be within the range of lines of the file: [0, ${lines}]. Nothing was written.`;
}

function viewedLineRange(tool: string, given: Arguments): Arguments {
  const range = given["view_range"];
  if (!Array.isArray(range)) return {};
  const [first, last] = range as [number, number];
  if (first < 1 || (last !== -1 && last < first))
    throw wrongArgumentError(
      tool,
      "view_range",
      "must be two lines counted from 1, the second not before the first",
    );
  return { start_line: first, max_lines: last === -1 ? null : last - first + 1 };
}

function requiredText(tool: string, given: Arguments, argument: string): string {
  const value = given[argument];
  if (typeof value === "string") return value;
  const remedy = argument === "new_str" ? '; send "" to delete the text' : "";
  throw wrongArgumentError(tool, argument, `is required with ${String(given["command"])}${remedy}`);
}

/**
 * Converts a path below `/memories` to one of the workspace. With `inside`, the directory `/memories` itself
 * is refused. @throws FilewrightError INVALID_ARGUMENT
 */
function toWorkspaceMemoryPath(path: string, argument: string, inside: boolean): string {
  const parts = path.split("/");
  const [first, top, ...rest] = parts;
  if (first !== "" || top !== MEMORIES_DIRECTORY)
    throw wrongArgumentError(MEMORY_TOOL_NAME, argument, "must begin with /memories");
  if (rest.includes("..")) throw wrongArgumentError(MEMORY_TOOL_NAME, argument, "must not hold '..'");
  const below = rest.filter((part) => part !== "" && part !== ".");
  if (inside && below.length === 0)
    throw wrongArgumentError(MEMORY_TOOL_NAME, argument, "must lie below /memories");
  return [MEMORIES_DIRECTORY, ...below].join("/");
}

/** Returns the function that words the refusals of one path as Anthropic documents them. */
function makeRefusalTexts(path: string): (refused: Refused) => string | undefined {
  const shown = escapeControls(path);
  return ({ code, told, error }) => {
    switch (code) {
      case "NOT_FOUND":
        return `The path ${shown} does not exist. Please provide a valid path.`;
      case "MATCH_NOT_FOUND":
        return withHeadline(
          `No replacement was performed, old_str did not appear verbatim in ${shown}.`,
          told,
        );
      case "MATCH_NOT_UNIQUE": {
        const lines = error.details?.["lines"];
        const at = Array.isArray(lines) ? lines.slice(0, 20).join(", ") : "";
        return `No replacement was performed. old_str occurs ${matchCountOf(error)} times in ${shown}, in lines ${at}; ensure it is unique.`;
      }
      default:
        return undefined;
    }
  };
}
