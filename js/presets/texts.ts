/** Pieces of text that several presets share. */
import { childOf } from "../backends/paths.ts";
import type { FilewrightError } from "../engine/errors.ts";
import type { GrepMatch } from "../tools/grep.ts";
import type { Names } from "../tools/names.ts";
import type { Call } from "../tools/tool.ts";

/** A headline as another system words it, and below it what we know besides. */
export function headed(headline: string, told: string): string {
  return told === "" ? headline : `${headline}\n${told}`;
}

/** One line of a search's answer: a hit, or a line around one. */
export interface Row {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly hit: boolean;
}

/** The lines that hits and the lines around them make, each once. */
export function rowsOf(matches: readonly GrepMatch[]): readonly Row[] {
  let [file, shown] = ["", 0];
  return matches.flatMap((match, index) => {
    const { path, line, end_line: end = line, before = [], after = [] } = match;
    if (path !== file || index === 0) [file, shown] = [path, 0];
    const around = (first: number, texts: readonly string[]): Row[] =>
      texts.map((text, at) => ({ path, line: first + at, text, hit: false }));
    const next = matches[index + 1];
    const until = next?.path === path ? next.line : Number.POSITIVE_INFINITY;
    const rows = [
      ...around(line - before.length, before),
      { path, line, text: match.text, hit: true },
      ...around(end + 1, after).filter((row) => row.line < until),
    ].filter((row) => row.hit || row.line > shown);
    shown = Math.max(shown, rows.at(-1)?.line ?? 0, end);
    return rows;
  });
}

/** A diff without its last line end. */
export function shownDiff({ diff }: { readonly diff: string }): string {
  return diff.replace(/\n$/u, "");
}

/** A path of the data as an absolute one. */
export function absoluteIn(call: Call, path: string): string {
  return path.startsWith("/") ? path : path === "." ? call.access.cwd : childOf(call.access.cwd, path);
}

/** How often a text was found, as the refusal of an edit tells. */
export function foundTimes(error: FilewrightError): number {
  const found = error.details?.["found"];
  return typeof found === "number" ? found : 0;
}

/** The refusal of an ambiguous edit without the remedies that the reader does not have. */
export function editRefusal(error: FilewrightError, told: string, path: string, names: Names): string {
  if (error.code !== "MATCH_NOT_UNIQUE" || names.argument("replace_all") !== undefined) return told;
  const lines = error.details?.["lines"];
  const at = Array.isArray(lines) ? ` (lines ${lines.slice(0, MOST_LINES).join(", ")})` : "";
  return `${names.argument("old_text") ?? "The text"} occurs ${foundTimes(error)} times in ${path}${at}. Add surrounding lines to say which.`;
}

const MOST_LINES = 20;
