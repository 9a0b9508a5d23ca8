/** The problem of an invalid value, and its words where a key is unknown. */
import { escapeControls } from "../engine/escape.ts";
import type { HostSchema } from "./json-schema.ts";
import { nearest } from "./nearest.ts";

/** Options of a check. */
export interface CheckMode {
  /** True to accept mistakes of models that are unambiguous. */
  readonly coerce: boolean;
  /** Returns the known name that an unknown one most likely means. */
  readonly suggest?: (key: string, names: readonly string[]) => string | undefined;
  /** Escapes an unknown name for a message. */
  readonly escape?: (text: string) => string;
  /** Returns the description of a pattern for a message. */
  readonly forms?: ReadonlyMap<string, string>;
  /** The owner of the outermost keys, such as a tool's name. */
  readonly owner?: string;
}

/** The reason why a value is invalid, with its position in the arguments. */
export class ValueProblem {
  readonly what: string;
  readonly where: (string | number)[];

  constructor(what: string, ...where: string[]) {
    this.what = what;
    this.where = where;
  }

  under(key: string | number): this {
    this.where.unshift(key);
    return this;
  }

  /** A path such as `edits[0].old_text`; empty for the arguments as a whole. */
  place(): string {
    return this.where
      .map((key, at) => (typeof key === "number" ? `[${key}]` : at === 0 ? key : `.${key}`))
      .join("");
  }
}

/** The problem of an unknown key, with the name that was meant or the known ones. */
export function unknownKeyProblem(
  given: string | symbol,
  names: readonly string[],
  { instead }: HostSchema,
  { suggest = nearest, escape: harmless = escapeControls, coerce }: CheckMode,
  owner: string | undefined,
): ValueProblem {
  const key = String(given);
  const shown = harmless(key.length > 60 ? `${key.slice(0, 60)}…` : key);
  const other = instead !== undefined && Object.hasOwn(instead, key) ? instead[key] : undefined;
  const meant = other === undefined ? suggest(key, names) : undefined;
  const remedy =
    other !== undefined
      ? `use ${other}`
      : meant !== undefined
        ? `did you mean '${meant}'?`
        : names.length === 0
          ? coerce
            ? "it takes no arguments"
            : "there are none"
          : coerce
            ? `leave it out; known: ${shortenedNameList(names)}`
            : `known: ${names.join(", ")}`;
  const what = coerce
    ? owner === undefined
      ? "unknown property"
      : `unknown argument of ${owner}`
    : "there is no such option";
  return new ValueProblem(`${what}; ${remedy}`, shown);
}

/** The maximum length of names in one line of a message; rare names come last. */
function shortenedNameList(names: readonly string[]): string {
  const list = names.join(", ");
  if (list.length <= MAX_NAME_LIST_LENGTH) return list;
  return `${list.slice(0, list.lastIndexOf(",", MAX_NAME_LIST_LENGTH))}, …`;
}

const MAX_NAME_LIST_LENGTH = 90;

/**
 * A problem of one unknown key that also names the other unknown ones, so that all can be
 * corrected at once.
 */
export function withOtherUnknownKeys(
  first: ValueProblem,
  others: readonly (string | symbol)[],
  names: readonly string[],
  { suggest = nearest, escape: harmless = escapeControls }: CheckMode,
): ValueProblem {
  const list = others.slice(0, MAX_OTHER_UNKNOWN_KEYS).map((given) => {
    const key = String(given);
    const meant = suggest(key, names);
    const shown = harmless(key.length > 60 ? `${key.slice(0, 60)}…` : key);
    return meant === undefined ? `'${shown}'` : `'${shown}' (did you mean '${meant}'?)`;
  });
  return new ValueProblem(
    `${first.what.replace(/\?$/u, "?")} Unknown too: ${list.join(", ")}`,
    ...first.where.map(String),
  );
}

/** The maximum number of further unknown keys in a message. */
const MAX_OTHER_UNKNOWN_KEYS = 5;
