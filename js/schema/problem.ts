/** Describes why a value is invalid, and words the message about an unknown key. */
import { escapeControls } from "../engine/escape.ts";
import type { HostSchema } from "./json-schema.ts";
import { nearest } from "./nearest.ts";

/** How values are checked, and how problems are worded. */
export interface CheckMode {
  /** True to convert mistakes of models that have only one meaning, such as a number as text. */
  readonly coerce: boolean;
  /** Returns the known name that an unknown name most likely means. */
  readonly suggest?: (key: string, names: readonly string[]) => string | undefined;
  /** Returns the known name that means what an unknown name means in other systems, without a guess. */
  readonly meaning?: (key: string, names: readonly string[]) => string | undefined;
  /** Escapes an unknown name for a message. */
  readonly escape?: (text: string) => string;
  /** The description of each pattern, for messages. */
  readonly forms?: ReadonlyMap<string, string>;
  /** The name to which the outermost keys belong, such as that of a tool, for messages. */
  readonly owner?: string;
}

/** The reason why a value is invalid, with the path of the invalid part. */
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

  /** Returns the path of the invalid part, such as `edits[0].old_text`; empty for the value as a whole. */
  place(): string {
    return this.where
      .map((key, at) => (typeof key === "number" ? `[${key}]` : at === 0 ? key : `.${key}`))
      .join("");
  }
}

/** Returns the problem of an unknown key. It names the key that was probably meant, or the known ones. */
export function unknownKeyProblem(
  given: string | symbol,
  { instead, properties = {} }: HostSchema,
  mode: CheckMode,
  owner: string | undefined,
): ValueProblem {
  const { escape: harmless = escapeControls, coerce } = mode;
  const key = String(given);
  const names = Object.keys(properties);
  const shown = harmless(key.length > 60 ? `${key.slice(0, 60)}…` : key);
  const remedy =
    instead !== undefined && Object.hasOwn(instead, key)
      ? `use ${instead[key]}`
      : (meantName(key, names, properties, mode) ?? knownNames(names, coerce));
  const what = coerce
    ? owner === undefined
      ? "unknown property"
      : `unknown argument of ${owner}`
    : "there is no such option";
  return new ValueProblem(`${what}; ${remedy}`, shown);
}

/** Returns the remedy that names what an unknown name probably means. */
function meantName(
  key: string,
  names: readonly string[],
  properties: HostSchema["properties"],
  { suggest = nearest, meaning }: CheckMode,
): string | undefined {
  const inList = meaning?.(key, names) === undefined ? listWithMeaning(key, properties, meaning) : undefined;
  if (inList !== undefined) return `send ${inList}`;
  const meant = suggest(key, names);
  return meant === undefined ? undefined : `did you mean '${meant}'?`;
}

/** Returns the remedy that names what is known. */
function knownNames(names: readonly string[], coerce: boolean): string {
  if (names.length === 0) return coerce ? "it takes no arguments" : "there are none";
  return coerce ? `leave it out; known: ${shortenedNameList(names)}` : `known: ${names.join(", ")}`;
}

/** Returns the list of objects in which a name has its place, such as `edits: [{oldText, newText}]`. */
function listWithMeaning(
  key: string,
  properties: HostSchema["properties"],
  meaning: CheckMode["meaning"],
): string | undefined {
  for (const [list, { items }] of Object.entries(properties ?? {})) {
    const members = Object.keys(items?.properties ?? {});
    const member = meaning?.(key, members);
    if (member === undefined) continue;
    return `${list}: [{${[...new Set([...(items?.required ?? []), member])].join(", ")}}]`;
  }
  return undefined;
}

/**
 * Returns names in a list of at most {@link MAX_NAME_LIST_LENGTH} UTF-16 units. The last ones are left out, so
 * rare names come last.
 */
function shortenedNameList(names: readonly string[]): string {
  const list = names.join(", ");
  if (list.length <= MAX_NAME_LIST_LENGTH) return list;
  return `${list.slice(0, list.lastIndexOf(",", MAX_NAME_LIST_LENGTH))}, …`;
}

const MAX_NAME_LIST_LENGTH = 90;

/**
 * Returns the problem of an unknown key with the other unknown keys added, so that a caller can correct all at
 * once.
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
  const too = `Unknown too: ${list.join(", ")}`;
  // A line of its own rather than a cut inside a remedy.
  const gap = first.what.length + too.length > MAX_LINE_OF_PROBLEM ? "\n" : " ";
  return new ValueProblem(`${first.what.replace(/\?$/u, "?")}${gap}${too}`, ...first.where.map(String));
}

/** The maximum number of UTF-16 units of a problem that is reported in one line. */
const MAX_LINE_OF_PROBLEM = 120;
/** The maximum number of other unknown keys that a message names. */
const MAX_OTHER_UNKNOWN_KEYS = 5;
