/**
 * Prints the results of tools, page by page and without notes: directories, paths, matches, files. For a person with
 * colours and columns, in a pipe as plain lines.
 */
import type {
  FindFilesData,
  GlobData,
  GrepData,
  ListDirectoryData,
  ListedEntry,
  ReadFileData,
  ReadManyFilesData,
} from "../../tools/index.ts";
import { type GrepRow, grepRowsOf } from "../../tools/grep/text.ts";
import { CANONICAL_NAMES } from "../../tools/lib/tool.ts";
import { renderListing } from "../../tools/render/listing.ts";
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

/** Returns the lines of a page of results, without notes; the last may go on with the next page. */
type RowPrinter = (data: unknown) => string;

/**
 * Returns what prints the results of a call with these arguments, page by page: for a person, or as plain lines. `long`:
 * also in a pipe with the facts that a person sees.
 */
export type RowsOf = (args: unknown, form: OutputForm, long: boolean) => RowPrinter;

/** Prints the matches of a search. */
export const rowsOfMatches: RowsOf = (args, form) => grepPrinter(args as SearchPattern, form);

/** Prints a directory. */
export const rowsOfEntries: RowsOf = (args, { shell, person }, long) => {
  const given = args as Record<string, unknown>;
  return (person || long) && given["format"] === undefined
    ? (data) => ended(directoryListingLines(shell, data as ListDirectoryData))
    : plainListingPrinter(given);
};

/** Prints the paths that match a pattern. */
export const rowsOfPaths: RowsOf =
  (_args, { shell }) =>
  (data) =>
    ended(pathLines(shell, (data as GlobData).matches));

/** Prints the paths that were found by some letters. */
export const rowsOfFoundFiles: RowsOf =
  (_args, { shell }) =>
  (data) => {
    const paths = (data as FindFilesData).files.map(({ path }) => path);
    return ended(pathLines(shell, paths));
  };

/** Prints a file. */
export const rowsOfFile: RowsOf = (args, form) => pagePrinter(args as PageArgs, form);

/** Prints several files. */
export const rowsOfFiles: RowsOf = () => filesPrinter();

const ended = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

/** Prints a listing as lines for programs, in the form that was asked for. */
function plainListingPrinter({
  path = ".",
  depth = 1,
  format = "text",
}: Record<string, unknown>): RowPrinter {
  const form = { path, depth, format } as Parameters<typeof renderListing>[1];
  return (data) => {
    const listed = data as ListDirectoryData;
    if (listed.total === 0 && format !== "json") return "";
    return `${renderListing({ ...listed, truncated: false }, form, CANONICAL_NAMES)}\n`;
  };
}

/** Prints files one after the other, each behind a line with its path. A file may come in several pieces. */
function filesPrinter(): RowPrinter {
  let last: string | undefined;
  return (data) =>
    (data as ReadManyFilesData).files
      .map(({ path, content, truncated }) => {
        const head =
          path === last ? "" : `${last === undefined ? "" : "\n"}--- ${escapeControls(path)} ---\n\n`;
        last = path;
        return `${head}${content}${truncated || content === "" || content.endsWith("\n") ? "" : "\n"}`;
      })
      .join("");
}

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

/** Prints matches. With `heading` the name of a file is printed once, above its lines. */
function grepPrinter(wanted: SearchPattern, form: OutputForm): RowPrinter {
  const { shell, person } = form;
  const lines = new MatchLines(form);
  const named = (path: string): string => withStyle(shell, "path", escapeControls(path));
  return (page) => {
    const { files, counts, matches = [] } = page as GrepData;
    if (files !== undefined) return ended(files.map(named));
    if (counts !== undefined) return ended(counts.map(({ path, count }) => `${named(path)}:${count}`));
    return ended(lines.of(matches, person ? highlightRangesOf(matches, wanted) : []));
  };
}

/** The lines of matches, over several pages. */
class MatchLines {
  readonly #form: OutputForm;
  readonly #plain: (text: string) => string;
  #file: string | undefined;
  #last = 0;

  constructor(form: OutputForm) {
    this.#form = form;
    this.#plain = form.person ? escapeForTerminal : (text) => text;
  }

  of(matches: GrepMatches, ranges: readonly (readonly HighlightRange[])[]): readonly string[] {
    const isApart = this.#form.person && hasContext(matches);
    return grepRowsOf(matches).flatMap((rows, index) => {
      let offset = 0;
      return rows.flatMap((row) => {
        const lines = [...this.#before(row, isApart), this.#line(row, offset, ranges[index] ?? [])];
        if (row.hit) offset += row.text.length + 1;
        return lines;
      });
    });
  }

  /** Returns what stands above a line: the name of its file, or a mark where lines are left out. */
  #before({ path, line }: GrepRow, isApart: boolean): readonly string[] {
    const { shell, heading } = this.#form;
    const [file, last] = [this.#file, this.#last];
    [this.#file, this.#last] = [path, line];
    if (path === file) return isApart && line !== last + 1 ? [withStyle(shell, "faint", "--")] : [];
    if (!heading) return [];
    const name = withStyle(shell, "path", escapeControls(path));
    return file === undefined ? [name] : ["", name];
  }

  #line({ path, line, text, hit }: GrepRow, offset: number, ranges: readonly HighlightRange[]): string {
    const { shell, heading } = this.#form;
    const mark = hit ? ":" : "-";
    const shown = hit ? highlightLine(this.#plain, shell, { text, offset }, ranges) : this.#plain(text);
    const name = heading ? "" : `${withStyle(shell, "path", escapeControls(path))}${mark}`;
    return `${name}${withStyle(shell, "number", String(line))}${mark}${shown}`;
  }
}

type GrepMatches = NonNullable<GrepData["matches"]>;

/** Returns true when the matches have context lines, so that gaps between them are marked. */
function hasContext(matches: GrepMatches): boolean {
  return matches.some(({ before, after }) => before !== undefined || after !== undefined);
}

/**
 * Returns a line with its matches highlighted. `offset` is where the line begins in the joined lines of its
 * result.
 */
function highlightLine(
  plain: (text: string) => string,
  shell: Shell,
  { text, offset }: { readonly text: string; readonly offset: number },
  ranges: readonly HighlightRange[],
): string {
  let shown = "";
  let at = 0;
  for (const [from, to] of ranges) {
    const [begin, end] = [Math.max(from - offset, at), Math.min(to - offset, text.length)];
    if (end <= begin) continue;
    shown += plain(text.slice(at, begin)) + withStyle(shell, "match", plain(text.slice(begin, end)));
    at = end;
  }
  return shown + plain(text.slice(at));
}

/** The arguments with which a page was read. */
interface PageArgs {
  readonly line_numbers?: string;
}

/** The forms of line numbers: what stands before a line. */
const NUMBER_FORMS: Readonly<Record<string, (line: number) => string>> = {
  cat: (line) => `${String(line).padStart(6)}\t`,
  arrow: (line) => `${String(line).padStart(6)}→`,
  plain: (line) => `${line} `,
  none: () => "",
};

/** Prints a file page by page. A page that begins inside a line continues it. */
function pagePrinter({ line_numbers: style = "cat" }: PageArgs, { shell, person }: OutputForm): RowPrinter {
  let number = 0;
  let isWithinLine = false;
  return (data) => {
    const page = data as ReadFileData;
    const numbered = page.rendered === true ? NUMBER_FORMS["none"] : NUMBER_FORMS[style];
    if (!isWithinLine) number = page.start_line;
    const lines = page.content.split(/\r?\n/u);
    const isOpen = page.next_start_byte !== undefined;
    if (page.content.endsWith("\n")) lines.pop();
    const told = lines.map((line, at) => {
      const isGoingOn = at === 0 && isWithinLine;
      const before = isGoingOn ? "" : (numbered?.(number + at) ?? "");
      return `${withStyle(shell, "number", before)}${person ? escapeForTerminal(line) : line}`;
    });
    if (lines.length > 0) number += lines.length - (isOpen ? 1 : 0);
    isWithinLine = isOpen;
    if (page.lines_read === 0) return "";
    return `${told.join("\n")}${isOpen ? "" : "\n"}`;
  };
}
