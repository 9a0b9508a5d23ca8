/** `read_file`: a page of a text file with line numbers; an image; the text of a document; one value of structured data. */
import type { Location } from "../policy/index.ts";
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import {
  DEFAULT_LINE_CHARS,
  DEFAULT_PAGE_LINES,
  type LineNumbers,
  type LongLine,
  type Page,
  type PageRequest,
} from "../engine/read.ts";
import type { NonText } from "../readers/index.ts";
import { withContentsDigit } from "./lib/seen.ts";
import { readPage, assertFile } from "./lib/contents.ts";
import { type ImageFacts, imageFacts, imageText } from "./render/image.ts";
import { linesSeen } from "./lib/line-ranges.ts";
import { pageWarning, renderPage } from "./render/page.ts";
import { type KnownFile, renderFile } from "./render/renderings.ts";
import { type Arguments, compile, object } from "./lib/schema.ts";
import { choice, flag, integer, path, PATH_ALIASES, text } from "./lib/shared.ts";
import { escapeControls } from "../engine/escape.ts";
import { utf8 } from "./lib/text.ts";
import { type Answer, type Call, type ReadingTool, refuse } from "./lib/tool.ts";
import { answerBytes } from "./lib/limits.ts";

/** The arguments of `read_file`. */
export interface ReadFileArgs {
  readonly path: string;
  readonly start_line?: number;
  readonly max_lines?: number | null;
  readonly max_line_chars?: number;
  readonly line_numbers?: LineNumbers;
  readonly encoding?: string;
  readonly non_text?: NonText;
  readonly anchors?: boolean;
  readonly force_text?: boolean;
  readonly start_byte?: number;
  readonly pages?: string;
  readonly json_pointer?: string;
}

/** The data of `read_file`. Lines are 1-based, sizes bytes. */
export interface ReadFileData {
  readonly path: string;
  /** The lines of the page with their own line endings, without a byte order mark. */
  readonly content: string;
  readonly start_line: number;
  readonly end_line: number;
  readonly lines_read: number;
  /** The number of lines of the file; null for a large file that was not read to its end. */
  readonly total_lines: number | null;
  /** A lower bound of the number of lines, when `total_lines` is null. */
  readonly at_least_lines?: number;
  readonly size: number;
  readonly encoding: string;
  readonly eol: "lf" | "crlf" | "mixed" | "none" | null;
  readonly bom: boolean;
  readonly truncated: boolean;
  readonly next_start_line?: number;
  readonly next_start_byte?: number;
  /** The number of lines longer than `max_line_chars`. */
  readonly long_lines: number;
  readonly hash: string | null;
  readonly version?: string;
  readonly mime: string;
  /**
   * The numbers of lines that are truncated in `content` itself, because the page would otherwise exceed its
   * size.
   */
  readonly cut_lines?: readonly number[];
  /**
   * The first lines that are longer than `max_line_chars`, each with the offset at which its truncated rest
   * begins.
   */
  readonly long?: readonly {
    /** The line, from 1. */
    readonly line: number;
    /** The offset of the rest: pass it as `start_byte`. */
    readonly rest_byte: number;
    /** The number of bytes of the rest; absent when the file was not read that far. */
    readonly rest_bytes?: number;
  }[];
  /**
   * With `anchors: true`: the anchors of all lines as one string, with the same number of characters (six or
   * seven) for each line.
   */
  readonly anchors?: string;
  /** True when a reader converted the file to text, so that `content` is not text of the file. */
  readonly rendered?: true;
  /**
   * Facts that a reader found out about the file, such as the number of pages, its entries, or the place of a
   * value.
   */
  readonly facts?: Readonly<Record<string, unknown>>;
  /** The size of an image in pixels, if its header contains it. */
  readonly image?: ImageFacts;
  readonly warning?: string;
}

type OptionalReadArgs = "start_byte" | "pages" | "json_pointer";
type Args = Required<Omit<ReadFileArgs, OptionalReadArgs>> & Pick<ReadFileArgs, OptionalReadArgs>;

const inputSchema = object(
  {
    path: path("The file"),
    start_line: integer(
      "First line, counted from 1; negative counts from the end: -20 begins 20 lines before it.",
      { default: 1 },
    ),
    max_lines: {
      type: ["integer", "null"],
      minimum: 1,
      default: DEFAULT_PAGE_LINES,
      description: "How many lines at most; null reads all (of files up to 20 MiB).",
    },
    max_line_chars: integer("Longer lines are cut in the text, with a mark. 0: never.", {
      default: DEFAULT_LINE_CHARS,
      minimum: 0,
    }),
    line_numbers: choice(
      "How lines are numbered: `     1\\t` (cat), `     1→` (arrow), `1\\t` (plain), or not at all.",
      ["cat", "arrow", "plain", "none"],
      "cat",
    ),
    encoding: text("Name of the encoding, such as utf-8, utf-16le or latin1; auto recognises it.", {
      default: "auto",
    }),
    non_text: choice(
      "Images as image blocks (block), PDF files as blocks too (media), or text alone (error).",
      ["block", "media", "error"],
      "block",
    ),
    anchors: flag("Add a short hash to each line number (`12#k3x9q1a`) for line-anchored edits.", false),
    force_text: flag("Show a binary file as text all the same.", false),
    start_byte: integer("Begin at this byte instead of a line, to go on inside a very long line.", {
      minimum: 0,
    }),
    pages: text('Of a document: which pages, sheets or slides, such as "3", "1-5" or "-1" (the last).'),
    json_pointer: text(
      'Only this value of a JSON, YAML, TOML, XML or CSV file, such as "/scripts/test", "/items/0" or "/project/@name", with the lines it is on.',
    ),
  },
  ["path"],
);

const outputSchema = object(
  {
    path: text("The file, relative to the workspace."),
    content: text("The lines as they are, without numbers."),
    start_line: integer("First line given."),
    end_line: integer("Last line given."),
    lines_read: integer("How many lines are given."),
    total_lines: {
      type: ["integer", "null"],
      description: "Lines in the file; null in a large file not counted yet.",
    },
    at_least_lines: integer("Where total_lines is null: how many there are at least."),
    size: integer("Bytes of the file."),
    encoding: text("Encoding of the file."),
    eol: {
      type: ["string", "null"],
      enum: ["lf", "crlf", "mixed", "none", null],
      description: "Line ends of the file.",
    },
    bom: { type: "boolean", description: "Whether the file begins with a byte order mark." },
    truncated: { type: "boolean", description: "Whether lines follow." },
    next_start_line: integer("Pass as start_line to go on."),
    next_start_byte: integer("Pass as start_byte to go on inside a long line."),
    long_lines: integer("Lines longer than max_line_chars."),
    hash: { type: ["string", "null"], description: "sha256 of the file, for expected_hash." },
    version: text("Opaque; changes with the content."),
    mime: text("Media type."),
    cut_lines: {
      type: "array",
      items: { type: "integer" },
      description: "Lines that are cut in content too.",
    },
    long: {
      type: "array",
      items: { type: "object", additionalProperties: true },
      description: "The first long lines: line, and rest_byte to pass as start_byte to go on inside it.",
    },
    anchors: text("The anchors of the lines, each of the same length (six or seven characters)."),
    rendered: {
      type: "boolean",
      description: "Whether the content was made from the file: no lines to edit.",
    },
    facts: { type: "object", description: "What else is known of the file.", additionalProperties: true },
    image: {
      type: "object",
      description: "Of an image: its size in pixels, and what was sent where it was scaled down.",
      properties: {
        width: integer("Pixels."),
        height: integer("Pixels."),
        sent: { type: "object", description: "The copy that was sent.", additionalProperties: true },
      },
      required: [],
      additionalProperties: false,
    },
    warning: text("Something worth knowing."),
  },
  [
    "path",
    "content",
    "start_line",
    "end_line",
    "lines_read",
    "total_lines",
    "size",
    "encoding",
    "eol",
    "bom",
    "truncated",
    "long_lines",
    "hash",
    "mime",
  ],
);

const check = compile<Args>("read_file", inputSchema);

/**
 * Checks the arguments. Line 0 is refused here and not by the schema, which would need the keyword `not`;
 * several providers of models do not support it.
 */
function parse(given: Arguments): Args {
  const args = check(given);
  if (args.start_line !== 0) return args;
  throw new FilewrightError(
    "INVALID_ARGUMENT",
    "Invalid argument 'start_line': must be an integer other than 0, got 0.",
    { complete: true, details: { tool: "read_file", argument: "start_line" } },
  );
}

/** Reads a page of a text file, or an image. */
export const readFile: ReadingTool<Args, ReadFileData> = {
  kind: "read",
  name: "read_file",
  title: "Read file",
  description: `Reads a text file with line numbers (number, tab, line), ${DEFAULT_PAGE_LINES} lines from the first unless start_line and max_lines say otherwise. A cut page ends in a line that tells the total and how to go on. A page of a file of any size is quick, so read large files in pages, and find the place with grep first.
The encoding is recognised, byte order marks are hidden. Images are returned as images; of PDF and Office files and notebooks the text, of archives the list of entries; other binary files are refused. json_pointer reads one value of a large JSON, YAML, TOML or XML file. The line numbers are not part of the file: leave them out of edits. The hash can be passed as expected_hash to write_file and edit_file.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  aliases: PATH_ALIASES,
  parse,
  paths: (args) => [{ argument: "path", typed: args.path, intent: "read" }],
  run,
  render: (data, args, call) => readText(data, args, call),
};

/** Returns the text of a page. With `closing`, its last line says how to continue when more follows. */
export function readText(
  data: ReadFileData,
  args: Pick<Args, "path" | "line_numbers" | "max_line_chars" | "anchors">,
  { names }: Pick<Call, "names">,
  closing = true,
): string {
  const note =
    (data.rendered === true || data.facts !== undefined) && data.warning !== undefined
      ? `\n[note: ${data.warning}]`
      : "";
  if (data.image !== undefined) return imageText(args.path, data.mime, data.size, data.image) + note;
  const shown = renderPage(
    {
      content: data.content,
      startLine: data.start_line,
      endLine: data.end_line,
      linesRead: data.lines_read,
      totalLines: data.total_lines,
      atLeastLines: data.at_least_lines ?? data.total_lines ?? 0,
      truncated: data.truncated,
      nextStartLine: data.next_start_line ?? null,
      nextStartByte: data.next_start_byte ?? null,
      cutLines: data.cut_lines ?? [],
      long: (data.long ?? []).map((long) => ({
        line: long.line,
        restByte: long.rest_byte,
        restBytes: long.rest_bytes ?? null,
      })),
      anchors: data.anchors ?? null,
    },
    {
      // Line numbers serve edits, and text that a reader created cannot be edited.
      lineNumbers: data.rendered === true ? "none" : args.line_numbers,
      maxLineChars: args.max_line_chars,
      anchors: args.anchors,
      path: escapeControls(args.path),
      closing,
      names,
    },
  );
  return shown + note;
}

async function run(args: Args, call: Call): Promise<Answer<ReadFileData>> {
  const at = call.locations[0]!;
  if (at.directory) await assertFile(call.fs, at);
  const asked = args.json_pointer !== undefined || args.pages !== undefined;
  let page: Page;
  try {
    const request = requestOf(args, call);
    page = await readPage(call, at, asked ? { ...request, startLine: 1, maxLines: 1 } : request);
  } catch (error) {
    if (!(error instanceof FilewrightError) || error.code !== "BINARY_FILE") throw error;
    return notText(error, args, at, call);
  }
  const { mime, size, encoding } = page;
  const plain = args.force_text || args.start_byte !== undefined;
  if (asked || (!plain && call.readers.find(mime) !== undefined)) {
    return rendered(args, call, at, { mime, size, encoding });
  }
  if (mime === SVG && size > call.limits.svgBytes && !plain) {
    const details = { size, limit: call.limits.svgBytes, mime };
    throw refuse("TOO_LARGE", at, { details, hint: "force_text: true shows pages of it all the same" });
  }
  call.seen.note(at.path, page.version, page.hash, linesSeen(page, args.start_byte));
  const contents = contentsOf(page);
  if (page.anchors !== null && contents !== undefined) call.seen.giveAnchors(at.path, contents);
  return { data: dataOf(page, call.display(at.path)) };
}

/**
 * Returns what identifies the content of the page's file: its hash, or else its version. The seventh
 * character of anchors is derived from it.
 */
function contentsOf({ hash, version }: Page): string | undefined {
  return hash ?? version;
}

const SVG = "image/svg+xml";

function requestOf(args: Args, call: Call): PageRequest {
  return {
    startLine: args.start_line,
    maxLines: args.max_lines,
    maxLineChars: args.max_line_chars,
    lineNumbers: args.line_numbers,
    encoding: args.encoding,
    forceText: args.force_text,
    anchors: args.anchors,
    startByte: args.start_byte,
    wholeFileBytes: call.limits.wholeFileBytes,
    textBytes: answerBytes(call.limits),
  };
}

function dataOf(page: Page, shownPath: string): ReadFileData {
  const warning = pageWarning(page);
  return {
    path: shownPath,
    content: page.content,
    start_line: page.startLine,
    end_line: page.endLine,
    lines_read: page.linesRead,
    total_lines: page.totalLines,
    ...(page.totalLines === null ? { at_least_lines: page.atLeastLines } : {}),
    size: page.size,
    encoding: page.encoding,
    eol: page.eol,
    bom: page.bom,
    truncated: page.truncated,
    ...(page.nextStartLine === null ? {} : { next_start_line: page.nextStartLine }),
    ...(page.nextStartByte === null ? {} : { next_start_byte: page.nextStartByte }),
    long_lines: page.longLines,
    hash: page.hash,
    ...(page.version === undefined ? {} : { version: page.version }),
    mime: page.mime,
    ...(page.cutLines.length === 0 ? {} : { cut_lines: page.cutLines }),
    ...(page.long.length === 0 ? {} : { long: page.long.map(longOf) }),
    ...(page.anchors === null ? {} : { anchors: withContentsDigit(page.anchors, contentsOf(page)) }),
    ...(warning === undefined ? {} : { warning }),
  };
}

function longOf({ line, restByte, restBytes }: LongLine): NonNullable<ReadFileData["long"]>[number] {
  return { line, rest_byte: restByte, ...(restBytes === null ? {} : { rest_bytes: restBytes }) };
}

/** Kinds of files that errors name by their media type, because it tells more than the kind. */
const KINDS_WITH_MEDIA_TYPE: ReadonlySet<string> = new Set(["image", "pdf", "document", "audio", "video"]);

/**
 * Handles a file that is not text: returns an image block or a rendering, or throws an error that names its
 * type.
 */
async function notText(
  error: FilewrightError,
  args: Args,
  at: Location,
  call: Call,
): Promise<Answer<ReadFileData>> {
  const { kind, mime, size } = error.details as {
    readonly kind: string;
    readonly mime: string;
    readonly size: number;
  };
  if (call.readers.find(mime) !== undefined) {
    try {
      return await rendered(args, call, at, { mime, size });
    } catch (refused) {
      // Only the name says that it is an archive, or only text is accepted: the file is refused as binary.
      const reason = refused instanceof FilewrightError && refused.details?.["reason"];
      if (KINDS_WITH_MEDIA_TYPE.has(kind) || (reason !== "damaged" && reason !== "text_only")) throw refused;
    }
  }
  if (!KINDS_WITH_MEDIA_TYPE.has(kind)) throw refuse("BINARY_FILE", at, { details: error.details });
  throw refuse("UNSUPPORTED_FORMAT", at, { details: error.details });
}

/** Reads a file by the reader of its kind, and returns a page of the resulting text. */
async function rendered(
  args: Args,
  call: Call,
  at: Location,
  file: KnownFile,
): Promise<Answer<ReadFileData>> {
  const options = { pages: args.pages, jsonPointer: args.json_pointer, nonText: args.non_text };
  const made = await renderFile(call, at, file, options);
  const image = made.content !== undefined && file.mime.startsWith("image/");
  const page = pageOf(image ? "" : made.text, made.firstLine ?? 1, args, call);
  const { content, warning, data: facts, hash, version, firstLine } = made;
  const data: ReadFileData = {
    ...dataOf(page, call.display(at.path)),
    size: file.size,
    encoding: file.encoding ?? "binary",
    eol: firstLine === undefined ? null : page.eol,
    hash,
    mime: file.mime,
    ...(version === undefined ? {} : { version }),
    ...(firstLine === undefined ? { rendered: true } : {}),
    ...(image ? { image: imageFacts(facts) } : facts === undefined ? {} : { facts }),
    ...(warning === undefined ? {} : { warning }),
  };
  return content === undefined ? { data } : { data, content };
}

/** Returns a page of a text that is in memory. `first` is the number of its first line. */
function pageOf(content: string, first: number, args: Args, call: Call): Page {
  const { start_line: start } = args;
  const request = requestOf(args, call);
  const read = engine().readPage(utf8(content), {
    ...request,
    anchors: false, // The shown text may be a part of a line.
    startLine: start < 0 ? start : Math.max(1, start - first + 1),
    startByte: undefined,
    encoding: "utf-8",
    forceText: true,
    wholeFileBytes: Number.MAX_SAFE_INTEGER,
  });
  // Offsets in this text are not offsets in the file, so none are returned.
  const page = { ...read, long: [] };
  const shift = first - 1;
  if (shift === 0) return page;
  return {
    ...page,
    startLine: page.startLine + shift,
    endLine: page.endLine + shift,
    totalLines: page.totalLines === null ? null : page.totalLines + shift,
    atLeastLines: page.atLeastLines + shift,
    nextStartLine: page.nextStartLine === null ? null : page.nextStartLine + shift,
    cutLines: page.cutLines.map((line) => line + shift),
  };
}
