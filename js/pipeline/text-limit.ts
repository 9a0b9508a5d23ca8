/** The limits of the text of an answer: in bytes always, and in tokens where the call has `max_tokens`. */
import { FilewrightError } from "../engine/errors.ts";
import { plural } from "../engine/escape.ts";
import { cutToBytes, fitsInBytes, linesThatFit, maxAnswerBytes, utf8Length } from "../tools/lib/text.ts";
import type { CountTokens, TokenBudget } from "../tools/lib/tokens.ts";
import { type AnyReadingTool, type AnyTool, assignmentPhrase, type Call } from "../tools/lib/tool.ts";

/** The bytes by which the line about truncation may exceed the limit in bytes. */
const MAX_TRUNCATION_LINE_BYTES = 500;

/** The number of attempts with as many lines as the last text suggests. */
const MAX_SHRINK_ROUNDS = 8;

/** The limit of a text. */
export interface TextLimit {
  /** Returns true for a text within the limit. */
  fits(text: string): boolean;
  /** Returns true for a text that was shortened, which has a line about it. */
  fitsShortened(text: string): boolean;
  /** Returns how many lines of a text may fit. */
  linesThatFit(text: string): number;
  /** Returns the number of lines to try after `lines` were too many; 0 for no further try. */
  fewerLines(lines: number, fitting: number, round: number): number;
  /** Returns the beginning of a text that cannot be shortened by results. @throws FilewrightError LIMIT_EXCEEDED */
  cut(text: string): string;
  /** Returns the tokens of the text with the notes; undefined where the call does not limit them. */
  tokensOf(text: string): number | undefined;
}

/** Returns the limit of the text of a call, below which stands `tail`. */
export function textLimitOf(tool: AnyTool, args: object, call: Call, tail: string): TextLimit {
  const { max_tokens: most } = args as { readonly max_tokens?: number };
  const bytes = maxBytesOf(tool, args, call);
  if (most === undefined) return limitOfBytes(bytes);
  return limitOfTokens({ most, count: call.settings.tokens }, bytes, tail, call);
}

/** Returns the maximum size of the text of a call, in bytes. */
function maxBytesOf(tool: AnyTool, args: object, { settings: { limits } }: Call): number {
  const { fit } = (tool as AnyReadingTool).texts;
  return fit !== undefined && "maxTextBytes" in fit ? fit.maxTextBytes(args, limits) : maxAnswerBytes(limits);
}

function limitOfBytes(most: number): TextLimit {
  return {
    fits: (text) => fitsInBytes(text, most),
    fitsShortened: (text) => fitsInBytes(text, most + MAX_TRUNCATION_LINE_BYTES),
    linesThatFit: (text) => linesThatFit(text, most).lines,
    fewerLines: (lines, fitting, round) => (round < MAX_SHRINK_ROUNDS ? Math.min(lines - 1, fitting) : 0),
    cut(text) {
      const { end } = linesThatFit(text, most);
      const kept = end > 0 ? text.slice(0, end) : cutToBytes(text, most);
      return `${kept}\n[output cut at ${plural(most, "byte")}; truncated]`;
    },
    tokensOf: () => undefined,
  };
}

/** Returns a function that counts the same text as the last time without counting it again. */
function countingOnce(count: CountTokens): CountTokens {
  let last: { readonly text: string; readonly tokens: number } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, tokens: count(text) };
    return last.tokens;
  };
}

function limitOfTokens(
  { most, count: countAnew }: TokenBudget,
  bytes: number,
  tail: string,
  call: Call,
): TextLimit {
  const count = countingOnce(countAnew);
  const fits = (text: string): boolean => fitsInBytes(text, bytes) && count(text + tail) <= most;
  return {
    fits,
    // The line about truncation counts, too.
    fitsShortened: fits,
    linesThatFit(text) {
      const share = Math.floor((utf8Length(text) * most) / Math.max(1, count(text + tail)));
      return Math.max(1, linesThatFit(text, Math.min(bytes, share)).lines);
    },
    // Always goes on down to one line, because a text that is cut would lose results that no later call has.
    fewerLines: (lines, fitting, round) =>
      lines === 1 ? 0 : Math.max(1, round < MAX_SHRINK_ROUNDS ? Math.min(lines - 1, fitting) : lines >> 1),
    cut(text) {
      const needed = count(text + tail);
      const phrase = assignmentPhrase(call.reader.names, "max_tokens", needed);
      throw new FilewrightError("LIMIT_EXCEEDED", `The first result has ${plural(needed, "token")}`, {
        hint: phrase === undefined ? "ask for less" : `set ${phrase} or more`,
        details: { max_tokens: most, needed },
      });
    },
    tokensOf: (text) => count(text),
  };
}
