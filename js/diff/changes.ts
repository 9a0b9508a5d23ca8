/** What differs, as a list of stretches: by lines, words, characters and other tokens. */
import { textEngine } from "../engine/current.ts";
import { type Bounds, edits, ofHunks, type Stretch, stretches } from "./tokens.ts";

/** A stretch of text. `count` is in tokens: lines, words or characters. */
export interface ChangeObject<T = string> {
  readonly value: T;
  readonly count: number;
  readonly added: boolean;
  readonly removed: boolean;
}

/** Takes a result later; undefined where a bound was passed. */
export type Callback<T> = (result: T) => void;

/** How long to search, and where the result goes. */
export interface SearchOptions<T = ChangeObject[]> extends Bounds {
  /** Is given the result later; the call itself gives undefined then. */
  readonly callback?: Callback<T> | undefined;
}

/** How tokens are told apart. */
export interface TokenOptions<T = ChangeObject[]> extends SearchOptions<T> {
  /** Upper and lower case are the same. */
  readonly ignoreCase?: boolean | undefined;
  /** One change for each token, neighbours of one fate are not put together. */
  readonly oneChangePerToken?: boolean | undefined;
}

/** How lines are compared. */
export interface LineOptions<T = ChangeObject[]> extends TokenOptions<T> {
  /** Lines that differ only in white space at their ends are the same. */
  readonly ignoreWhitespace?: boolean | undefined;
  /** CRLF is LF. */
  readonly stripTrailingCr?: boolean | undefined;
  /** A line end is a token of its own. */
  readonly newlineIsToken?: boolean | undefined;
  /** A last line without a line end is the same as one with it. */
  readonly ignoreNewlineAtEof?: boolean | undefined;
}

/** What a call gives: nothing where a callback takes it, and perhaps nothing where a bound is set. */
export type Given<T, O> = O extends ((...given: never[]) => unknown) | { readonly callback: Callback<T> }
  ? undefined
  : O extends { readonly maxEditLength: number } | { readonly timeout: number }
    ? T | undefined
    : T;

/** Compares line by line; each value ends with its line end. */
export function diffLines<O extends LineOptions | Callback<ChangeObject[]> = LineOptions>(
  before: string,
  after: string,
  options?: O,
): Given<ChangeObject[], O> {
  const given = optionsOf<LineOptions>(options);
  const [old, made] = given.stripTrailingCr === true ? [plain(before), plain(after)] : [before, after];
  const { ignoreWhitespace = false, newlineIsToken = false, ignoreNewlineAtEof = false } = given;
  const isEngines = !(ignoreWhitespace || newlineIsToken || ignoreNewlineAtEof || given.ignoreCase === true);
  const key = (line: string): string => {
    if (ignoreWhitespace) return newlineIsToken && line.includes("\n") ? line : line.trim();
    return ignoreNewlineAtEof && !newlineIsToken ? line.replace(/\n$/u, "") : line;
  };
  const tokens = newlineIsToken ? linesAndEnds : linesOf;
  return answer(given, (): ChangeObject[] | undefined => {
    const [olds, news] = [tokens(old), tokens(made)];
    if (!isEngines) return changes(olds, news, key, given);
    const { hunks } = textEngine().diff(old, made, {
      context: 0,
      algorithm: "myers",
      lineEnds: "raw",
    });
    const list = ofHunks(hunks, olds.length);
    return edits(list) > (given.maxEditLength ?? Infinity)
      ? undefined
      : valued(list, olds, news, given, joined);
  }) as Given<ChangeObject[], O>;
}

/** Compares word by word; white space and each line end are words of their own. */
export function diffWordsWithSpace<O extends TokenOptions | Callback<ChangeObject[]> = TokenOptions>(
  before: string,
  after: string,
  options?: O,
): Given<ChangeObject[], O> {
  const given = optionsOf<TokenOptions>(options);
  const words = (text: string): string[] => text.match(WORDS_WITH_SPACE) ?? [];
  return answer(given, () => changes(words(before), words(after), same, given)) as Given<ChangeObject[], O>;
}

/** Compares character by character (code points). */
export function diffChars<O extends TokenOptions | Callback<ChangeObject[]> = TokenOptions>(
  before: string,
  after: string,
  options?: O,
): Given<ChangeObject[], O> {
  const given = optionsOf<TokenOptions>(options);
  return answer(given, () => changes([...before], [...after], same, given)) as Given<ChangeObject[], O>;
}

/** The letters and digits of a word: Latin ones, as jsdiff has them. */
export const LETTERS =
  "a-zA-Z0-9_\\u{AD}\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2C6}\\u{2C8}-\\u{2D7}\\u{2DE}-\\u{2FF}\\u{1E00}-\\u{1EFF}";
const WORDS_WITH_SPACE = new RegExp(`\\r?\\n|[${LETTERS}]+|[^\\S\\n\\r]+|[^${LETTERS}]`, "gu");

/** Options where a callback may stand for them. */
export function optionsOf<O extends SearchOptions<never>>(options: unknown): O {
  return (typeof options === "function" ? { callback: options } : (options ?? {})) as O;
}

/** The result, or undefined where the callback is given it in a later turn. */
export function answer<T>(
  { callback }: { readonly callback?: Callback<never> | undefined },
  work: () => T,
): T | undefined {
  if (callback === undefined) return work();
  setTimeout(() => (callback as Callback<T>)(work()), 0);
  return undefined;
}

/** The changes between two texts of tokens that are the same where their keys are. */
export function changes(
  olds: readonly string[],
  news: readonly string[],
  key: (token: string) => string,
  options: TokenOptions<never>,
  join: (tokens: readonly string[]) => string = joined,
): ChangeObject[] | undefined {
  const keyed = options.ignoreCase === true ? (token: string) => key(token).toLowerCase() : key;
  const list = stretches(olds.map(keyed), news.map(keyed), options);
  return list === undefined ? undefined : valued(list, olds, news, options, join);
}

/** Stretches with their values; what both sides have is given as the new side has it, or as `kept` chooses. */
export function valued<Token, Value>(
  list: readonly Stretch[],
  olds: readonly Token[],
  news: readonly Token[],
  { oneChangePerToken }: Pick<TokenOptions, "oneChangePerToken">,
  join: (tokens: readonly Token[]) => Value,
  kept: (old: Token, made: Token) => Token = (_, made) => made,
): ChangeObject<Value>[] {
  const made: ChangeObject<Value>[] = [];
  let [at, next] = [0, 0];
  const both = (count: number): Token[] =>
    news.slice(next, next + count).map((token, n) => kept(olds[at + n] as Token, token));
  for (const { fate, count: all } of list) {
    const [added, removed] = [fate === "added", fate === "removed"];
    const step = oneChangePerToken === true ? 1 : all;
    for (let done = 0; done < all; done += step) {
      const tokens = removed ? olds.slice(at, at + step) : added ? news.slice(next, next + step) : both(step);
      made.push({ value: join(tokens), count: step, added, removed });
      if (!added) at += step;
      if (!removed) next += step;
    }
  }
  return made;
}

/** A token is its own key. */
export function same(token: string): string {
  return token;
}

/** Tokens as one text. */
export function joined(tokens: readonly string[]): string {
  return tokens.join("");
}

/** The text with LF for CRLF. */
export function plain(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** Lines with their ends; no empty one after the last. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/gu) ?? [];
}

/** Lines and line ends, each a token; an empty line is none. */
function linesAndEnds(text: string): string[] {
  return text.split(/(\r\n|\n)/u).filter((token) => token !== "");
}
