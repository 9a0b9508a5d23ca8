/**
 * The parts that both presets of Gemini share: the texts of reads, which report truncation first, and of
 * searches, which group matches by file; and the ignore files of Gemini CLI.
 */
import { closingLine, grepRowsOf } from "../tools/grep/text.ts";
import type { GrepArgs, GrepData, ReadFileArgs, ReadFileData } from "../tools/index.ts";
import { readFileAnswerText } from "../tools/read_file.ts";
import { escapeControls } from "../engine/escape.ts";
import type { RenderInput, ToolSpec } from "./preset.ts";
import type { Arguments } from "../tools/lib/schema.ts";

/** Returns the lines of a page without line numbers. If more follow, a first line names their range. */
export function geminiReadText(
  { data, args, call, plain }: RenderInput<ReadFileArgs, ReadFileData>,
  paging = "offset/limit",
): string {
  if (data.image !== undefined || data.lines_read === 0) return plain();
  const content = readFileAnswerText(
    data,
    { path: args.path, line_numbers: "none", max_line_chars: args.max_line_chars ?? 2000, anchors: false },
    call,
    false,
  );
  if (data.start_line > 1 || data.truncated) {
    const total = data.total_lines ?? `at least ${data.at_least_lines ?? data.end_line}`;
    return `[File content truncated: showing lines ${data.start_line}-${data.end_line} of ${total} total lines. Use ${paging} parameters to view more.]\n${content}`;
  }
  return data.long_lines > 0
    ? `[File content partially truncated: some lines exceeded maximum length of 2000 characters.]\n${content}`
    : content;
}

/** Returns the matches of a search, grouped by file. */
export function geminiGrepText({ data, args, given, call, plain }: RenderInput<GrepArgs, GrepData>): string {
  const pattern = escapeControls(args.pattern);
  const path = given["path"] ?? given["dir_path"];
  const include = given["include"] ?? given["include_pattern"];
  const within =
    (typeof path === "string" && path !== "."
      ? `in path "${escapeControls(path)}"`
      : "in the workspace directory") +
    (typeof include === "string" ? ` (filter: "${escapeControls(include)}")` : "");
  const { matches = [], total_matches: total } = data;
  if (matches.length === 0 && !data.complete) return plain();
  if (matches.length === 0) return `No matches found for pattern "${pattern}" ${within}.`;
  const count = `${total} match${total === 1 ? "" : "es"}`;
  const lines = [`Found ${count} for pattern "${pattern}" ${within}:`, "---"];
  let file: string | undefined;
  for (const row of grepRowsOf(matches).flat()) {
    if (row.path !== file) {
      if (file !== undefined) lines.push("---");
      file = row.path;
      lines.push(`File: ${escapeControls(file)}`);
    }
    lines.push(`L${row.line}${row.hit ? ":" : "-"} ${row.text}`);
  }
  lines.push("---");
  if (data.truncated || !data.complete)
    lines.push(closingLine(data, args as Parameters<typeof closingLine>[1], call.names));
  return lines.join("\n");
}

const GEMINI_IGNORE_FILE = ".geminiignore";

function respectedIgnoreFiles(given: Arguments): { readonly others: boolean; readonly own: boolean } {
  const options = (given["file_filtering_options"] ?? given) as Arguments;
  return {
    others: options["respect_git_ignore"] !== false,
    own: options["respect_gemini_ignore"] !== false,
  };
}

/**
 * The part of a tool's specification by which arguments select the ignore files. By default all are
 * respected.
 */
export const geminiIgnore: Required<Pick<ToolSpec, "arrange" | "ignoreFiles">> = Object.freeze({
  arrange(args: Arguments, given: Arguments): Arguments {
    if (args["respect_ignore"] === undefined) return args;
    const { others, own } = respectedIgnoreFiles(given);
    return { ...args, respect_ignore: args["respect_ignore"] !== false || (own && !others) };
  },
  ignoreFiles(files: readonly string[], given: Arguments): readonly string[] {
    const { others, own } = respectedIgnoreFiles(given);
    return [
      ...(others ? files : []),
      ...(own && !files.includes(GEMINI_IGNORE_FILE) ? [GEMINI_IGNORE_FILE] : []),
    ];
  },
});
