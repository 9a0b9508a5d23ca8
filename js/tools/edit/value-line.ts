/** Converts the edit of a value of a structured file to the edit of its lines, on this thread or in a worker. */
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { EditInput } from "../../engine/text/edit.ts";
import { formatOf, locatePointer, type StructuredFormat } from "../../readers/index.ts";
import { ANCHOR_LENGTH } from "../lib/seen.ts";

/** The edit of a value, and how the bytes of its file are read. */
export interface EncodedValueEdit {
  readonly pointer: string;
  /** The new text, in the syntax of the file. */
  readonly value: string;
  readonly encoding: string | undefined;
  readonly mime: string;
}

/**
 * Converts an edit of a value to an edit of the whole lines that contain it. The lines are named by anchors,
 * so that they must be unchanged when the edit is applied.
 */
export async function lineEditOfValue(bytes: Uint8Array, edit: EncodedValueEdit): Promise<EditInput> {
  const { pointer, value, encoding, mime } = edit;
  const { text } = engine().decodeText(bytes, encoding);
  const format = formatOf(mime) ?? (/^\s*[[{]/.test(text) ? "json" : undefined);
  if (format === undefined) {
    throw invalidArgumentError(
      "json_pointer",
      `reaches into JSON, YAML, TOML, XML and CSV; this file is ${mime}`,
    );
  }
  const { start, end, alias } = await locatePointer(text, pointer, format);
  if (alias === true) {
    throw invalidArgumentError(
      "json_pointer",
      "leads through an alias to a value that others share; name the place of its anchor",
    );
  }
  const after = text.slice(0, start) + value + text.slice(end);
  await assertPointerNamesNewText(after, value, pointer, format);
  const begin = text.lastIndexOf("\n", start - 1) + 1;
  const lineEnd = text.indexOf("\n", Math.max(begin, end));
  const close =
    lineEnd < 0 ? text.length : text[lineEnd - 1] === "\r" && lineEnd > end ? lineEnd - 1 : lineEnd;
  const first = countLineEnds(text, 0, start) + 1;
  const last = first + countLineEnds(text, start, end);
  return {
    from: lineAnchorAt(text, begin, first),
    to: lineAnchorAt(text, text.lastIndexOf("\n", end - 1) + 1, last),
    unchanged: true,
    newText: text.slice(begin, start) + value + text.slice(end, close),
  };
}

/**
 * Checks that after the edit the pointer names exactly the new text, so that the text is one value of the
 * file's format. @throws INVALID_ARGUMENT
 */
async function assertPointerNamesNewText(
  after: string,
  value: string,
  pointer: string,
  format: StructuredFormat,
): Promise<void> {
  let found: string | undefined;
  try {
    const there = await locatePointer(after, pointer, format);
    found = after.slice(there.start, there.end);
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
  }
  if (found?.trim() === value.trim()) return;
  throw invalidArgumentError(
    "new_text",
    `is not one value of ${NAME_BY_FORMAT[format]} at '${pointer.slice(0, 100)}'${HINT_BY_FORMAT[format] ?? ""}`,
  );
}

const NAME_BY_FORMAT: Readonly<Record<StructuredFormat, string>> = {
  json: "JSON",
  jsonl: "JSON Lines",
  yaml: "YAML",
  toml: "TOML",
  xml: "XML",
  csv: "CSV",
  tsv: "TSV",
};

const QUOTE_HINT = '; a string has its quotes: "text"';
const HINT_BY_FORMAT: Partial<Record<StructuredFormat, string>> = {
  json: QUOTE_HINT,
  jsonl: QUOTE_HINT,
  toml: QUOTE_HINT,
};

/** Returns the refusal of an argument of an edit. `what` is the rest of the sentence that begins with its name. */
export function invalidArgumentError(argument: string, what: string): FilewrightError {
  return new FilewrightError("INVALID_ARGUMENT", `Invalid argument '${argument}': ${what}.`, {
    complete: true,
    details: { tool: "edit_file", argument },
  });
}

/**
 * Returns the anchor of the line that begins at offset `begin`, in the form `12#k3x9q1`. It is computed from
 * the line and both neighbours.
 */
function lineAnchorAt(text: string, begin: number, line: number): string {
  const before = begin === 0 ? 0 : text.lastIndexOf("\n", begin - 2) + 1;
  const end = text.indexOf("\n", begin);
  const after = end < 0 ? -1 : text.indexOf("\n", end + 1);
  const anchors = engine().lineAnchors(text.slice(before, after < 0 ? text.length : after + 1));
  return `${line}#${anchors.slice(begin === 0 ? 0 : ANCHOR_LENGTH).slice(0, ANCHOR_LENGTH)}`;
}

function countLineEnds(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at >= 0 && at < to; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** Answers a call in a worker. */
export const answerInWorker = (_: unknown, ...args: Parameters<typeof lineEditOfValue>): Promise<EditInput> =>
  lineEditOfValue(...args);
