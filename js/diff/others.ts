/**
 * Further comparisons of jsdiff: by sentences, CSS tokens and JSON, and of lists; and conversions of changes
 * to other forms.
 */
import {
  returnOrCallBack,
  type Callback,
  type ChangeObject,
  changesBetween,
  diffLines,
  type DiffResult,
  type LineOptions,
  joinTokens,
  linesWithEndings,
  withCallbackAsOption,
  tokenItself,
  type SearchOptions,
  type TokenOptions,
  withValues,
} from "./changes.ts";
import { type IsSame, changedRunsBetween } from "./tokens.ts";

/** Compares like `diffLines` with `ignoreWhitespace`. */
export function diffTrimmedLines<O extends LineOptions | Callback<ChangeObject[]> = LineOptions>(
  before: string,
  after: string,
  options?: O,
): DiffResult<ChangeObject[], O> {
  const given = { ...withCallbackAsOption<LineOptions>(options), ignoreWhitespace: true };
  return diffLines(before, after, given) as DiffResult<ChangeObject[], O>;
}

/**
 * Compares two texts sentence by sentence. A sentence ends with `.`, `!` or `?` before white space; the white
 * space counts as a token.
 */
export function diffSentences<O extends TokenOptions | Callback<ChangeObject[]> = TokenOptions>(
  before: string,
  after: string,
  options?: O,
): DiffResult<ChangeObject[], O> {
  return diffByTokens(before, after, options, (text) => text.split(/(?<=[.!?])(\s+)/u));
}

/** Compares two CSS texts by their tokens: braces, `:`, `;`, `,`, white space, and the text between them. */
export function diffCss<O extends TokenOptions | Callback<ChangeObject[]> = TokenOptions>(
  before: string,
  after: string,
  options?: O,
): DiffResult<ChangeObject[], O> {
  return diffByTokens(before, after, options, (text) => text.split(/([{}:;,]|\s+)/u));
}

function diffByTokens<O extends TokenOptions | Callback<ChangeObject[]>>(
  before: string,
  after: string,
  options: O | undefined,
  split: (text: string) => string[],
): DiffResult<ChangeObject[], O> {
  const given = withCallbackAsOption<TokenOptions>(options);
  const tokens = (text: string): string[] => split(text).filter((token) => token !== "");
  return returnOrCallBack(given, () =>
    changesBetween(tokens(before), tokens(after), tokenItself, given),
  ) as DiffResult<ChangeObject[], O>;
}

/** How lists are compared. */
export interface ArrayOptions<T> extends SearchOptions<ChangeObject<T[]>[]> {
  readonly oneChangePerToken?: boolean | undefined;
  /** Returns true when an element of the old list equals one of the new list. Default `===`. */
  readonly comparator?: IsSame<T> | undefined;
}

/** Compares two lists element by element. */
export function diffArrays<T, O extends ArrayOptions<T> | Callback<ChangeObject<T[]>[]> = ArrayOptions<T>>(
  before: readonly T[],
  after: readonly T[],
  options?: O,
): DiffResult<ChangeObject<T[]>[], O> {
  const given = withCallbackAsOption<ArrayOptions<T>>(options);
  return returnOrCallBack(given, () => {
    const list = changedRunsBetween(before, after, given, given.comparator);
    return list === undefined ? undefined : withValues(list, before, after, given, (some) => [...some]);
  }) as DiffResult<ChangeObject<T[]>[], O>;
}

/** How values are converted to JSON before they are compared. */
export interface JsonOptions<T = ChangeObject[]> extends TokenOptions<T> {
  /** The text in place of an undefined value. */
  readonly undefinedReplacement?: unknown;
  /** Returns what is written in place of a value. If it is given, `undefinedReplacement` is ignored. */
  readonly stringifyReplacer?: ((key: string, value: unknown) => unknown) | undefined;
}

type JsonReplacer = NonNullable<JsonOptions["stringifyReplacer"]>;

/**
 * Compares two values line by line, after both are written as JSON with sorted keys. A string is taken for
 * JSON text.
 */
export function diffJson<O extends JsonOptions | Callback<ChangeObject[]> = JsonOptions>(
  before: string | object,
  after: string | object,
  options?: O,
): DiffResult<ChangeObject[], O> {
  const given = withCallbackAsOption<JsonOptions>(options);
  const replacer: JsonReplacer =
    given.stringifyReplacer ?? ((_key, value) => (value === undefined ? given.undefinedReplacement : value));
  const text = (value: string | object): string =>
    typeof value === "string"
      ? value
      : ((JSON.stringify(canonicalize(value, null, null, replacer), null, "  ") as string | undefined) ?? "");
  // A line also equals one that has a final comma: a comma is added only because a line was added after it.
  // It is shown if one side has it.
  const key = (line: string): string => {
    const without = line.replace(/,(\r?\n)$/u, "$1");
    return given.ignoreCase === true ? without.toLowerCase() : without;
  };
  const longer = (old: string, made: string): string => (old.length > made.length ? old : made);
  return returnOrCallBack(given, () => {
    const [olds, news] = [linesWithEndings(text(before)), linesWithEndings(text(after))];
    const list = changedRunsBetween(olds.map(key), news.map(key), given);
    return list === undefined ? undefined : withValues(list, olds, news, given, joinTokens, longer);
  }) as DiffResult<ChangeObject[], O>;
}

/**
 * Returns a copy of the value with sorted keys and without prototypes. Cyclic references are kept.
 *
 * @param stack objects on the way to this one, with `replacements` at the same indexes
 */
export function canonicalize(
  value: unknown,
  stack?: unknown[] | null,
  replacements?: unknown[] | null,
  replacer?: JsonReplacer,
  key = "",
): unknown {
  const [within, made] = [stack ?? [], replacements ?? []];
  let given = replacer === undefined ? value : replacer(key, value);
  const at = within.indexOf(given);
  if (at !== -1) return made[at];
  const fill = <Held extends object>(held: Held, put: (held: Held) => void): Held => {
    within.push(given);
    made.push(held);
    put(held);
    within.pop();
    made.pop();
    return held;
  };
  if (Array.isArray(given)) {
    const list = given;
    return fill(new Array<unknown>(list.length), (held) => {
      for (let n = 0; n < list.length; n++)
        held[n] = canonicalize(list[n], within, made, replacer, String(n));
    });
  }
  const { toJSON } = (given ?? {}) as { readonly toJSON?: unknown };
  if (typeof toJSON === "function") given = toJSON.call(given);
  if (typeof given !== "object" || given === null) return given;
  const object = given as Readonly<Record<string, unknown>>;
  return fill(Object.create(null) as Record<string, unknown>, (held) => {
    for (const name of Object.keys(object).sort()) {
      held[name] = canonicalize(object[name], within, made, replacer, name);
    }
  });
}

/**
 * Returns the changes as pairs of a number (1 added, -1 removed, 0 in both) and a text, as diff-match-patch
 * does.
 */
export function convertChangesToDMP<T>(list: readonly ChangeObject<T>[]): [1 | 0 | -1, T][] {
  return list.map(({ added, removed, value }) => [added ? 1 : removed ? -1 : 0, value]);
}

/** Returns the changes as text, with `<ins>` and `<del>` around added and removed parts. */
export function convertChangesToXML(list: readonly ChangeObject[]): string {
  const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return list
    .map(({ added, removed, value }) => {
      const text = value.replace(/[&<>"]/gu, (mark) => escapes[mark] as string);
      if (added) return `<ins>${text}</ins>`;
      return removed ? `<del>${text}</del>` : text;
    })
    .join("");
}
