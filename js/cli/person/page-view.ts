/** Formats a page of a file for a person. */
import type { ToolResult } from "../../workspace/index.ts";
import { commandHint } from "../hints.ts";
import { styled, harmless } from "./style.ts";

/** The arguments that made the page. */
export interface PageArgs {
  readonly path: string;
  readonly max_lines?: number;
  readonly line_numbers?: string;
  readonly encoding?: string;
  readonly force_text?: boolean;
}

/** Returns the page with line numbers in colour; its last line names the command that continues. */
export function pageText(result: ToolResult, args: PageArgs, root: unknown): string {
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

/** The tool's note that names the argument of the next page. */
const ONWARD =
  /(?:continue(?: inside it)? with|see the rest with(?: max_line_chars=0 or)?) (start_line|start_byte)=(\d+)/u;

/** Returns a note of the tool with the command that prints the next page in the same way. */
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

/** Returns a word as a shell takes it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
