/** The schemas of the arguments and the data of `read_file`. */
import { DEFAULT_LINE_CHARS, DEFAULT_PAGE_LINES } from "../../engine/read.ts";
import { exactly, named } from "../lib/exact.ts";
import { HASH_PATTERN, object, type ObjectSchema, type Schema } from "../lib/schema.ts";
import { CHANGED_SCHEMA, choice, flag, integer, path, text } from "../lib/shared.ts";
import { MAX_TOKENS_SCHEMA, TOKENS_SCHEMA } from "../lib/tokens.ts";

/** The schema of `unchanged` in the data of a file whose content the caller has. */
export const UNCHANGED_SCHEMA: Schema = exactly(
  { type: "boolean", description: "Whether the content is one that you have, and is left out." },
  { values: [true] },
);

/** The JSON Schema of the arguments. */
export const inputSchema: ObjectSchema = object(
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
    max_tokens: MAX_TOKENS_SCHEMA,
    known_hash: text("Hash of content that you have: while it is that, the answer is one line without it.", {
      pattern: HASH_PATTERN,
    }),
    max_line_chars: integer("Longer lines are cut in the text, with a mark. 0: never.", {
      default: DEFAULT_LINE_CHARS,
      minimum: 0,
    }),
    line_numbers: choice(
      "How lines are numbered: `1\\t` (plain), `     1\\t` (cat), `     1→` (arrow), or not at all.",
      ["plain", "cat", "arrow", "none"],
      "plain",
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
    symbol: text(
      "Only the definition with this name, such as `parse` or `Parser.parse`: a function, class, heading or key.",
      { minLength: 1 },
    ),
    json_pointer: text(
      'Only this value of a JSON, YAML, TOML, XML or CSV file, such as "/scripts/test", "/items/0" or "/project/@name", with the lines it is on.',
    ),
  },
  ["path"],
);

/** The JSON Schema of the data. */
export const outputSchema: ObjectSchema = object(
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
      items: exactly(
        { type: "object", additionalProperties: true },
        {
          object: object(
            {
              line: integer("The line, from 1."),
              rest_byte: integer("Where the rest begins: pass it as start_byte."),
              rest_bytes: integer("Bytes of the rest, where the file was read that far."),
            },
            ["line", "rest_byte"],
          ),
        },
      ),
      description: "The first long lines: line, and rest_byte to pass as start_byte to go on inside it.",
    },
    anchors: text("The anchors of the lines, each of the same length (six or seven characters)."),
    rendered: exactly(
      {
        type: "boolean",
        description: "Whether the content was made from the file: no lines to edit.",
      },
      { values: [true] },
    ),
    facts: { type: "object", description: "What else is known of the file.", additionalProperties: true },
    image: named("ImageFacts", {
      type: "object",
      description: "Of an image: its size in pixels, and what was sent where it was scaled down.",
      properties: {
        width: integer("Pixels."),
        height: integer("Pixels."),
        sent: exactly(
          { type: "object", description: "The copy that was sent.", additionalProperties: true },
          {
            name: "SentImage",
            object: object(
              {
                mime: text("Media type."),
                size: integer("Bytes."),
                width: integer("Pixels."),
                height: integer("Pixels."),
              },
              ["mime", "size", "width", "height"],
            ),
          },
        ),
      },
      required: [],
      additionalProperties: false,
    }),
    changed: CHANGED_SCHEMA,
    tokens: TOKENS_SCHEMA,
    unchanged: UNCHANGED_SCHEMA,
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
