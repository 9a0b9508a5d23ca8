/** Formats the result of a tool for a person. */
import type { FindFilesData } from "../../tools/find_files.ts";
import type { GlobData } from "../../tools/glob.ts";
import type { GrepData } from "../../tools/grep/types.ts";
import { linesOf } from "../../tools/grep/text.ts";
import type { ListDirectoryData } from "../../tools/render/listing.ts";
import type { Parsed } from "../../schema/command-line.node.ts";
import type { ToolResult } from "../../workspace/index.ts";
import type { ToolCall } from "../command.ts";
import { commandHint } from "../hints.ts";
import type { Form } from "./form.ts";
import { grepLines } from "./grep-view.ts";
import type { Pattern } from "./highlight.ts";
import { listLines, pathLines } from "./list-view.ts";
import { type PageArgs, pageText } from "./page-view.ts";
import { styled } from "./style.ts";

/** Returns the result for a person; undefined when the text for models serves as well. */
export function personalText(
  { tool, args }: ToolCall,
  result: ToolResult,
  form: Form,
  { root }: Parsed["values"],
): string | undefined {
  if (!result.ok || result.data === undefined) return undefined;
  const given = args as Record<string, unknown>;
  switch (tool) {
    case "grep": {
      const data = result.data as GrepData;
      const rows = grepLines(data, given as unknown as Pattern, form.heading);
      return withNotes(tool, rows, result.text, plainRows(data));
    }
    case "list_directory": {
      if (given["format"] !== undefined) return undefined;
      const data = result.data as ListDirectoryData;
      return withNotes(tool, listLines(data), result.text, data.entries.length);
    }
    case "glob": {
      const { matches } = result.data as GlobData;
      return withNotes(tool, pathLines(matches), result.text, matches.length);
    }
    case "find_files": {
      const { files } = result.data as FindFilesData;
      return withNotes(tool, pathLines(files.map(({ path }) => path)), result.text, files.length);
    }
    case "read_file":
      return pageText(result, given as unknown as PageArgs, root);
    default:
      return undefined;
  }
}

/** Returns the number of lines of the rows in the text for models. */
const plainRows = (data: GrepData): number => linesOf(data).flat().length;

/** Returns the rows, followed by the notes of the text for models after its own `count` rows. */
function withNotes(tool: string, rows: readonly string[], text: string, count: number): string {
  const notes = text.split("\n").slice(count);
  return [...rows, ...notes.map((note) => styled("faint", commandHint(note, tool)))].join("\n");
}
