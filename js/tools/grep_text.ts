/** The text of a search: `path:line:text`, and what is said about the rest. */
import type { CheckedGrepArgs, GrepData } from "./grep.ts";
import { assign, type Names, where } from "./names.ts";
import { escapeControls } from "./text.ts";

/** The lines of the text that each result makes. Context that two results share is shown once. */
export function linesOf(data: GrepData): string[][] {
  if (data.files !== undefined) return data.files.map((file) => [escapeControls(file)]);
  if (data.counts !== undefined)
    return data.counts.map(({ path: where, count }) => [`${escapeControls(where)}:${count}`]);
  const matches = data.matches ?? [];
  let [file, name, shown] = ["", "", 0];
  return matches.map((match, index) => {
    // By rank, lines of a file need not ascend.
    if (match.path !== file || index === 0 || match.line < shown)
      [file, name, shown] = [match.path, escapeControls(match.path), 0];
    const { line, text: content, before = [], after = [] } = match;
    const group: string[] = [];
    const context = (at: number, content_: string): void => {
      if (at <= shown) return;
      shown = at;
      group.push(`${name}-${at}-${content_}`);
    };
    before.forEach((content_, at) => {
      context(line - before.length + at, content_);
    });
    group.push(`${name}:${line}:${content}`);
    shown = Math.max(shown, match.end_line ?? line);
    const next = matches[index + 1];
    const end = next?.path === file && next.line > line ? next.line : Number.POSITIVE_INFINITY;
    after.forEach((content_, at) => {
      const number = (match.end_line ?? line) + 1 + at;
      if (number < end) context(number, content_);
    });
    return group;
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
