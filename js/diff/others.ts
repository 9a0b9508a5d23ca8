/** The other comparisons of jsdiff: sentences, CSS, JSON, lists; and changes in other forms. */
import {
  answer,
  type Callback,
  type ChangeObject,
  changes,
  diffLines,
  type DiffResult,
  type LineOptions,
  joined,
  linesOf,
  optionsOf,
  same,
  type SearchOptions,
  type TokenOptions,
  valued,
} from "./changes.ts";
import { type IsSame, stretches } from "./tokens.ts";

/** As `diffLines` with `ignoreWhitespace`. */
export function diffTrimmedLines<O extends LineOptions | Callback<ChangeObject[]> = LineOptions>(
  before: string,
  after: string,
  options?: O,
): DiffResult<ChangeObject[], O> {
  const given = { ...optionsOf<LineOptions>(options), ignoreWhitespace: true };
  return diffLines(before, after, given) as DiffResult<ChangeObject[], O>;
}

/** Compares sentence by sentence; one ends with `.`, `!` or `?` before white space, which is a token too. */
export function diffSentences<O extends TokenOptions | Callback<ChangeObject[]> = TokenOptions>(
  before: string,
  after: string,
  options?: O,
): DiffResult<ChangeObject[], O> {
  return byTokens(before, after, options, (text) => text.split(/(?<=[.!?])(\s+)/u));
}

/** Compares by the tokens of CSS: braces, `:`, `;`, `,`, whitespace and the text between them. */
export function diffCss<O extends TokenOptions | Callback<ChangeObject[]> = TokenOptions>(
  before: string,
  after: string,
  options?: O,
): DiffResult<ChangeObject[], O> {
  return byTokens(before, after, options, (text) => text.split(/([{}:;,]|\s+)/u));
}

function byTokens<O extends TokenOptions | Callback<ChangeObject[]>>(
  before: string,
  after: string,
  options: O | undefined,
  split: (text: string) => string[],
): DiffResult<ChangeObject[], O> {
  const given = optionsOf<TokenOptions>(options);
  const tokens = (text: string): string[] => split(text).filter((token) => token !== "");
  return answer(given, () => changes(tokens(before), tokens(after), same, given)) as DiffResult<
    ChangeObject[],
    O
  >;
}

/** How lists are compared. */
export interface ArrayOptions<T> extends SearchOptions<ChangeObject<T[]>[]> {
  readonly oneChangePerToken?: boolean | undefined;
  /** Returns true when an element of the old list equals one of the new list; default `===`. */
  readonly comparator?: IsSame<T> | undefined;
}

/** Compares two lists element by element. */
export function diffArrays<T, O extends ArrayOptions<T> | Callback<ChangeObject<T[]>[]> = ArrayOptions<T>>(
  before: readonly T[],
  after: readonly T[],
  options?: O,
): DiffResult<ChangeObject<T[]>[], O> {
  const given = optionsOf<ArrayOptions<T>>(options);
  return answer(given, () => {
    const list = stretches(before, after, given, given.comparator);
    return list === undefined ? undefined : valued(list, before, after, given, (some) => [...some]);
  }) as DiffResult<ChangeObject<T[]>[], O>;
}

/** How values are written as JSON before they are compared. */
export interface JsonOptions<T = ChangeObject[]> extends TokenOptions<T> {
  /** The text written for an undefined value. */
  readonly undefinedReplacement?: unknown;
  /** Returns the value to write for each value; with it, `undefinedReplacement` is ignored. */
  readonly stringifyReplacer?: ((key: string, value: unknown) => unknown) | undefined;
}

type Replacer = NonNullable<JsonOptions["stringifyReplacer"]>;

/** Compares two values, or texts of JSON, line by line as JSON with sorted keys. */
export function diffJson<O extends JsonOptions | Callback<ChangeObject[]> = JsonOptions>(
  before: string | object,
  after: string | object,
  options?: O,
): DiffResult<ChangeObject[], O> {
  const given = optionsOf<JsonOptions>(options);
  const replacer: Replacer =
    given.stringifyReplacer ?? ((_key, value) => (value === undefined ? given.undefinedReplacement : value));
  const text = (value: string | object): string =>
    typeof value === "string"
      ? value
      : ((JSON.stringify(canonicalize(value, null, null, replacer), null, "  ") as string | undefined) ?? "");
  // A comma that is only needed before an added line is no difference; it is shown when one side has it.
  const key = (line: string): string => {
    const without = line.replace(/,(\r?\n)$/u, "$1");
    return given.ignoreCase === true ? without.toLowerCase() : without;
  };
  const longer = (old: string, made: string): string => (old.length > made.length ? old : made);
  return answer(given, () => {
    const [olds, news] = [linesOf(text(before)), linesOf(text(after))];
    const list = stretches(olds.map(key), news.map(key), given);
    return list === undefined ? undefined : valued(list, olds, news, given, joined, longer);
  }) as DiffResult<ChangeObject[], O>;
}

/**
 * Returns the value with sorted keys, without prototypes. Cyclic references are preserved.
 *
 * @param stack objects on the way to this one, with `replacements` at the same indexes
 */
export function canonicalize(
  value: unknown,
  stack?: unknown[] | null,
  replacements?: unknown[] | null,
  replacer?: Replacer,
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

/** Returns the changes as pairs, in the form of diff-match-patch. */
export function convertChangesToDMP<T>(list: readonly ChangeObject<T>[]): [1 | 0 | -1, T][] {
  return list.map(({ added, removed, value }) => [added ? 1 : removed ? -1 : 0, value]);
}

/** Returns the changes as text with `<ins>` and `<del>`. */
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
