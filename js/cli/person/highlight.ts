/**
 * Finds the ranges of matches within the lines of a search result.
 *
 * The engine reports only the column of the first match of a line. The pattern is therefore run
 * once more here, as a JavaScript regular expression, and used only when it matches at that
 * column. JavaScript's engine may need exponential time, so it runs with a time limit, after which
 * nothing is highlighted.
 */
import { createContext, Script } from "node:vm";
import type { GrepMatch } from "../../tools/grep/types.ts";

/** Begin and end of a match in the lines of one result, joined by line feeds. UTF-16 offsets. */
export type Range = readonly [from: number, to: number];

/** The arguments of a search that decide what matches. */
export interface Pattern {
  readonly pattern: string;
  readonly regex?: boolean | undefined;
  readonly case?: string | undefined;
  readonly word?: unknown;
}

const TIME_LIMIT_MS = 200;
/** The maximum number of highlighted ranges in one line. */
const MAX_RANGES = 100;

const FIND = new Script(`lines.map((line) => {
  expression.lastIndex = 0;
  const ranges = [];
  for (let found; ranges.length < ${MAX_RANGES} && (found = expression.exec(line)) !== null; ) {
    if (found[0] === "") expression.lastIndex += 1;
    else ranges.push([found.index, found.index + found[0].length]);
  }
  return ranges;
})`);

/** Returns the ranges of each match; empty when they are not certain. */
export function rangesOf(matches: readonly GrepMatch[], wanted: Pattern): readonly (readonly Range[])[] {
  const expression = expressionOf(wanted);
  const none = matches.map(() => []);
  if (expression === undefined) return none;
  const lines = matches.map(({ text, rest = [] }) => [text, ...rest].join("\n"));
  try {
    const context = createContext({ lines, expression });
    const found = FIND.runInContext(context, { timeout: TIME_LIMIT_MS }) as Range[][];
    return matches.map((match, index) => (isSame(match, found[index]?.[0]) ? (found[index] ?? []) : []));
  } catch {
    return none;
  }
}

/** Returns true when JavaScript found the same match as the engine. A truncated line begins elsewhere. */
function isSame({ text, column }: GrepMatch, first: Range | undefined): boolean {
  if (first === undefined) return false;
  return text.startsWith("…") || [...text.slice(0, first[0])].length + 1 === column;
}

/** Returns the pattern in JavaScript; undefined when it has no equivalent. */
function expressionOf({ pattern, regex, case: letters, word }: Pattern): RegExp | undefined {
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
