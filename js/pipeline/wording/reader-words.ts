/**
 * Words sentences and remedies with the names of their reader: a model with a preset, or a command line.
 *
 * The engine and the tools write canonical names. In a remedy a name with a value, such as `regex: false`, is a
 * setting: a remedy as data, which is read here once and worded for each reader.
 */
import { TOOLS } from "../../tools/index.ts";
import type { Schema } from "../../tools/lib/schema.ts";
import {
  CANONICAL_NAMES,
  type ReaderNames,
  set,
  type Setting,
  setPhrase,
  settingPhrase,
} from "../../tools/lib/tool.ts";

/** Matches names in `snake_case` only, because a single word may be prose. */
const SNAKE_CASE_NAME = /\b[a-z]+(?:_[a-z]+)+\b/gu;
/** Matches a setting of a remedy: `set overwrite: true`, `regex:false`, or `set replace_all` for a flag. */
const SETTING = /\b(?:(set )([a-z_]+)\b(?:: ?("[^"]*"|\w+))?|([a-z_]+): ?("[^"]*"|true|false|null|\d+))/gu;
/** Separates alternatives of a remedy that are settings: what stands before one can be done without it. */
const ALTERNATIVES = /(,? or )(?=set [a-z_]+\b|[a-z]+(?:_[a-z]+)+\b|[a-z_]+: ?(?:"|true\b|false\b|\d))/u;

/**
 * Returns a complete sentence (of an edit's refusal, or a schema's) with the reader's names of tools and
 * arguments: `old_text` becomes `old_string` under a preset with that name. A path in it is unchanged.
 */
export function sentenceInReaderNames(text: string, names: ReaderNames, path: string | undefined): string {
  if (names === CANONICAL_NAMES) return text;
  const exchange = (part: string): string =>
    part.replace(SNAKE_CASE_NAME, (name) =>
      isCanonicalName(name) ? (readerNameOf(names, name) ?? name) : name,
    );
  // The text needs to be split at the path only when the path contains such a name.
  const named = path?.match(SNAKE_CASE_NAME)?.some(isCanonicalName) === true;
  return named
    ? text
        .split(path as string)
        .map(exchange)
        .join(path)
    : exchange(text);
}

/**
 * Returns a remedy in the reader's names, without the settings at its end that the reader cannot make; undefined when
 * the reader cannot follow its beginning.
 */
export function hintInReaderNames(hint: string, names: ReaderNames): string | undefined {
  if (names === CANONICAL_NAMES) return hint;
  const parts = hint.split(ALTERNATIVES);
  let told = alternativeInReaderNames(parts[0] as string, names);
  if (told === undefined) return undefined;
  for (let at = 2; at < parts.length; at += 2) {
    const worded = alternativeInReaderNames(parts[at] as string, names);
    if (worded !== undefined) told += `${parts[at - 1]}${worded}`;
  }
  return told;
}

/** Returns one alternative of a remedy in the reader's names; undefined when it needs what the reader lacks. */
function alternativeInReaderNames(text: string, names: ReaderNames): string | undefined {
  let isFollowable = true;
  const lacking = (): string => {
    isFollowable = false;
    return "";
  };
  const worded = text.replace(SETTING, (whole, verb: string | undefined, ...found: readonly string[]) => {
    const setting = settingOf(found);
    if (setting === undefined) return whole;
    return (verb === undefined ? settingPhrase(names, setting) : setPhrase(names, setting)) ?? lacking();
  });
  const told = worded.replace(SNAKE_CASE_NAME, (name) =>
    isCanonicalName(name) && text.includes(name) ? (readerNameOf(names, name) ?? lacking()) : name,
  );
  return isFollowable ? told : undefined;
}

/** Returns the first setting that a remedy names; undefined when it names none. */
export function settingIn(hint: string): Setting | undefined {
  for (const [, , ...found] of hint.matchAll(SETTING)) {
    const setting = settingOf(found);
    if (setting !== undefined) return setting;
  }
  return undefined;
}

/** Returns the setting for the groups of `SETTING`; undefined when they name no argument. */
function settingOf(groups: readonly (string | undefined)[]): Setting | undefined {
  const [flag, flagValue = "true", named, value = "true"] = groups;
  const argument = flag ?? named ?? "";
  if (!isCanonicalName(argument)) return undefined;
  const text = flag === undefined ? value : flagValue;
  try {
    return set(argument, JSON.parse(text) as Setting["value"]);
  } catch {
    return set(argument, text);
  }
}

function readerNameOf(names: ReaderNames, name: string): string | undefined {
  return names.argument(name) ?? names.tool(name);
}

let canonicalNames: ReadonlySet<string> | undefined;

/** Returns true for the canonical name of a tool or an argument. */
function isCanonicalName(word: string): boolean {
  canonicalNames ??= new Set(TOOLS.flatMap((tool) => [tool.name, ...argumentNamesIn(tool.inputSchema)]));
  return canonicalNames.has(word);
}

function argumentNamesIn({ properties = {}, items }: Schema): readonly string[] {
  const below = Object.values(properties).flatMap(argumentNamesIn);
  return [...Object.keys(properties), ...below, ...(items === undefined ? [] : argumentNamesIn(items))];
}
