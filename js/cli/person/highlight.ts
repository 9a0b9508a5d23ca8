/**
 * Finds which parts of the lines of a search result match, for highlighting.
 *
 * The engine reports only the column of the first match of a line. So the pattern is run again as a
 * JavaScript regular expression, and its result is used only if it matches at that column, too. JavaScript
 * may need exponential time for a pattern, so it runs with a time limit; beyond the limit nothing is
 * highlighted.
 */
import { createContext, Script } from "node:vm";
import type { GrepMatch } from "../../tools/index.ts";

/** The beginning and the end of a match, as UTF-16 offsets in the lines of one result joined by line feeds. */
export type HighlightRange = readonly [from: number, to: number];

/** The arguments of a search on which its matches depend. */
export interface SearchPattern {
  readonly pattern: string;
  readonly regex?: boolean | undefined;
  readonly case?: string | undefined;
  readonly word?: unknown;
}

const MAX_MATCHING_MS = 200;
/** The maximum number of ranges that are highlighted in one line. */
const MAX_RANGES_PER_LINE = 100;

const FIND_RANGES_SCRIPT = new Script(`lines.map((line) => {
  expression.lastIndex = 0;
  const ranges = [];
  for (let found; ranges.length < ${MAX_RANGES_PER_LINE} && (found = expression.exec(line)) !== null; ) {
    if (found[0] === "") expression.lastIndex += 1;
    else ranges.push([found.index, found.index + found[0].length]);
  }
  return ranges;
})`);

/** Returns the ranges to highlight for each result; empty when they are not certain. */
export function highlightRangesOf(
  matches: readonly GrepMatch[],
  wanted: SearchPattern,
): readonly (readonly HighlightRange[])[] {
  const expression = toRegExp(wanted);
  const none = matches.map(() => []);
  if (expression === undefined) return none;
  const lines = matches.map(({ text, rest = [] }) => [text, ...rest].join("\n"));
  try {
    const context = createContext({ lines, expression });
    const found = FIND_RANGES_SCRIPT.runInContext(context, {
      timeout: MAX_MATCHING_MS,
    }) as HighlightRange[][];
    return matches.map((match, index) =>
      isReportedMatch(match, found[index]?.[0]) ? (found[index] ?? []) : [],
    );
  } catch {
    return none;
  }
}

/**
 * Returns true when JavaScript's first match is the one that the engine reported. In a truncated line the
 * columns differ.
 */
function isReportedMatch({ text, column }: GrepMatch, first: HighlightRange | undefined): boolean {
  if (first === undefined) return false;
  return text.startsWith("…") || [...text.slice(0, first[0])].length + 1 === column;
}

/** Returns the pattern as a JavaScript regular expression; undefined when there is no equivalent. */
function toRegExp({ pattern, regex, case: letters, word }: SearchPattern): RegExp | undefined {
  const [, inline = "", rest = pattern] =
    regex === false ? [] : (/^\(\?([ims]+)\)(.*)$/su.exec(pattern) ?? []);
  const plain =
    regex === false ? pattern.replaceAll(/[\\^$.*+?()[\]{}|/-]/gu, "\\$&") : rest.replaceAll("(?P<", "(?<");
  const source = word === true ? `(?<![\\p{L}\\p{N}_])(?:${plain})(?![\\p{L}\\p{N}_])` : plain;
  const ignoresCase =
    letters === "insensitive" || (letters === "smart" && !/\p{Lu}/u.test(pattern)) || inline.includes("i");
  const flags = `gmu${ignoresCase ? "i" : ""}${inline.includes("s") ? "s" : ""}`;
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}
