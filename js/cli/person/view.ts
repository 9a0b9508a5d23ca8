/** Formats the result of a tool for a person: directories, paths, matches grouped by file, pages of a file. */
import type { FindFilesData } from "../../tools/find_files.ts";
import type { GlobData } from "../../tools/glob.ts";
import type { GrepData } from "../../tools/grep/types.ts";
import { linesOf, rowsOf } from "../../tools/grep/text.ts";
import type { ListDirectoryData, ListedEntry } from "../../tools/render/listing.ts";
import type { ParsedCommandLine } from "../../schema/command-line.node.ts";
import type { ToolResult } from "../../workspace/index.ts";
import type { ToolCall } from "../command.ts";
import { commandHint } from "../hints.ts";
import { type Form, styled, humanBytes, localTime, harmless } from "./style.ts";
import { type Pattern, type Range, rangesOf } from "./highlight.ts";
import { escapeControls } from "../../engine/escape.ts";
import { relativeTo } from "../../backends/paths.ts";
import { NOT_SHOWN } from "../../tools/render/link-target.ts";

/** Returns the result formatted for a person; undefined when the text for models is used. */
export function personalText(
  { tool, args }: ToolCall,
  result: ToolResult,
  form: Form,
  { root }: ParsedCommandLine["values"],
): string | undefined {
  if (!result.ok || result.data === undefined) return undefined;
  const given = args as Record<string, unknown>;
  switch (tool) {
    case "grep": {
      const data = result.data as GrepData;
      const rows = grepLines(data, given as unknown as Pattern, form.heading);
      return withNotes(tool, rows, result.text, plainRows(data));
    }
    case "list_directory": {
      if (given["format"] !== undefined) return undefined;
      const data = result.data as ListDirectoryData;
      return withNotes(tool, listLines(data), result.text, data.entries.length);
    }
    case "glob": {
      const { matches } = result.data as GlobData;
      return withNotes(tool, pathLines(matches), result.text, matches.length);
    }
    case "find_files": {
      const { files } = result.data as FindFilesData;
      return withNotes(tool, pathLines(files.map(({ path }) => path)), result.text, files.length);
    }
    case "read_file":
      return pageText(result, given as unknown as PageArgs, root);
    default:
      return undefined;
  }
}

/** Returns the number of lines that the results take in the text for models. */
const plainRows = (data: GrepData): number => linesOf(data).flat().length;

/** Returns the rows, followed by the notes that the text for models has after its first `count` lines. */
function withNotes(tool: string, rows: readonly string[], text: string, count: number): string {
  const notes = text.split("\n").slice(count);
  return [...rows, ...notes.map((note) => styled("faint", commandHint(note, tool)))].join("\n");
}

const TYPE_LABELS = { file: "file", dir: "dir", symlink: "link", other: "other" } as const;
const TYPE_WIDTH = 5;
const SIZE_WIDTH = 5;
const TIME_WIDTH = "2000-01-01 00:00".length;

/**
 * Returns one line for each entry: type, size, time and name. Entries below the first level have a path
 * instead of a name.
 */
function listLines(data: ListDirectoryData): readonly string[] {
  return data.entries.map((entry) => {
    const size = entry.type === "file" && entry.size !== undefined ? humanBytes(entry.size) : "-";
    const time = entry.modified === undefined ? "-" : localTime(entry.modified);
    return [
      styled("faint", TYPE_LABELS[entry.type].padEnd(TYPE_WIDTH)),
      styled("good", size.padStart(SIZE_WIDTH)),
      styled("faint", time.padEnd(TIME_WIDTH)),
      nameOf(entry, data.path),
    ].join("  ");
  });
}

function nameOf({ path, type, target }: ListedEntry, directory: string): string {
  const below = directory === "." ? path : (relativeTo(`/${path}`, `/${directory}`) ?? path);
  const name = escapeControls(below);
  switch (type) {
    case "dir":
      return styled("directory", `${name}/`);
    case "symlink":
      return `${styled("link", name)} -> ${escapeControls(target ?? NOT_SHOWN)}`;
    case "other":
      return styled("other", name);
    default:
      return name;
  }
}

/** Returns the paths, with their directories in a dim colour. */
function pathLines(paths: readonly string[]): readonly string[] {
  return paths.map((path) => {
    const shown = escapeControls(path);
    const at = shown.lastIndexOf("/") + 1;
    return `${styled("path", shown.slice(0, at))}${shown.slice(at)}`;
  });
}

/** Returns the lines of the results. With `heading` the name of a file is printed once, above its lines. */
function grepLines(data: GrepData, wanted: Pattern, heading: boolean): readonly string[] {
  if (data.files !== undefined) return data.files.map((path) => styled("path", escapeControls(path)));
  if (data.counts !== undefined)
    return data.counts.map(({ path, count }) => `${styled("path", escapeControls(path))}:${count}`);
  const matches = data.matches ?? [];
  const ranges = rangesOf(matches, wanted);
  const lines: string[] = [];
  let file: string | undefined;
  let last = 0;
  for (const [index, rows] of rowsOf(matches).entries()) {
    let offset = 0;
    for (const { path, line, text, hit } of rows) {
      const name = styled("path", escapeControls(path));
      if (path !== file) {
        if (heading) lines.push(...(file === undefined ? [name] : ["", name]));
        file = path;
      } else if (hasContext(data) && line !== last + 1) lines.push(styled("faint", "--"));
      last = line;
      const mark = hit ? ":" : "-";
      const shown = hit ? highlighted(text, offset, ranges[index] ?? []) : harmless(text);
      if (hit) offset += text.length + 1;
      lines.push(`${heading ? "" : `${name}${mark}`}${styled("number", String(line))}${mark}${shown}`);
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
function highlighted(text: string, offset: number, ranges: readonly Range[]): string {
  let shown = "";
  let at = 0;
  for (const [from, to] of ranges) {
    const [begin, end] = [Math.max(from - offset, at), Math.min(to - offset, text.length)];
    if (end <= begin) continue;
    shown += harmless(text.slice(at, begin)) + styled("match", harmless(text.slice(begin, end)));
    at = end;
  }
  return shown + harmless(text.slice(at));
}

/** The arguments with which the page was read. */
interface PageArgs {
  readonly path: string;
  readonly max_lines?: number;
  readonly line_numbers?: string;
  readonly encoding?: string;
  readonly force_text?: boolean;
}

/** Returns a page with coloured line numbers. If more follows, its last line is a command line that prints it. */
function pageText(result: ToolResult, args: PageArgs, root: unknown): string {
  const lines = result.text.split("\n");
  const { truncated, long_lines: long = 0 } = result.data as {
    readonly truncated?: boolean;
    readonly long_lines?: number;
  };
  const hasNote = truncated === true || long > 0;
  return lines
    .map((line, at) => {
      if (hasNote && at === lines.length - 1) return styled("faint", onward(line, args, root));
      const [, number, rest] = /^( *\d+[\t→])(.*)$/su.exec(line) ?? [];
      return number === undefined || args.line_numbers === "none"
        ? harmless(line)
        : `${styled("number", number)}${harmless(rest ?? "")}`;
    })
    .join("\n");
}

/** Matches the note of the tool that names the argument for the next page. */
const ONWARD =
  /(?:continue(?: inside it)? with|see the rest with(?: max_line_chars=0 or)?) (start_line|start_byte)=(\d+)/u;

/**
 * Returns a note of the tool in which the argument is replaced by a command line that prints the next page
 * with the same options.
 */
function onward(note: string, args: PageArgs, root: unknown): string {
  const option = (name: string, given: unknown): readonly string[] =>
    given === undefined ? [] : [`--${name}`, quoted(String(given))];
  const next = note.replace(ONWARD, (_, from: string, at: string) =>
    [
      ...["go on: filewright read", quoted(args.path)],
      ...option(from === "start_line" ? "start" : "start-byte", at),
      ...option("lines", args.max_lines),
      ...option("numbers", args.line_numbers),
      ...option("encoding", args.encoding),
      ...(args.force_text === true ? ["--force-text"] : []),
      ...option("root", root),
    ].join(" "),
  );
  return next === note ? commandHint(note, "read_file") : next;
}

/** Returns a word quoted for a shell, if it needs quotes. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
