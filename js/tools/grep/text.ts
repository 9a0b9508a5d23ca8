/**
 * The text of the answer of `grep`: lines such as `path:line:text`, and a last line about results that are
 * not shown.
 */
import type { CheckedGrepArgs, GrepData, GrepMatch } from "./types.ts";
import { plainParenthesesHint } from "../render/left-out.ts";
import { assignmentPhrase, type ReaderNames, phraseIfNamed, set, settingPhrase } from "../lib/tool.ts";
import { escapeControls } from "../../engine/escape.ts";

/**
 * Returns the lines of text of each result. A line of a file that two results share is shown once; a matching
 * line is never shown as context.
 */
export function resultLines(data: GrepData): string[][] {
  if (data.files !== undefined) return data.files.map((file) => [escapeControls(file)]);
  if (data.counts !== undefined)
    return data.counts.map(({ path: where, count }) => [`${escapeControls(where)}:${count}`]);
  return grepRowsOf(data.matches ?? []).map((rows) =>
    rows.map(({ path, line, text, hit }) => {
      const separator = hit ? ":" : "-";
      return `${escapeControls(path)}${separator}${line}${separator}${text}`;
    }),
  );
}

/** One line of a search's answer: part of a match, or context. */
export interface GrepRow {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  /** True when the line belongs to a match. */
  readonly hit: boolean;
}

/** Returns the rows of each match in their order: context before it, the lines of the match, context after it. */
export function grepRowsOf(matches: readonly GrepMatch[]): readonly GrepRow[][] {
  let file = "";
  let shown = 0;
  return matches.map((match, index) => {
    const { path, line, text, end_line: end = line, rest = [], before = [], after = [] } = match;
    // Under a rank order, matches of one file can come in any line order.
    if (path !== file || index === 0 || line < shown) [file, shown] = [path, 0];
    const numbered = (first: number, texts: readonly string[], hit: boolean): GrepRow[] =>
      texts.map((content, at) => ({ path, line: first + at, text: content, hit }));
    const next = matches[index + 1];
    const until = next?.path === path && next.line > line ? next.line : Number.POSITIVE_INFINITY;
    const first = Math.max(line - before.length, Math.min(shown + 1, line));
    const rows = [
      ...numbered(first, before.slice(before.length - (line - first)), false),
      ...numbered(line, [text, ...rest], true),
      ...numbered(end + 1, after.slice(0, Math.max(0, until - end - 1)), false),
    ];
    shown = rows.at(-1)?.line ?? shown;
    return rows;
  });
}

/**
 * Returns the text of an answer: its results, or a sentence that there are none, and a last line when results
 * are missing.
 */
export function grepText(data: GrepData, args: CheckedGrepArgs, names: ReaderNames): string {
  const lines = resultLines(data).flat();
  if (lines.length === 0) return nothingFoundText(data, args, names);
  if (data.truncated || !data.complete) lines.push(closingLine(data, args, names));
  return lines.join("\n");
}

/** Returns the text for a search that found nothing, with a hint where there is one. */
function nothingFoundText(data: GrepData, args: CheckedGrepArgs, names: ReaderNames): string {
  const shown = args.pattern.length > 100 ? `${args.pattern.slice(0, 100)}…` : args.pattern;
  const searched = data.complete
    ? `No matches for '${escapeControls(shown)}' in ${data.files_searched} files`
    : `Not finished: no match for '${escapeControls(shown)}' in the first ${data.files_searched} files`;
  // Files that were too large or unreadable are reported by the warnings of the answer.
  const passed = data.skipped_binary > 0 ? ` (passed over: ${data.skipped_binary} binary)` : "";
  const hint = nothingFoundHint(data, args, names);
  const told = `${searched}${passed}${hint === undefined ? "" : `\n[${hint}]`}`;
  return data.complete ? told : `${told}\n${closingLine(data, args, names)}`;
}

/** Returns a hint why a search found nothing; undefined when no reason is apparent. */
function nothingFoundHint(
  data: GrepData,
  { pattern, regex, glob }: CheckedGrepArgs,
  names: ReaderNames,
): string | undefined {
  const list = typeof glob === "string" && data.files_searched === 0 ? unmatchedGlobHint(glob) : undefined;
  if (list !== undefined)
    return `no file was searched: no path matches ${phraseIfNamed(names.argument("glob"), (name) => `${name} `)}'${escapeControls(String(glob))}'; ${list}`;
  const slashed = /^\/(.+)\/([a-z]*)$/u.exec(pattern);
  if (slashed !== null) {
    const [, inner = "", flags = ""] = slashed;
    const aside = flags.includes("i")
      ? phraseIfNamed(assignmentPhrase(names, "case", "insensitive"), (assigned) => ` with ${assigned}`)
      : "";
    return `the pattern was searched with its slashes; send ${escapeControls(inner)}${aside}`;
  }
  const { as_text: found } = data;
  if (regex && found !== undefined && found.count > 0) {
    const place = `${escapeControls(found.path)}:${found.line}`;
    const times = found.count === 1 ? "1 time" : `${found.count} times`;
    return `as plain text it is there ${times} (${place})${phraseIfNamed(settingPhrase(names, set("regex", false)), (plain) => `; send ${plain}, or escape ( ) [ ] { } . * + ? by a backslash`)}`;
  }
  return undefined;
}

/**
 * Returns a hint why a glob matched nothing, for forms that other programs read differently; undefined for an
 * ordinary glob.
 */
export function unmatchedGlobHint(glob: string): string | undefined {
  return plainParenthesesHint(glob) ?? severalGlobsHint(glob);
}

/**
 * Returns a hint how to pass several globs, for a glob with a comma outside braces and brackets; undefined
 * for any other.
 */
function severalGlobsHint(glob: string): string | undefined {
  const outside = glob.replaceAll(/\{[^{}]*\}|\[[^\]]*\]/gu, (group) => "x".repeat(group.length));
  if (!/[^,]\s*,\s*[^,]/u.test(outside)) return undefined;
  const parts: string[] = [];
  let from = 0;
  for (let at = outside.indexOf(","); at >= 0; at = outside.indexOf(",", from)) {
    parts.push(glob.slice(from, at).trim());
    from = at + 1;
  }
  parts.push(glob.slice(from).trim());
  return `several globs are a list: ${escapeControls(JSON.stringify(parts))}`;
}

/**
 * Returns the last line of an answer that is truncated or incomplete: how much is shown, and how to get the
 * rest.
 */
export function closingLine(data: GrepData, args: CheckedGrepArgs, names: ReaderNames): string {
  const shown = data.matches?.length ?? data.files?.length ?? data.counts?.length ?? 0;
  const what = args.output === "content" ? "matches" : "files";
  const next =
    data.next_cursor === undefined ? undefined : assignmentPhrase(names, "cursor", data.next_cursor);
  const onward = phraseIfNamed(next, (assigned) => `; continue with ${assigned}`);
  if (data.incomplete_reason === "timeout")
    return `[truncated: stopped after ${args.timeout_ms} ms with ${shown} ${what}${onward}]`;
  if (data.incomplete_reason === "max_per_file" && !data.truncated)
    return `[there is more: at most ${args.max_per_file} matches a file are shown]`;
  if (data.incomplete_reason === "max_results")
    return `[limit of ${args.max_results} ${what} reached, there is more${onward}]`;
  const total = args.output === "content" ? data.total_matches : data.files_with_matches;
  return `[truncated: the first ${shown} of ${data.complete ? "" : "at least "}${total} ${what}${onward}]`;
}
