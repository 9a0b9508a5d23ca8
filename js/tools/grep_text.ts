/** The text of a search: `path:line:text`, and what is said about the rest. */
import type { CheckedGrepArgs, GrepData, GrepMatch } from "./grep.ts";
import { assign, type Names, where } from "./names.ts";
import { escapeControls } from "./text.ts";

/** The text lines of each result. A file's line is shown once: as a match where any match covers it. */
export function linesOf(data: GrepData): string[][] {
  if (data.files !== undefined) return data.files.map((file) => [escapeControls(file)]);
  if (data.counts !== undefined)
    return data.counts.map(({ path: where, count }) => [`${escapeControls(where)}:${count}`]);
  return rowsOf(data.matches ?? []).map((rows) =>
    rows.map(({ path, line, text, hit }) => {
      const separator = hit ? ":" : "-";
      return `${escapeControls(path)}${separator}${line}${separator}${text}`;
    }),
  );
}

/** One line of a search's answer: part of a match, or context. */
export interface Row {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  /** Whether the line belongs to a match. */
  readonly hit: boolean;
}

/** The rows of each match, in its order: context before, the lines of the match, context after. */
export function rowsOf(matches: readonly GrepMatch[]): readonly Row[][] {
  let file = "";
  let shown = 0;
  return matches.map((match, index) => {
    const { path, line, text, end_line: end = line, rest = [], before = [], after = [] } = match;
    // Ordered by rank, the lines of a file need not ascend.
    if (path !== file || index === 0 || line < shown) [file, shown] = [path, 0];
    const numbered = (first: number, texts: readonly string[], hit: boolean): Row[] =>
      texts.map((content, at) => ({ path, line: first + at, text: content, hit }));
    const next = matches[index + 1];
    const until = next?.path === path && next.line > line ? next.line : Number.POSITIVE_INFINITY;
    const rows = [
      ...numbered(line - before.length, before, false).filter((row) => row.line > shown),
      ...numbered(line, [text, ...rest], true),
      ...numbered(end + 1, after, false).filter((row) => row.line < until),
    ];
    shown = rows.at(-1)?.line ?? shown;
    return rows;
  });
}

/** What is said where nothing was found. */
export function nothing(data: GrepData, args: CheckedGrepArgs, names: Names): string {
  const shown = args.pattern.length > 100 ? `${args.pattern.slice(0, 100)}…` : args.pattern;
  const searched = `No matches for '${escapeControls(shown)}' in ${data.files_searched} files`;
  const skipped = [
    data.skipped_binary > 0 ? `${data.skipped_binary} binary` : "",
    data.skipped_large > 0 ? `${data.skipped_large} too large` : "",
    data.unreadable > 0 ? `${data.unreadable} unreadable` : "",
  ].filter(Boolean);
  const passed = skipped.length === 0 ? "" : ` (passed over: ${skipped.join(", ")})`;
  return data.complete ? searched + passed : `${searched}${passed}\n${closing(data, args, names)}`;
}

/** The last line of an answer that is not everything. */
export function closing(data: GrepData, args: CheckedGrepArgs, names: Names): string {
  const shown = data.matches?.length ?? data.files?.length ?? data.counts?.length ?? 0;
  const what = args.output === "content" ? "matches" : "files";
  const next = data.next_cursor === undefined ? undefined : assign(names, "cursor", data.next_cursor);
  const onward = where(next, (assigned) => `; continue with ${assigned}`);
  if (data.incomplete_reason === "timeout")
    return `[truncated: stopped after ${args.timeout_ms} ms with ${shown} ${what}${onward}]`;
  if (data.incomplete_reason === "max_per_file" && !data.truncated)
    return `[there is more: at most ${args.max_per_file} matches a file are shown]`;
  if (data.incomplete_reason === "max_results")
    return `[limit of ${args.max_results} ${what} reached, there is more${onward}]`;
  return `[truncated: the first ${shown} of ${data.total_matches} ${what}${onward}]`;
}
