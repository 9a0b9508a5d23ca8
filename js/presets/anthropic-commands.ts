/**
 * Converts calls of Anthropic's text editor tool and memory tool, which have a `command` argument, to
 * canonical calls.
 */
import type { Code } from "../engine/errors.ts";
import type { Arguments } from "../tools/lib/schema.ts";
import { escapeControls } from "../engine/escape.ts";
import { route, wrongArgument } from "./define.ts";
import { type Refused, type Route, foundTimes, headed, shownDiff } from "./preset.ts";

/** The directory that the memory tool calls `/memories`, relative to the working directory. */
const MEMORIES = "memories";

/** Converts a call of the text editor tool to a canonical call. @throws FilewrightError INVALID_ARGUMENT */
export function editorRoute(given: Arguments): Route {
  const at = need(EDITOR, given, "path");
  return command(EDITOR, given, at, at);
}

/** Converts a call of the memory tool to a canonical call. @throws FilewrightError INVALID_ARGUMENT */
export function memoryRoute(given: Arguments): Route {
  const { command: name } = given;
  if (name === "rename") {
    const [from, to] = [need(MEMORY, given, "old_path"), need(MEMORY, given, "new_path")];
    return route({
      of: "move",
      args: { source: memoryPath(from, "old_path", true), destination: memoryPath(to, "new_path", true) },
      text: () => `Successfully renamed ${escapeControls(from)} to ${escapeControls(to)}`,
      refuse: refusal(from),
    });
  }
  const path = need(MEMORY, given, "path");
  if (name !== "delete") return command(MEMORY, given, path, memoryPath(path, "path", false));
  return route({
    of: "delete",
    args: { path: memoryPath(path, "path", true), recursive: true },
    text: () => `Successfully deleted ${escapeControls(path)}`,
    refuse: refusal(path),
  });
}

const EDITOR = "str_replace_based_edit_tool";
const MEMORY = "memory";

function command(tool: string, given: Arguments, path: string, at: string): Route {
  const refuse = refusal(path);
  const shown = escapeControls(path);
  switch (given["command"]) {
    case "create":
      return route({
        of: "write_file",
        args: { path: at, content: need(tool, given, "file_text"), overwrite: false },
        text: () => `File created successfully at: ${shown}`,
        refuse: (refused) =>
          refused.code === "ALREADY_EXISTS" ? `File ${shown} already exists` : refuse(refused),
      });
    case "str_replace":
      return route({
        of: "edit_file",
        args: {
          path: at,
          old_text: need(tool, given, "old_str"),
          new_text: need(tool, given, "new_str"),
          match: "exact",
        },
        text: ({ data }) => `The file ${shown} has been edited.\n${shownDiff(data)}`,
        refuse,
      });
    case "insert":
      return route({
        of: "apply_patch",
        args: { path: at, patch: insertion(tool, given), fuzz: 0 },
        text: ({ data }) => `The file ${shown} has been edited.\n${shownDiff(data)}`,
        refuse: (refused) => insertRefusal(refused, given["insert_line"]) ?? refuse(refused),
      });
    default:
      return route({
        of: "read_file",
        args: { path: at, ...windowOf(tool, given) },
        text: ({ plain }) =>
          tool === MEMORY ? `Here's the content of ${shown} with line numbers:\n${plain()}` : plain(),
        refuse,
      });
  }
}

/**
 * Returns a call that lists the directory, when the command `view` failed because its path is a directory;
 * otherwise undefined.
 */
export function viewInstead(code: Code, given: Arguments, memory: boolean): Route | undefined {
  if (code !== "IS_DIRECTORY" || given["command"] !== "view") return undefined;
  const path = String(given["path"]);
  const top = escapeControls(path.replace(/\/+$/u, "") || "/");
  return route({
    of: "list_directory",
    args: {
      path: memory ? memoryPath(path, "path", false) : path,
      depth: 2,
      hidden: false,
      ignore: ["node_modules"],
      sort: "name",
    },
    text({ data }) {
      const rows = data.entries.map(({ path: file, size = 0, type }) => {
        const below = belowTop(file, data.path);
        return `${sizeText(type === "dir" ? 0 : size)}\t${top === "/" ? "" : top}/${escapeControls(below)}`;
      });
      const head = `Here're the files and directories up to 2 levels deep in ${top}, excluding hidden items and node_modules:`;
      const more = data.truncated ? [`[${rows.length} of ${data.total} entries]`] : [];
      return [head, ...rows, ...more].join("\n");
    },
    refuse: refusal(path),
  });
}

function belowTop(path: string, top: string): string {
  if (top === ".") return path;
  return path.startsWith(`${top}/`) ? path.slice(top.length + 1) : path;
}

function sizeText(bytes: number): string {
  if (bytes < 1024) return String(bytes);
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)}K` : `${(bytes / 1024 / 1024).toFixed(1)}M`;
}

/** Returns a patch that inserts the text after line `insert_line`; the file must have that line. */
function insertion(tool: string, given: Arguments): string {
  const { insert_line: line, insert_text: inserted = given["new_str"] } = given;
  if (line === undefined) throw wrongArgument(tool, "insert_line", "is required with insert");
  if (typeof inserted !== "string") throw wrongArgument(tool, "insert_text", "is required with insert");
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

function windowOf(tool: string, given: Arguments): Arguments {
  const range = given["view_range"];
  if (!Array.isArray(range)) return {};
  const [first, last] = range as [number, number];
  if (first < 1 || (last !== -1 && last < first))
    throw wrongArgument(
      tool,
      "view_range",
      "must be two lines counted from 1, the second not before the first",
    );
  return { start_line: first, max_lines: last === -1 ? null : last - first + 1 };
}

function need(tool: string, given: Arguments, argument: string): string {
  const value = given[argument];
  if (typeof value === "string") return value;
  const remedy = argument === "new_str" ? '; send "" to delete the text' : "";
  throw wrongArgument(tool, argument, `is required with ${String(given["command"])}${remedy}`);
}

/**
 * Converts a path below `/memories` to one of the workspace. With `inside`, the directory `/memories` itself
 * is refused. @throws FilewrightError INVALID_ARGUMENT
 */
function memoryPath(path: string, argument: string, inside: boolean): string {
  const parts = path.split("/");
  const [first, top, ...rest] = parts;
  if (first !== "" || top !== MEMORIES) throw wrongArgument(MEMORY, argument, "must begin with /memories");
  if (rest.includes("..")) throw wrongArgument(MEMORY, argument, "must not hold '..'");
  const below = rest.filter((part) => part !== "" && part !== ".");
  if (inside && below.length === 0) throw wrongArgument(MEMORY, argument, "must lie below /memories");
  return [MEMORIES, ...below].join("/");
}

function refusal(path: string): (refused: Refused) => string | undefined {
  const shown = escapeControls(path);
  return ({ code, told, error }) => {
    switch (code) {
      case "NOT_FOUND":
        return `The path ${shown} does not exist. Please provide a valid path.`;
      case "MATCH_NOT_FOUND":
        return headed(`No replacement was performed, old_str did not appear verbatim in ${shown}.`, told);
      case "MATCH_NOT_UNIQUE": {
        const lines = error.details?.["lines"];
        const at = Array.isArray(lines) ? lines.slice(0, 20).join(", ") : "";
        return `No replacement was performed. old_str occurs ${foundTimes(error)} times in ${shown}, in lines ${at}; ensure it is unique.`;
      }
      default:
        return undefined;
    }
  };
}
