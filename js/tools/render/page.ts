/**
 * Renders a page of a file as the text for a model.
 *
 * The forms are fixed: the plain number and a tab, six columns and a tab or an arrow, or the raw text; `... [truncated]`
 * after a truncated line; and, when more follows, a last line with the argument that continues.
 */
import { DEFAULT_LINE_CHARS, type LineNumbers, type Page } from "../../engine/read.ts";
import { assignmentPhrase, type ReaderNames, CANONICAL_NAMES } from "../lib/tool.ts";
import { plural } from "../../engine/escape.ts";

/** The properties of a page that its text needs. */
export type ShownPage = Pick<
  Page,
  | "content"
  | "startLine"
  | "endLine"
  | "linesRead"
  | "totalLines"
  | "atLeastLines"
  | "truncated"
  | "nextStartLine"
  | "nextStartByte"
  | "cutLines"
  | "long"
  | "anchors"
>;

/** Options of {@link renderPage}. */
export interface RenderPageOptions {
  /** The form in which lines are numbered. Default `cat`. */
  readonly lineNumbers?: LineNumbers | undefined;
  /** The maximum number of code points of a line; 0 for no limit. A longer line is truncated. Default 2000. */
  readonly maxLineChars?: number | undefined;
  /** True when line numbers include the page's anchors (`12#k3x9q1`). Default false. */
  readonly anchors?: boolean | undefined;
  /** The path as the caller typed it. The text contains it when the file is empty. */
  readonly path?: string | undefined;
  /** True when the last line says how to continue. Default true. */
  readonly closing?: boolean | undefined;
  /** The reader's names of tools and arguments. Default: the canonical names. */
  readonly names?: ReaderNames | undefined;
}

const TRUNCATION_MARK = "... [truncated]";

/**
 * Returns the text of a page.
 *
 * @example
 * renderPage(readPage(new TextEncoder().encode("a\nb\n"))) // "     1\ta\n     2\tb"
 */
export function renderPage(page: ShownPage, options: RenderPageOptions = {}): string {
  if (page.linesRead === 0) return renderEmptyPage(page, options);
  const { lineNumbers = "cat", maxLineChars: limit = DEFAULT_LINE_CHARS, anchors = false } = options;
  const number = lineNumbers === "none" && !(anchors && page.anchors !== null) ? null : NUMBERS[lineNumbers];
  const { lines, cutOff } = renderLines(page, { number, anchors, limit });
  // Raw text keeps the line ending of its last line; numbered lines are joined without one.
  const text = number === null && page.content.endsWith("\n") ? `${lines}\n` : lines;
  const isWhole = !page.truncated && cutOff.count === 0 && page.long.length === 0;
  return isWhole || options.closing === false ? text : withClosing(page, text, cutOff, options);
}

/** The truncated lines of a page: how many, and the first of them. */
interface CutOff {
  readonly count: number;
  readonly first: number;
}

/** Returns the text of a page with the lines below it that say how to see the rest. */
function withClosing(page: ShownPage, text: string, cutOff: CutOff, options: RenderPageOptions): string {
  const inside = renderWithinLine(page, options.names) ?? renderTruncatedLine(page, cutOff, options);
  const closing = [inside, renderClosingLine(page, options.names)].filter((line) => line !== null).join("\n");
  if (closing === "") return text;
  return text === "" || text.endsWith("\n") ? text + closing : `${text}\n${closing}`;
}

/** How the lines of a page are rendered. `number` is null for raw text. */
interface LineStyle {
  readonly number: { readonly width: number; readonly after: string } | null;
  readonly anchors: boolean;
  readonly limit: number;
}

/** Renders the lines in one pass over the content, to one growing string: pages are read thousands of times a second. */
function renderLines(page: ShownPage, style: LineStyle): { readonly lines: string; readonly cutOff: CutOff } {
  const { content, cutLines, startLine } = page;
  let lines = "";
  const cutOff = { count: 0, first: 0 };
  // `cutLines` is sorted, so it is walked together with the lines.
  for (let from = 0, index = 0, cuts = 0; from < content.length; index++) {
    const lf = content.indexOf("\n", from);
    const line = content.slice(from, endOfLine(content, from, lf));
    const shown = cutCodePoints(line, style.limit);
    if (index > 0) lines += "\n";
    lines += linePrefix(page, style, index) + shown;
    const isCut = cutLines[cuts] === startLine + index;
    if (isCut) cuts++;
    if (isCut || shown.length < line.length) {
      lines += TRUNCATION_MARK;
      if (cutOff.count++ === 0) cutOff.first = startLine + index;
    }
    from = lf < 0 ? content.length : lf + 1;
  }
  return { lines, cutOff };
}

/** Returns what stands before a line of a page. */
function linePrefix(page: ShownPage, { number, anchors }: LineStyle, index: number): string {
  if (number === null) return "";
  const digits = `${page.startLine + index}`;
  const start = (PADDINGS[number.width - digits.length] ?? "") + digits;
  if (!anchors || page.anchors === null) return start + number.after;
  const width = page.anchors.length / page.linesRead;
  return `${start}#${page.anchors.slice(index * width, (index + 1) * width)}${number.after}`;
}

/** How a line is numbered, by the form: right-aligned in so many columns, and followed by this. */
const NUMBERS: Readonly<Record<LineNumbers, NonNullable<LineStyle["number"]>>> = {
  cat: { width: 6, after: "\t" },
  arrow: { width: 6, after: "→" },
  plain: { width: 0, after: "\t" },
  none: { width: 0, after: "\t" },
};

/** So many spaces. */
const PADDINGS: readonly string[] = ["", " ", "  ", "   ", "    ", "     "];

/** Returns the end of a line without its line ending; `lf` is the place of that, negative for none. */
function endOfLine(content: string, from: number, lf: number): number {
  if (lf < 0) return content.length;
  return lf > from && content.charCodeAt(lf - 1) === CR_UNIT ? lf - 1 : lf;
}

const CR_UNIT = 13;

/** The number of bytes of a truncated line's rest above which the text explains how to read it. */
const MIN_HINTED_REST_BYTES = 64 * 1024;

/** Returns how to read the rest of the first line that has a large one; null when no line has. */
function renderWithinLine(page: ShownPage, names: ReaderNames = CANONICAL_NAMES): string | null {
  const found = page.long.find(({ restBytes }) => restBytes === null || restBytes >= MIN_HINTED_REST_BYTES);
  // If the page ends within that line, its last line says how to continue.
  if (found === undefined || found.restByte === page.nextStartByte) return null;
  const rest = found.restBytes === null ? "" : ` for ${found.restBytes} bytes`;
  const next = assignmentPhrase(names, "start_byte", found.restByte);
  const onward = next === undefined ? "truncated" : `continue inside it with ${next}`;
  return `[line ${found.line} goes on${rest}; ${onward}]`;
}

/**
 * Returns how to read the rest of truncated lines; null when there are none, or the reader has no argument
 * for it.
 */
function renderTruncatedLine(
  page: ShownPage,
  { count, first }: CutOff,
  { names = CANONICAL_NAMES, path = "", maxLineChars: limit = DEFAULT_LINE_CHARS }: RenderPageOptions,
): string | null {
  // If the page ends within that line, its last line says how to continue.
  if (count === 0 || (page.nextStartByte !== null && count === 1 && first === page.endLine)) return null;
  const rest = page.long.find(({ line }) => line === first)?.restByte;
  const pointer = /\.json$/iu.test(path) ? names.argument("json_pointer") : undefined;
  const ways = [
    assignmentPhrase(names, "max_line_chars", 0),
    rest === undefined ? undefined : assignmentPhrase(names, "start_byte", rest),
    pointer,
  ].filter((way) => way !== undefined);
  if (ways.length === 0) return null;
  const cut =
    count === 1 ? `line ${first} is cut` : `${count} lines are cut, the first of them line ${first},`;
  return `[${cut} at ${plural(limit, "character")}; see the rest with ${ways.join(" or ")}]`;
}

/**
 * Returns the last line of a page after which more follows: it says how to continue. Null at the end of the
 * file.
 */
function renderClosingLine(page: ShownPage, names: ReaderNames = CANONICAL_NAMES): string | null {
  if (!page.truncated) return null;
  const total = page.totalLines ?? `at least ${page.atLeastLines}`;
  const next =
    page.nextStartLine === null
      ? assignmentPhrase(names, "start_byte", page.nextStartByte ?? 0)
      : assignmentPhrase(names, "start_line", page.nextStartLine);
  const onward = next === undefined ? "truncated" : `continue with ${next}`;
  return `[lines ${page.startLine}-${page.endLine} of ${total}; ${onward}]`;
}

function renderEmptyPage(page: ShownPage, options: RenderPageOptions): string {
  const total = page.totalLines ?? page.atLeastLines;
  if (total === 0) return `[empty file: ${options.path ?? ""}]`;
  const names = options.names ?? CANONICAL_NAMES;
  const name = names.argument("start_line");
  const first = name === undefined ? page.startLine : names.value("start_line", page.startLine);
  return `[${name ?? "line"} ${first} is past the end: ${plural(total, "line")}]`;
}

/** Returns at most `max` code points from the start; 0 for all. */
function cutCodePoints(line: string, max: number): string {
  if (max === 0 || line.length <= max) return line;
  let at = 0;
  for (let left = max; left > 0 && at < line.length; left--) {
    const high = line.charCodeAt(at) & 0xfc00;
    const low = line.charCodeAt(at + 1) & 0xfc00;
    at += high === 0xd800 && low === 0xdc00 ? 2 : 1;
  }
  return line.slice(0, at);
}

/**
 * Returns a warning about the file that affects the page, such as that it changed while it was read;
 * undefined when there is none.
 */
export function pageWarning(page: Page): string | undefined {
  if (page.changed) return "the file changed while it was read";
  if (page.lossy) return `some bytes fit no character of ${page.encoding}; they are shown as U+FFFD`;
  if (page.nuls) return "the text holds NUL characters; the file may be binary in parts";
  return undefined;
}
