/** The result of a tool for a person. */
import type { FindFilesData } from "../../tools/find_files.ts";
import type { GlobData } from "../../tools/glob.ts";
import type { GrepData } from "../../tools/grep.ts";
import { linesOf } from "../../tools/grep_text.ts";
import type { ListDirectoryData } from "../../tools/list_directory.ts";
import type { ToolResult } from "../../workspace/index.ts";
import type { ToolCall } from "../command.ts";
import type { Form } from "./form.ts";
import { grepLines } from "./grep-view.ts";
import type { Pattern } from "./highlight.ts";
import { listLines, pathLines } from "./list-view.ts";
import { styled } from "./style.ts";
import { harmless } from "./text.ts";

/** The result laid out for a person; undefined where the text for models serves a person as well. */
export function personalText({ tool, args }: ToolCall, result: ToolResult, form: Form): string | undefined {
  if (!result.ok || result.data === undefined) return undefined;
  const given = args as Record<string, unknown>;
  switch (tool) {
    case "grep": {
      const data = result.data as GrepData;
      const rows = grepLines(data, given as unknown as Pattern, form.heading);
      return withNotes(rows, result.text, plainRows(data));
    }
    case "list_directory": {
      if (given["format"] !== undefined) return undefined;
      const data = result.data as ListDirectoryData;
      return withNotes(listLines(data), result.text, data.entries.length);
    }
    case "glob": {
      const { matches } = result.data as GlobData;
      return withNotes(pathLines(matches), result.text, matches.length);
    }
    case "find_files": {
      const { files } = result.data as FindFilesData;
      return withNotes(pathLines(files.map(({ path }) => path)), result.text, files.length);
    }
    case "read_file":
      return result.text
        .split("\n")
        .map((line) => {
          const [, number, rest] = /^( *\d+[\t→])(.*)$/su.exec(line) ?? [];
          return number === undefined || given["line_numbers"] === "none"
            ? harmless(line)
            : `${styled("number", number)}${harmless(rest ?? "")}`;
        })
        .join("\n");
    default:
      return undefined;
  }
}

/** How many lines the rows take in the text for models. */
const plainRows = (data: GrepData): number => linesOf(data).flat().length;

/** The rows, and behind them what the text for models says besides its own `count` rows. */
function withNotes(rows: readonly string[], text: string, count: number): string {
  const notes = text.split("\n").slice(count);
  return [...rows, ...notes.map((note) => styled("faint", note))].join("\n");
}
