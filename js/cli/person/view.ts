/** Formats the result of a tool for a person: directories, paths, matches grouped by file, pages of a file. */
import type { FindFilesData } from "../../tools/find_files.ts";
import type { GlobData } from "../../tools/glob.ts";
import type { GrepData } from "../../tools/grep/types.ts";
import { resultLines, grepRowsOf } from "../../tools/grep/text.ts";
import type { ListDirectoryData, ListedEntry } from "../../tools/render/listing.ts";
import type { ToolResult } from "../../workspace/index.ts";
import type { ToolCall } from "../command.ts";
import {
  type OutputForm,
  type Shell,
  withStyle,
  formatBytes,
  formatLocalTime,
  escapeForTerminal,
} from "./style.ts";
import { type SearchPattern, type HighlightRange, highlightRangesOf } from "./highlight.ts";
import { escapeControls } from "../../engine/escape.ts";
import { relativeTo } from "../../backends/paths.ts";
import { HIDDEN_TARGET_TEXT } from "../../tools/render/link-target.ts";

/** Returns the result formatted for a person; undefined when the text for models is used. */
export function personalText(
  { tool, args }: ToolCall,
  result: ToolResult,
  form: OutputForm,
): string | undefined {
  if (!result.ok || result.data === undefined) return undefined;
  const given = args as Record<string, unknown>;
  const { shell } = form;
  const { text } = result;
  const withNotes = (rows: readonly string[], count: number): string =>
    [
      ...rows,
      ...text
        .split("\n")
        .slice(count)
        .map((note) => withStyle(shell, "faint", note)),
    ].join("\n");
  switch (tool) {
    case "grep": {
      const data = result.data as GrepData;
      const rows = grepResultLines(data, given as unknown as SearchPattern, form);
      return withNotes(rows, rowsForModels(data));
    }
    case "list_directory": {
      if (given["format"] !== undefined) return undefined;
      const data = result.data as ListDirectoryData;
      return withNotes(directoryListingLines(shell, data), data.entries.length);
    }
    case "glob": {
      const { matches } = result.data as GlobData;
      return withNotes(pathLines(shell, matches), matches.length);
    }
    case "find_files": {
      const { files } = result.data as FindFilesData;
      const paths = files.map(({ path }) => path);
      return withNotes(pathLines(shell, paths), files.length);
    }
    case "read_file":
      return pageForPerson(shell, result, given as unknown as PageArgs);
    default:
      return undefined;
  }
}

/** Returns the number of lines that the results take in the text for models. */
const rowsForModels = (data: GrepData): number => resultLines(data).flat().length;

const TYPE_LABELS = { file: "file", dir: "dir", symlink: "link", other: "other" } as const;
const TYPE_WIDTH = 5;
const SIZE_WIDTH = 5;
const TIME_WIDTH = "2000-01-01 00:00".length;

/**
 * Returns one line for each entry: type, size, time and name. Entries below the first level have a path
 * instead of a name.
 */
function directoryListingLines(shell: Shell, data: ListDirectoryData): readonly string[] {
  return data.entries.map((entry) => {
    const size = entry.type === "file" && entry.size !== undefined ? formatBytes(entry.size) : "-";
    const time = entry.modified === undefined ? "-" : formatLocalTime(entry.modified);
    return [
      withStyle(shell, "faint", TYPE_LABELS[entry.type].padEnd(TYPE_WIDTH)),
      withStyle(shell, "good", size.padStart(SIZE_WIDTH)),
      withStyle(shell, "faint", time.padEnd(TIME_WIDTH)),
      shownNameOf(shell, entry, data.path),
    ].join("  ");
  });
}

function shownNameOf(shell: Shell, { path, type, target }: ListedEntry, directory: string): string {
  const below = directory === "." ? path : (relativeTo(`/${path}`, `/${directory}`) ?? path);
  const name = escapeControls(below);
  switch (type) {
    case "dir":
      return withStyle(shell, "directory", `${name}/`);
    case "symlink":
      return `${withStyle(shell, "link", name)} -> ${escapeControls(target ?? HIDDEN_TARGET_TEXT)}`;
    case "other":
      return withStyle(shell, "other", name);
    default:
      return name;
  }
}

/** Returns the paths, with their directories in a dim colour. */
function pathLines(shell: Shell, paths: readonly string[]): readonly string[] {
  return paths.map((path) => {
    const shown = escapeControls(path);
    const at = shown.lastIndexOf("/") + 1;
    return `${withStyle(shell, "path", shown.slice(0, at))}${shown.slice(at)}`;
  });
}

/** Returns the lines of the results. With `heading` the name of a file is printed once, above its lines. */
function grepResultLines(
  data: GrepData,
  wanted: SearchPattern,
  { shell, heading }: OutputForm,
): readonly string[] {
  if (data.files !== undefined)
    return data.files.map((path) => withStyle(shell, "path", escapeControls(path)));
  if (data.counts !== undefined)
    return data.counts.map(({ path, count }) => `${withStyle(shell, "path", escapeControls(path))}:${count}`);
  const matches = data.matches ?? [];
  const ranges = highlightRangesOf(matches, wanted);
  const lines: string[] = [];
  let file: string | undefined;
  let last = 0;
  for (const [index, rows] of grepRowsOf(matches).entries()) {
    let offset = 0;
    for (const { path, line, text, hit } of rows) {
      const name = withStyle(shell, "path", escapeControls(path));
      if (path !== file) {
        if (heading) lines.push(...(file === undefined ? [name] : ["", name]));
        file = path;
      } else if (hasContext(data) && line !== last + 1) lines.push(withStyle(shell, "faint", "--"));
      last = line;
      const mark = hit ? ":" : "-";
      const shown = hit ? highlightLine(shell, text, offset, ranges[index] ?? []) : escapeForTerminal(text);
      if (hit) offset += text.length + 1;
      lines.push(
        `${heading ? "" : `${name}${mark}`}${withStyle(shell, "number", String(line))}${mark}${shown}`,
      );
    }
  }
  return lines;
}

/** Returns true when the matches have context lines, so that gaps between them are marked. */
function hasContext({ matches = [] }: GrepData): boolean {
  return matches.some(({ before, after }) => before !== undefined || after !== undefined);
}

/**
 * Returns a line with its matches highlighted. `offset` is where the line begins in the joined lines of its
 * result.
 */
function highlightLine(
  shell: Shell,
  text: string,
  offset: number,
  ranges: readonly HighlightRange[],
): string {
  let shown = "";
  let at = 0;
  for (const [from, to] of ranges) {
    const [begin, end] = [Math.max(from - offset, at), Math.min(to - offset, text.length)];
    if (end <= begin) continue;
    shown +=
      escapeForTerminal(text.slice(at, begin)) +
      withStyle(shell, "match", escapeForTerminal(text.slice(begin, end)));
    at = end;
  }
  return shown + escapeForTerminal(text.slice(at));
}

/** The arguments with which the page was read. */
interface PageArgs {
  readonly line_numbers?: string;
}

/** Returns a page with coloured line numbers. */
function pageForPerson(shell: Shell, result: ToolResult, args: PageArgs): string {
  const lines = result.text.split("\n");
  const { truncated, long_lines: long = 0 } = result.data as {
    readonly truncated?: boolean;
    readonly long_lines?: number;
  };
  const hasNote = truncated === true || long > 0;
  return lines
    .map((line, at) => {
      if (hasNote && at === lines.length - 1) return withStyle(shell, "faint", line);
      const [, number, rest] = /^( *\d+[\t→])(.*)$/su.exec(line) ?? [];
      return number === undefined || args.line_numbers === "none"
        ? escapeForTerminal(line)
        : `${withStyle(shell, "number", number)}${escapeForTerminal(rest ?? "")}`;
    })
    .join("\n");
}
