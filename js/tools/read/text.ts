/** The text of the answer of `read_file`. */
import { escapeControls } from "../../engine/escape.ts";
import type { CheckedArgs } from "../generated/internal.ts";
import type { ReadFileData } from "../generated/types.ts";
import { type Call, phraseIfNamed, type ReaderNames } from "../lib/tool.ts";
import { imageText } from "../render/image.ts";
import { renderPage } from "../render/page.ts";

type CheckedReadFileArgs = CheckedArgs["read_file"];

/** Returns the text of a page. With `closing`, its last line says how to continue when more follows. */
export function readFileAnswerText(
  data: ReadFileData,
  args: Pick<CheckedReadFileArgs, "path" | "line_numbers" | "max_line_chars" | "anchors">,
  { reader: { names } }: Pick<Call, "reader">,
  closing = true,
): string {
  if (data.unchanged === true) return unchangedText(data, names);
  const note =
    (data.rendered === true || data.facts !== undefined) && data.warning !== undefined
      ? `\n[note: ${data.warning}]`
      : "";
  const changed = data.changed === undefined ? "" : `\n[changed since you read it: ${data.changed}]`;
  if (data.image !== undefined)
    return imageText(args.path, data.mime, data.size, data.image) + note + changed;
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
  return shown + note + changed;
}

/** Returns the line about a file whose content the caller has. */
function unchangedText({ warning }: ReadFileData, names: ReaderNames): string {
  const leave = phraseIfNamed(names.argument("known_hash"), (name) => `; leave out ${name} to see the lines`);
  return `[unchanged${warning === undefined ? "" : `; ${warning}${leave}`}]`;
}
