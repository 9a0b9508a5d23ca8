/** Compares texts and returns the differences as a list of parts: by lines, words, characters or other tokens. */
import { textEngine } from "../engine/current.ts";
import { type Bounds, editCount, runsOfHunks, type ChangedRun, changedRunsBetween } from "./tokens.ts";

/**
 * A part of a text: it is in both texts, was added, or was removed. `count` is the number of its tokens
 * (lines, words or characters).
 */
export interface ChangeObject<T = string> {
  readonly value: T;
  readonly count: number;
  readonly added: boolean;
  readonly removed: boolean;
}

/** Receives the result in a later turn of the event loop; undefined when a limit was exceeded. */
export type Callback<T> = (result: T) => void;

/** The limits of a comparison, and its callback. */
export interface SearchOptions<T = ChangeObject[]> extends Bounds {
  /** Receives the result later; the call itself then returns undefined. */
  readonly callback?: Callback<T> | undefined;
}

/** How tokens are compared, and how changes are returned. */
export interface TokenOptions<T = ChangeObject[]> extends SearchOptions<T> {
  /** True to ignore case. Default false. */
  readonly ignoreCase?: boolean | undefined;
  /**
   * True to return each token as a change of its own. Default false: neighbouring tokens with the same kind
   * of change are one.
   */
  readonly oneChangePerToken?: boolean | undefined;
}

/** How lines are compared. */
export interface LineOptions<T = ChangeObject[]> extends TokenOptions<T> {
  /** Ignore whitespace at both ends of lines. */
  readonly ignoreWhitespace?: boolean | undefined;
  /** Treat CRLF as LF. */
  readonly stripTrailingCr?: boolean | undefined;
  /** Make each line ending a token of its own. */
  readonly newlineIsToken?: boolean | undefined;
  /** Ignore whether the last line has a line ending. */
  readonly ignoreNewlineAtEof?: boolean | undefined;
}

/** The type of a call's result: undefined with a callback; may also be undefined when a limit is given. */
export type DiffResult<T, O> = O extends ((...given: never[]) => unknown) | { readonly callback: Callback<T> }
  ? undefined
  : O extends { readonly maxEditLength: number } | { readonly timeout: number }
    ? T | undefined
    : T;

/** Compares two texts line by line. Each line includes its line ending. */
export function diffLines<O extends LineOptions | Callback<ChangeObject[]> = LineOptions>(
  before: string,
  after: string,
  options?: O,
): DiffResult<ChangeObject[], O> {
  const given = withCallbackAsOption<LineOptions>(options);
  const [old, made] =
    given.stripTrailingCr === true ? [withLfEndings(before), withLfEndings(after)] : [before, after];
  const { ignoreWhitespace = false, newlineIsToken = false, ignoreNewlineAtEof = false } = given;
  const isEngines = !(ignoreWhitespace || newlineIsToken || ignoreNewlineAtEof || given.ignoreCase === true);
  const key = (line: string): string => {
    if (ignoreWhitespace) return newlineIsToken && line.includes("\n") ? line : line.trim();
    return ignoreNewlineAtEof && !newlineIsToken ? line.replace(/\n$/u, "") : line;
  };
  const tokens = newlineIsToken ? linesAndEndingsAsTokens : linesWithEndings;
  return returnOrCallBack(given, (): ChangeObject[] | undefined => {
    const [olds, news] = [tokens(old), tokens(made)];
    if (!isEngines) return changesBetween(olds, news, key, given);
    const { hunks } = textEngine().diff(old, made, {
      context: 0,
      algorithm: "myers",
      lineEnds: "raw",
    });
    const list = runsOfHunks(hunks, olds.length);
    return editCount(list) > (given.maxEditLength ?? Infinity)
      ? undefined
      : withValues(list, olds, news, given, joinTokens);
  }) as DiffResult<ChangeObject[], O>;
}

/** Compares two texts word by word. White space and each line ending count as words. */
export function diffWordsWithSpace<O extends TokenOptions | Callback<ChangeObject[]> = TokenOptions>(
  before: string,
  after: string,
  options?: O,
): DiffResult<ChangeObject[], O> {
  const given = withCallbackAsOption<TokenOptions>(options);
  const words = (text: string): string[] => text.match(WORD_OR_SPACE_TOKENS) ?? [];
  return returnOrCallBack(given, () =>
    changesBetween(words(before), words(after), tokenItself, given),
  ) as DiffResult<ChangeObject[], O>;
}

/** Compares two texts character by character, that is, by code points. */
export function diffChars<O extends TokenOptions | Callback<ChangeObject[]> = TokenOptions>(
  before: string,
  after: string,
  options?: O,
): DiffResult<ChangeObject[], O> {
  const given = withCallbackAsOption<TokenOptions>(options);
  return returnOrCallBack(given, () =>
    changesBetween([...before], [...after], tokenItself, given),
  ) as DiffResult<ChangeObject[], O>;
}

/** The letters and digits of which words consist, as a part of a regular expression: Latin ones, as in jsdiff. */
export const WORD_LETTERS_CLASS =
  "a-zA-Z0-9_\\u{AD}\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2C6}\\u{2C8}-\\u{2D7}\\u{2DE}-\\u{2FF}\\u{1E00}-\\u{1EFF}";
const WORD_OR_SPACE_TOKENS = new RegExp(
  `\\r?\\n|[${WORD_LETTERS_CLASS}]+|[^\\S\\n\\r]+|[^${WORD_LETTERS_CLASS}]`,
  "gu",
);

/** Returns the options of a call, which may be given as a callback alone. */
export function withCallbackAsOption<O extends SearchOptions<never>>(options: unknown): O {
  return (typeof options === "function" ? { callback: options } : (options ?? {})) as O;
}

/** Returns the result; with a callback it is passed to that in a later turn, and undefined is returned. */
export function returnOrCallBack<T>(
  { callback }: { readonly callback?: Callback<never> | undefined },
  work: () => T,
): T | undefined {
  if (callback === undefined) return work();
  setTimeout(() => (callback as Callback<T>)(work()), 0);
  return undefined;
}

/** Returns the changes between two lists of tokens. Tokens are equal when their keys are. */
export function changesBetween(
  olds: readonly string[],
  news: readonly string[],
  key: (token: string) => string,
  options: TokenOptions<never>,
  join: (tokens: readonly string[]) => string = joinTokens,
): ChangeObject[] | undefined {
  const keyed = options.ignoreCase === true ? (token: string) => key(token).toLowerCase() : key;
  const list = changedRunsBetween(olds.map(keyed), news.map(keyed), options);
  return list === undefined ? undefined : withValues(list, olds, news, options, join);
}

/**
 * Returns the parts with their values. A part in both texts has the value of the new text, or the one that
 * `kept` chooses.
 */
export function withValues<Token, Value>(
  list: readonly ChangedRun[],
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

/** Returns the token itself, for comparisons without a separate key. */
export function tokenItself(token: string): string {
  return token;
}

/** Returns the tokens joined to a text. */
export function joinTokens(tokens: readonly string[]): string {
  return tokens.join("");
}

/** Returns the text with every CRLF replaced by LF. */
export function withLfEndings(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/**
 * Returns the lines of a text with their line endings. A line ending at the end of the text begins no further
 * line.
 */
export function linesWithEndings(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/gu) ?? [];
}

/** Returns lines and line endings as separate tokens. Empty lines yield no token. */
function linesAndEndingsAsTokens(text: string): string[] {
  return text.split(/(\r\n|\n)/u).filter((token) => token !== "");
}
