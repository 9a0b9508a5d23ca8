/**
 * The text about a call for people: a line about its effect, and the diff of a change. User interfaces show
 * it. What was read or found is only in the text for models.
 */
import type { ToolArgs, ToolData, ToolName } from "../index.ts";
import type { ReaderNames } from "../lib/tool.ts";
import type { HistoryData, RunCommandArgs, RunCommandData, UndoData } from "../generated/internal.ts";
import { escapeControls } from "../../engine/escape.ts";
import { plural } from "../lib/text.ts";

/**
 * The names for texts that people read. People do not call tools, so all advice that names tools or arguments
 * is left out.
 */
export const NAMES_FOR_PEOPLE: ReaderNames = Object.freeze({
  tool: () => undefined,
  argument: () => undefined,
  value: (_name: string, value: number) => value,
});

/** The tools that only some workspaces have. */
interface OptionalTools {
  run_command: readonly [RunCommandArgs, RunCommandData];
  undo: readonly [object, UndoData];
  history: readonly [object, HistoryData];
}

/** The functions that word the result of a tool for people. Of a tool without one they see the title. */
type DisplayFunctions = {
  readonly [Name in ToolName]?: (data: ToolData[Name], args: ToolArgs[Name]) => string;
} & {
  readonly [Name in keyof OptionalTools]: (
    data: OptionalTools[Name][1],
    args: OptionalTools[Name][0],
  ) => string;
};

const DISPLAY_BY_TOOL: DisplayFunctions = {
  read_file: ({ path, start_line, end_line, lines_read, total_lines, image, mime, truncated }) => {
    const shown = escapeControls(path);
    if (image !== undefined) {
      const { width, height } = image;
      return `Read ${shown}: ${mime}${width === undefined ? "" : `, ${width} × ${height} pixels`}`;
    }
    if (total_lines === lines_read && !truncated) return `Read ${shown}: ${plural(lines_read, "line")}`;
    const of = total_lines === null ? "" : ` of ${total_lines}`;
    return `Read ${shown}: lines ${start_line} to ${end_line}${of}`;
  },
  read_many_files: ({ files, skipped, truncated }) =>
    `Read ${plural(files.length, "file")}${skipped.length === 0 ? "" : `, left out ${skipped.length}`}${truncatedClause(truncated)}`,
  write_file: ({ path, operation, bytes_written, diff = "" }) => {
    const done = { create: "Created", update: "Overwrote", append: "Appended to" }[operation];
    return withDiff(`${done} ${escapeControls(path)}: ${plural(bytes_written, "byte")}`, diff);
  },
  edit_file: ({ path, applied, replacements, revised, diff }) =>
    withDiff(
      revised === true
        ? `Edited ${escapeControls(path)} as a reviewer decided`
        : `${applied ? "Edited" : "Would edit"} ${escapeControls(path)}: ${plural(replacements, "replacement")}`,
      diff,
    ),
  apply_patch: ({ applied, files, diff }) => {
    const added = files.reduce((sum, file) => sum + file.added, 0);
    const removed = files.reduce((sum, file) => sum + file.removed, 0);
    const counts = `${plural(files.length, "file")}, +${added} −${removed}`;
    return withDiff(`${applied ? "Patched" : "Would patch"} ${counts}`, diff);
  },
  diff: ({ identical, added, removed, diff }, { a, b, format }) => {
    const shown = `Compared ${escapeControls(a)} with ${b === undefined ? "other content" : escapeControls(b)}`;
    if (identical) return `${shown}: no difference`;
    return withDiff(`${shown}: +${added} −${removed}`, format === "html" ? "" : diff);
  },
  list_directory: ({ path, total, truncated }) =>
    `Listed ${escapeControls(path)}: ${plural(total, "entry", "entries")}${truncatedClause(truncated)}`,
  glob: ({ total, truncated }, { pattern }) =>
    `Found ${plural(total, "path")} for ${quoteForPeople([pattern].flat().join(" "))}${truncatedClause(truncated)}`,
  find_files: ({ total, truncated }, { query }) =>
    `Found ${plural(total, "file")} for ${quoteForPeople(query)}${truncatedClause(truncated)}`,
  grep: ({ total_matches, files_with_matches, complete, truncated }, { pattern }) => {
    const counts = `${plural(total_matches, "match", "matches")} in ${plural(files_with_matches, "file")}`;
    return `Found ${complete ? "" : "at least "}${counts} for ${quoteForPeople(pattern)}${truncatedClause(truncated)}`;
  },
  stat: ({ path, type, size }) =>
    `Looked at ${escapeControls(path)}: ${ENTRY_TYPE_NAMES[type]}${type === "file" ? `, ${plural(size, "byte")}` : ""}`,
  copy: ({ source, destination, files }) =>
    `Copied ${escapeControls(source)} to ${escapeControls(destination)}: ${plural(files, "file")}`,
  move: ({ source, destination }) => `Moved ${escapeControls(source)} to ${escapeControls(destination)}`,
  delete: ({ path, files, directories }) => {
    const counts = [
      ...(directories === 0 ? [] : [plural(directories, "directory", "directories")]),
      ...(files === 0 ? [] : [plural(files, "file")]),
    ];
    return counts.length === 0
      ? `Nothing to delete at ${escapeControls(path)}`
      : `Deleted ${escapeControls(path)}: ${counts.join(", ")}`;
  },
  mkdir: ({ path, created }) =>
    created
      ? `Made directory ${escapeControls(path)}`
      : `Directory ${escapeControls(path)} was there already`,
  batch: ({ results, applied }, { operations }) => {
    const lines = results.map(({ tool, ok, data }, index) =>
      ok && data !== undefined
        ? headlineOf(displayForPeople({ name: tool, title: tool }, data, operations[index]?.args ?? {}))
        : `${tool}: ${ok ? "done" : "failed"}`,
    );
    return [`${applied ? "Made" : "Tried"} ${plural(results.length, "call")}`, ...lines].join("\n");
  },
  access_info: ({ cwd, read_only }) =>
    `Looked up access at ${escapeControls(cwd)}${read_only ? ": nothing may be changed" : ""}`,
  run_command: ({ exit_code, signal, timed_out }, { command }) => {
    const ended = timed_out
      ? "stopped, its time was up"
      : exit_code === null
        ? `ended by signal ${signal}`
        : `exit code ${exit_code}`;
    return `Ran ${quoteForPeople([command].flat().join(" "))}: ${ended}`;
  },
  undo: ({ tool, paths, diff = "" }) =>
    withDiff(`Took back ${escapeControls(tool)} of ${paths.map(escapeControls).join(", ")}`, diff),
  history: ({ changes, truncated }) =>
    `Listed ${plural(changes.length, "change")}${truncatedClause(truncated)}`,
};

const ENTRY_TYPE_NAMES = {
  file: "a file",
  dir: "a directory",
  symlink: "a link",
  other: "a special file",
} as const;

/** The maximum length in UTF-16 units of a pattern or command in these texts. A longer one is truncated. */
const MAX_QUOTED_CHARS = 80;

function quoteForPeople(text: string): string {
  const letters = [...text];
  const shown = letters.length > MAX_QUOTED_CHARS ? `${letters.slice(0, MAX_QUOTED_CHARS).join("")}…` : text;
  return `'${escapeControls(shown)}'`;
}

function truncatedClause(truncated: boolean): string {
  return truncated ? " (not all shown)" : "";
}

function withDiff(line: string, diff: string): string {
  return diff === "" ? line : `${line}\n${diff.replace(/\n$/u, "")}`;
}

/** Returns the text for people about a successful call. */
export function displayForPeople(
  { name, title }: { readonly name: string; readonly title: string },
  data: unknown,
  args: object,
): string {
  if (!Object.hasOwn(DISPLAY_BY_TOOL, name)) return title;
  // The lookup by name loses the types, but a tool's function receives only the data and arguments of that
  // tool.
  const display = DISPLAY_BY_TOOL[name as keyof DisplayFunctions] as (data: unknown, args: unknown) => string;
  return display(data, args);
}

/** Returns the first line of a text for people, that is, without the diff. */
export function headlineOf(display: string): string {
  const end = display.indexOf("\n");
  return end < 0 ? display : display.slice(0, end);
}
