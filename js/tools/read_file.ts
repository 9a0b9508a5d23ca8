import { FilewrightError } from "../engine/errors.ts";
import { DEFAULT_PAGE_LINES } from "../engine/read.ts";
import { readFileAnswerText } from "./read/text.ts";
import { type Arguments, compileArgumentCheck } from "./lib/schema.ts";
import { PATH_ALIASES } from "./lib/shared.ts";
import type { CheckedArgs } from "./generated/internal.ts";
import type { ReadFileData } from "./generated/types.ts";
import { inputSchema, outputSchema } from "./read/schema.ts";
import { escapeControls, plural } from "../engine/escape.ts";
import type { ReadingTool } from "./lib/tool.ts";
import { lazilyEarly } from "../engine/lazy.ts";

const reading = lazilyEarly("reads of files", () => import("./run/read_file.ts"));

type CheckedReadFileArgs = CheckedArgs["read_file"];

const checkReadFileArgs = compileArgumentCheck<CheckedReadFileArgs>("read_file", inputSchema);

/**
 * Checks the arguments. Line 0 is refused here and not by the schema, which would need the keyword `not`;
 * several providers of models do not support it.
 */
function parseReadFileArgs(given: Arguments): CheckedReadFileArgs {
  const args = checkReadFileArgs(given);
  if (args.symbol !== undefined) refuseOtherPlaces(args);
  if (args.start_line !== 0) return args;
  throw new FilewrightError(
    "INVALID_ARGUMENT",
    "Invalid argument 'start_line': must be an integer other than 0, got 0.",
    { complete: true, details: { tool: "read_file", argument: "start_line" } },
  );
}

/** Refuses arguments that name another part of the file than `symbol`. */
function refuseOtherPlaces({ start_line, start_byte, pages, json_pointer }: CheckedReadFileArgs): void {
  const others = { start_line: start_line === 1 ? undefined : start_line, start_byte, pages, json_pointer };
  const [argument] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (argument === undefined) return;
  throw new FilewrightError(
    "INVALID_ARGUMENT",
    `Invalid argument '${argument}': names another part of the file than symbol; give one of them.`,
    { complete: true, details: { tool: "read_file", argument } },
  );
}

/** Reads a page of a text file, or an image. */
export const readFile: ReadingTool<CheckedReadFileArgs, ReadFileData> = {
  kind: "read",
  name: "read_file",
  title: "Read file",
  traits: ["endsAtOnce", "readsContents", "standsForReading"],
  otherNames: {
    names: /^(?:view|cat|open|show|head|tail)(?:file)?$|^read$|^getfile(?:contents?)?$|^readtextfile$/u,
    does: "reads files",
  },
  description: `Reads a text file with line numbers (number, tab, line), ${DEFAULT_PAGE_LINES} lines from the first unless start_line and max_lines say otherwise. A cut page ends in a line that tells the total and how to go on. A page of a file of any size is quick, so read large files in pages, and find the place with grep first.
The encoding is recognised, byte order marks are hidden. Images are returned as images; of PDF and Office files and notebooks the text, of archives the list of entries; other binary files are refused. symbol reads one definition by its name, json_pointer one value of a large JSON, YAML, TOML or XML file. The line numbers are not part of the file: leave them out of edits. The hash can be passed as expected_hash to write_file and edit_file.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  aliases: PATH_ALIASES,
  parse: parseReadFileArgs,
  paths: (args) => [{ argument: "path", typed: args.path, intent: "read", missing: "refuse" }],
  run: async (args, call) => (await reading()).runReadFile(args, call),
  texts: {
    render: (data, args, call) => readFileAnswerText(data, args, call),
    display({ path, start_line, end_line, lines_read, total_lines, image, mime, truncated, unchanged }) {
      const shown = escapeControls(path);
      if (unchanged === true) return `Read ${shown}: unchanged`;
      if (image !== undefined) {
        const { width, height } = image;
        return `Read ${shown}: ${mime}${width === undefined ? "" : `, ${width} × ${height} pixels`}`;
      }
      if (total_lines === lines_read && !truncated) return `Read ${shown}: ${plural(lines_read, "line")}`;
      const of = total_lines === null ? "" : ` of ${total_lines}`;
      return `Read ${shown}: lines ${start_line} to ${end_line}${of}`;
    },
  },
};
