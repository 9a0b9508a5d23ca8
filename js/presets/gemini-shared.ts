/**
 * The parts that both presets of Gemini share: the texts of reads, which report truncation first, and of
 * searches, which group matches by file; and the ignore files of Gemini CLI.
 */
import { closingLine, grepRowsOf } from "../tools/grep/text.ts";
import type { GrepArgs, GrepData, ReadFileArgs, ReadFileData, ToolName } from "../tools/index.ts";
import { readFileAnswerText } from "../tools/read/text.ts";
import { escapeControls, plural } from "../engine/escape.ts";
import {
  byArguments,
  call,
  calls,
  type Meaning,
  type Meant,
  type RenderInput,
  type Sent,
  type UsualMeaning,
} from "./meaning.ts";
import { param } from "./define.ts";
import { type Param, withHeadline } from "./preset.ts";
import { type Arguments, object } from "../tools/lib/schema.ts";
import { flag, texts } from "../tools/lib/shared.ts";

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
  const count = plural(total, "match", "matches");
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
    lines.push(closingLine(data, args as Parameters<typeof closingLine>[1], call.reader.names));
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
 * Returns a canonical call that respects the ignore files which the arguments of the preset select: by default
 * all.
 */
export function withGeminiIgnoreFiles(meant: Meant, { given }: Sent): Meant {
  const { others, own } = respectedIgnoreFiles(given);
  const { respect_ignore: respects } = meant.args;
  const args =
    respects === undefined
      ? meant.args
      : { ...meant.args, respect_ignore: respects !== false || (own && !others) };
  const ignoreFiles = (files: readonly string[]): readonly string[] => [
    ...(others ? files : []),
    ...(own && !files.includes(GEMINI_IGNORE_FILE) ? [GEMINI_IGNORE_FILE] : []),
  ];
  return { ...meant, args, ignoreFiles };
}

/** The meaning of a tool that searches or lists, and respects the ignore files of Gemini CLI. */
export function ignoring<Name extends ToolName>(of: Name, how: UsualMeaning<Name> = {}): Meaning {
  const usual = calls(of, how);
  return { ...usual, call: (sent) => withGeminiIgnoreFiles(usual.call(sent), sent) };
}

/**
 * The meaning of `replace`: an edit, and without old text a new file. `note` completes the text about the new
 * file.
 */
export function geminiReplacement(
  note: (given: Arguments, content: unknown) => string,
  edit: (args: Arguments) => Meant,
): Meaning {
  return byArguments(["edit_file", "write_file"], ({ args: edited, given }) => {
    if (given["old_string"] !== "") return edit(edited);
    return call("write_file", {
      args: { path: given["file_path"], content: given["new_string"], overwrite: false },
      text: ({ args: { path, content } }) =>
        `Created new file: ${escapeControls(path)} with provided content.${note(given, content)}`,
      refuse: ({ code, told }) =>
        code === "ALREADY_EXISTS"
          ? withHeadline("Failed to edit. Attempted to create a file that already exists.", told)
          : undefined,
    });
  });
}

/** The argument that names the ignore files which count. */
export const FILE_FILTERING: Param = param(
  "respect_ignore",
  {
    ...object(
      {
        respect_git_ignore: flag("Leave out what .gitignore names.", true),
        respect_gemini_ignore: flag("Leave out what .geminiignore names.", true),
      },
      [],
    ),
    description: "Which ignore files are minded.",
  },
  { convert: (value: { respect_git_ignore?: boolean }) => value.respect_git_ignore !== false },
);

/** The arguments of `read_many_files` that leave files out. */
export const READ_MANY_FILTERS: Readonly<Record<string, Param>> = {
  exclude: param("exclude", texts("Globs to leave out.")),
  recursive: param(
    "recursive",
    flag("False: of directories only the files directly in them; ** goes through no level.", true),
  ),
  useDefaultExcludes: param(
    "use_default_excludes",
    flag("Leave out dependencies, build output, archives and the like.", true),
  ),
  file_filtering_options: FILE_FILTERING,
};
