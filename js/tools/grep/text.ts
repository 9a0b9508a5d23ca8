/**
 * The text of the answer of `grep`: lines such as `path:line:text`, many lines of one file below its path, and a last
 * line about results that are not shown.
 */
import type { CheckedArgs } from "../generated/internal.ts";
import type { GrepData, GrepMatch } from "../generated/types.ts";
import { plainParenthesesHint } from "../render/left-out.ts";
import { assignmentPhrase, type ReaderNames, phraseIfNamed, set, settingPhrase } from "../lib/tool.ts";
import { escapeControls, plural } from "../../engine/escape.ts";

/** The number of lines of one file from which its path stands once, above them: the repetitions are a quarter of a text. */
const MIN_LINES_BELOW_PATH = 6;

/**
 * Returns the lines of text of each result. A line of a file that two results share is shown once; a matching
 * line is never shown as context.
 */
export function resultLines(data: GrepData): string[][] {
  return pathLines(data) ?? linesByFile(grepRowsOf(data.matches ?? []));
}

/** Returns the same with the path on each line, as other programs print it. */
function flatResultLines(data: GrepData): string[] {
  return (
    pathLines(data)?.flat() ??
    grepRowsOf(data.matches ?? [])
      .flat()
      .map(flatLine)
  );
}

/** Returns the lines of an answer that has paths or counts; undefined for one that has matches. */
function pathLines({ files, counts }: GrepData): string[][] | undefined {
  return (
    files?.map((file) => [escapeControls(file)]) ??
    counts?.map(({ path: where, count }) => [`${escapeControls(where)}:${count}`])
  );
}

/**
 * Returns the lines of text of each result in `results`. From {@link MIN_LINES_BELOW_PATH} successive lines of one
 * file on, the first result of the file begins with its path.
 */
export function linesByFile(results: readonly (readonly GrepRow[])[]): string[][] {
  const lines: string[][] = [];
  for (let from = 0, to = 0; from < results.length; from = to) {
    const path = results[from]?.[0]?.path;
    let count = 0;
    for (; to < results.length && results[to]?.[0]?.path === path; to++) count += results[to]?.length ?? 0;
    const below = count >= MIN_LINES_BELOW_PATH;
    for (const rows of results.slice(from, to)) lines.push(rows.map(below ? lineBelowPath : flatLine));
    if (below) lines[from]?.unshift(escapeControls(path ?? ""));
  }
  return lines;
}

const separatorOf = ({ hit }: GrepRow): string => (hit ? ":" : "-");

const lineBelowPath = (row: GrepRow): string => `${row.line}${separatorOf(row)}${row.text}`;

const flatLine = (row: GrepRow): string =>
  `${escapeControls(row.path)}${separatorOf(row)}${lineBelowPath(row)}`;

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
export function grepText(data: GrepData, args: CheckedArgs["grep"], names: ReaderNames): string {
  const lines = resultLines(data).flat();
  if (lines.length === 0) return nothingFoundText(data, args, names);
  if (data.truncated || !data.complete) lines.push(closingLine(data, args, names));
  return lines.join("\n");
}

/** Returns the text of {@link grepText} with the path on each line. */
export function flatGrepText(data: GrepData, text: string): string {
  const notes = text.split("\n").slice(resultLines(data).flat().length);
  return [...flatResultLines(data), ...notes].join("\n");
}

/** Returns the text for a search that found nothing, with a hint where there is one. */
function nothingFoundText(data: GrepData, args: CheckedArgs["grep"], names: ReaderNames): string {
  const shown = args.pattern.length > 100 ? `${args.pattern.slice(0, 100)}…` : args.pattern;
  const searched = data.complete
    ? `No matches for '${escapeControls(shown)}' in ${plural(data.files_searched, "file")}`
    : `Not finished: no match for '${escapeControls(shown)}' in the first ${plural(data.files_searched, "file")}`;
  // Files that were too large or unreadable are reported by the warnings of the answer.
  const passed = data.skipped_binary > 0 ? ` (passed over: ${data.skipped_binary} binary)` : "";
  const hint = nothingFoundHint(data, args, names);
  const told = `${searched}${passed}${hint === undefined ? "" : `\n[${hint}]`}`;
  return data.complete ? told : `${told}\n${closingLine(data, args, names)}`;
}

/** Returns a hint why a search found nothing; undefined when no reason is apparent. */
function nothingFoundHint(
  data: GrepData,
  { pattern, regex, glob }: CheckedArgs["grep"],
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
    const times = plural(found.count, "time");
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
export function closingLine(data: GrepData, args: CheckedArgs["grep"], names: ReaderNames): string {
  const shown = data.matches?.length ?? data.files?.length ?? data.counts?.length ?? 0;
  const results = (count: number): string =>
    args.output === "content" ? plural(count, "match", "matches") : plural(count, "file");
  const next =
    data.next_cursor === undefined ? undefined : assignmentPhrase(names, "cursor", data.next_cursor);
  const onward = phraseIfNamed(next, (assigned) => `; continue with ${assigned}`);
  if (data.incomplete_reason === "timeout")
    return `[truncated: stopped after ${args.timeout_ms} ms with ${results(shown)}${onward}]`;
  if (data.incomplete_reason === "max_per_file" && !data.truncated)
    return `[there is more: at most ${plural(args.max_per_file ?? 0, "match", "matches")} a file ${args.max_per_file === 1 ? "is" : "are"} shown]`;
  if (data.incomplete_reason === "max_results")
    return `[limit of ${results(args.max_results)} reached, there is more${onward}]`;
  const total = args.output === "content" ? data.total_matches : data.files_with_matches;
  return `[truncated: the first ${shown} of ${data.complete ? "" : "at least "}${results(total)}${onward}]`;
}
