/**
 * Decides which properties of a replaced file an overwrite keeps (encoding, byte order mark, line endings),
 * and creates the warnings about a content.
 */
import { engine } from "../../engine/current.ts";
import type { Eol } from "../../engine/read.ts";
import { isTextKind } from "./contents.ts";
import type { Yielder } from "../../engine/yielder.ts";
import { plural } from "../../engine/escape.ts";
import { countLines, countLinesYielding } from "./text.ts";

/** The form of a text file: the properties of its bytes other than the text. */
export interface FileTextForm {
  /** The name of the encoding in lower case. */
  readonly encoding: string;
  /** True when the file begins with a byte order mark. */
  readonly bom: boolean;
  readonly eol: Eol | null;
}

/**
 * Returns the form of a text file; undefined for content that is not text. `name` is the path, whose
 * extension tells which kind of text it is.
 */
export async function textFormOf(
  bytes: Uint8Array,
  name: string,
  signal: AbortSignal | undefined,
): Promise<FileTextForm | undefined> {
  const { kind, encoding, bom, eol } = await engine().reading.inspect(bytes, { name, signal });
  return isTextKind(kind) && encoding !== null ? { encoding, bom, eol } : undefined;
}

/** The names of UTF-8 and of encodings whose bytes are valid UTF-8. */
const UTF_8_ENCODING_NAMES: ReadonlySet<string> = new Set(["utf-8", "utf8", "ascii", "us-ascii"]);

/** Returns true for an encoding whose bytes are UTF-8. */
export function isUtf8(encoding: string): boolean {
  return UTF_8_ENCODING_NAMES.has(encoding.toLowerCase());
}

/**
 * Returns a note about the properties that were kept from the old file; undefined when it is UTF-8 without
 * byte order mark and without CRLF.
 */
export function keptFormPhrase({ encoding, bom }: FileTextForm, crlf: boolean): string | undefined {
  const parts = [
    ...(isUtf8(encoding) ? [] : [encoding]),
    ...(bom ? ["the byte order mark"] : []),
    ...(crlf ? ["CRLF line ends"] : []),
  ];
  return parts.length === 0 ? undefined : `kept from the file: ${parts.join(", ")}`;
}

/** The size of a content; `lines` is absent when it is not text, or was not read. */
export interface ContentExtent {
  readonly bytes: number;
  readonly lines?: number | undefined;
}

/** Returns a note that an overwrite made the file smaller; undefined when it did not. */
export function shrunkWarning(before: ContentExtent, after: ContentExtent): string | undefined {
  if (after.bytes >= before.bytes) return undefined;
  return `the file shrank from ${formatExtent(before)} to ${formatExtent(after)}`;
}

function formatExtent({ bytes, lines }: ContentExtent): string {
  return lines === undefined ? plural(bytes, "byte") : `${plural(lines, "line")}, ${plural(bytes, "byte")}`;
}

/** Returns the text with every line ending converted to `eol`. */
export function withEol(content: string, eol: "lf" | "crlf"): string {
  return content.replace(/\r?\n/gu, eol === "lf" ? "\n" : "\r\n");
}

/** Returns the line ending that most lines of the file have; LF if both are equally frequent. */
export function dominantEol(bytes: Uint8Array): "lf" | "crlf" {
  let crlf = 0;
  let lf = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
    if (bytes[at - 1] === 13) crlf += 1;
    else lf += 1;
  }
  return crlf > lf ? "crlf" : "lf";
}

/**
 * Returns the number of lines of a content in this form. With a yielder the lines are counted in slices, and
 * the result is a promise.
 */
export function lineCountOf(
  bytes: Uint8Array,
  form: FileTextForm | undefined,
  yielder: Yielder | undefined,
): number | Promise<number> {
  const text =
    form === undefined || isUtf8(form.encoding) ? bytes : engine().decodeText(bytes, form.encoding).text;
  return yielder === undefined ? countLines(text) : countLinesYielding(text, yielder);
}

/**
 * Returns a warning when the content looks like a copy of an answer, for example with line numbers or in a
 * code fence, and `before` does not; undefined otherwise. `before` is the content that it replaces.
 */
export function pastedAnswerWarning(
  file: string,
  content: string,
  before: Uint8Array | null,
): string | undefined {
  if (isInMarkdownFence(content) && !MARKUP_FILE.test(file)) {
    return "the content begins and ends with a Markdown fence (```), which is in the file now; send it again without the fence unless it belongs there";
  }
  if (
    hasLineNumbers(content) &&
    !TABLE_FILE.test(file) &&
    !(before !== null && hasLineNumbers(decodeUtf8(before)))
  ) {
    return "each line begins with its line number, which is in the file now; send it again without the numbers unless they belong there";
  }
  return undefined;
}

const MARKUP_FILE = /\.(?:md|mdx|markdown|rst|txt|adoc|qmd|rmd)$/iu;
/** Matches files whose lines often begin with a number that belongs to the content. */
const TABLE_FILE = /\.(?:tsv|tab|csv)$/iu;

function isInMarkdownFence(content: string): boolean {
  return /^\s*(`{3,}|~{3,})[^\n`]*\n[\s\S]*\n\1\s*$/u.test(content);
}

/** Matches the number in front of a line, in the forms that pages, anchors and search results have. */
const NUMBERED_LINE = /^\s*L?(\d{1,9})(?:\t|→|: | ?\| |#\w{6,7}\t)/u;

/** Returns true when at least two lines begin with consecutive numbers. */
function hasLineNumbers(content: string): boolean {
  const first = Number(NUMBERED_LINE.exec(content)?.[1] ?? Number.NaN);
  if (Number.isNaN(first)) return false;
  const lines = content.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return (
    lines.length > 1 && lines.every((line, index) => Number(NUMBERED_LINE.exec(line)?.[1]) === first + index)
  );
}

function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
