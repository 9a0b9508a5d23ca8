/** `read_file`: a page of a text file with line numbers, or an image. */
import type { Location } from "../access/index.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { LineNumbers, Page, PageRequest } from "../engine/read.ts";
import { readPage, wantFile } from "./contents.ts";
import { type ImageFacts, imageText, readImage } from "./image.ts";
import { renderPage } from "./render/page.ts";
import { compile, object } from "./schema.ts";
import { choice, flag, integer, path, PATH_ALIASES, text } from "./shared.ts";
import { escapeControls } from "./text.ts";
import { type Answer, type Call, type ReadingTool, refuse } from "./tool.ts";

/** The arguments of `read_file`. */
export interface ReadFileArgs {
  readonly path: string;
  readonly start_line?: number;
  readonly max_lines?: number | null;
  readonly max_line_chars?: number;
  readonly line_numbers?: LineNumbers;
  readonly encoding?: string;
  readonly non_text?: "block" | "error";
  readonly anchors?: boolean;
  readonly force_text?: boolean;
  readonly start_byte?: number;
}

/** What `read_file` read. Lines are 1-based, sizes bytes. */
export interface ReadFileData {
  readonly path: string;
  /** The window as it is, with its own line ends, without a byte order mark. */
  readonly content: string;
  readonly start_line: number;
  readonly end_line: number;
  readonly lines_read: number;
  /** Null in a large file until all of it was looked at. */
  readonly total_lines: number | null;
  /** Where `total_lines` is not known. */
  readonly at_least_lines?: number;
  readonly size: number;
  readonly encoding: string;
  readonly eol: "lf" | "crlf" | "mixed" | "none" | null;
  readonly bom: boolean;
  readonly truncated: boolean;
  readonly next_start_line?: number;
  readonly next_start_byte?: number;
  /** Lines longer than `max_line_chars`. */
  readonly long_lines: number;
  readonly hash: string | null;
  readonly version?: string;
  readonly mime: string;
  /** Lines that are cut in `content` too, because the window would be too large. */
  readonly cut_lines?: readonly number[];
  /** With `anchors`: two characters for each line. */
  readonly anchors?: string;
  /** Of an image: its size in pixels, where its header tells. */
  readonly image?: ImageFacts;
  readonly warning?: string;
}

type Args = Required<Omit<ReadFileArgs, "start_byte">> & Pick<ReadFileArgs, "start_byte">;

const inputSchema = object(
  {
    path: path("The file"),
    start_line: integer(
      "First line, counted from 1; negative counts from the end: -20 begins 20 lines before it.",
      { default: 1, not: { const: 0 } },
    ),
    max_lines: {
      type: ["integer", "null"],
      minimum: 1,
      default: 2000,
      description: "How many lines at most; null reads all (of files up to 20 MiB).",
    },
    max_line_chars: integer("Longer lines are cut in the text, with a mark. 0: never.", {
      default: 2000,
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
    non_text: choice("An image is given as an image block, or refused.", ["block", "error"], "block"),
    anchors: flag("Add a short hash to each line number (`12#aB`) for line-anchored edits.", false),
    force_text: flag("Show a binary file as text all the same.", false),
    start_byte: integer("Begin at this byte instead of a line, to go on inside a very long line.", {
      minimum: 0,
    }),
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
    anchors: text("Two characters for each line."),
    image: {
      type: "object",
      description: "Of an image: its size in pixels.",
      properties: { width: integer("Pixels."), height: integer("Pixels.") },
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

/** A page of a text file, or an image. */
export const readFile: ReadingTool<Args, ReadFileData> = {
  kind: "read",
  name: "read_file",
  title: "Read file",
  description: `Reads a text file with line numbers (number, tab, line), 2000 lines from the first unless start_line and max_lines say otherwise. A cut page ends in a line that tells the total and how to go on. A page of a file of any size is quick, so read large files in pages, and find the place with grep first.
The encoding is recognised, byte order marks are hidden, images are returned as images, other binary files are refused. The line numbers are not part of the file: leave them out of edits. The hash can be passed as expected_hash to write_file and edit_file.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  parse: compile("read_file", inputSchema, PATH_ALIASES),
  paths: (args) => [{ argument: "path", typed: args.path, intent: "read" }],
  run,
  render(data, args) {
    if (data.image !== undefined) return imageText(args.path, data.mime, data.size, data.image);
    return renderPage(
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
        anchors: data.anchors ?? null,
      },
      {
        lineNumbers: args.line_numbers,
        maxLineChars: args.max_line_chars,
        anchors: args.anchors,
        path: escapeControls(args.path),
      },
    );
  },
};

async function run(args: Args, call: Call): Promise<Answer<ReadFileData>> {
  const at = call.locations[0]!;
  if (at.directory) await wantFile(call.fs, at);
  let page: Page;
  try {
    page = await readPage(call, at, requestOf(args, call));
  } catch (error) {
    if (!(error instanceof FilewrightError) || error.code !== "BINARY_FILE") throw error;
    return notText(error, args, at, call);
  }
  return { data: dataOf(page, call.display(at.path)) };
}

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
    textBytes: call.limits.outputBytes,
  };
}

function dataOf(page: Page, shownPath: string): ReadFileData {
  const warning = warningOf(page);
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
    ...(page.anchors === null ? {} : { anchors: page.anchors }),
    ...(warning === undefined ? {} : { warning }),
  };
}

function warningOf(page: Page): string | undefined {
  if (page.changed) return "the file changed while it was read";
  if (page.lossy) return `some bytes fit no character of ${page.encoding}; they are shown as U+FFFD`;
  return undefined;
}

/** Kinds with a media type of their own, which are told by it. */
const KNOWN_MEDIA: ReadonlySet<string> = new Set(["image", "pdf", "document", "audio", "video"]);

/** What becomes of a file that is not text: an image block, or a refusal that says what it is. */
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
  if (kind === "image" && args.non_text === "block") {
    const { block, hash, version, facts, warning } = await readImage(call, at, mime, size);
    const data: ReadFileData = {
      path: call.display(at.path),
      content: "",
      start_line: 1,
      end_line: 0,
      lines_read: 0,
      total_lines: 0,
      size: block.size_bytes,
      encoding: "binary",
      eol: null,
      bom: false,
      truncated: false,
      long_lines: 0,
      hash,
      version,
      mime,
      image: facts,
      ...(warning === undefined ? {} : { warning }),
    };
    return { data, content: [block] };
  }
  if (!KNOWN_MEDIA.has(kind)) throw refuse("BINARY_FILE", at, { details: error.details });
  throw refuse("UNSUPPORTED_FORMAT", at, {
    details: error.details,
    ...(kind === "image" ? { hint: 'read it with non_text: "block"' } : {}),
  });
}
