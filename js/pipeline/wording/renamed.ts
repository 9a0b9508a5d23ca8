/**
 * Translates the names in complete sentences (of an edit's refusal, or a schema's) for their reader:
 * `old_text` becomes `old_string` under a preset with that name.
 */
import { TOOLS } from "../../tools/index.ts";
import { type Names, OWN_NAMES } from "../../tools/lib/tool.ts";
import type { Schema } from "../../tools/lib/schema.ts";

/** Matches names in `snake_case` only, because a single word may be prose. */
const IDENTIFIER = /\b[a-z]+(?:_[a-z]+)+\b/gu;
/** Matches an argument with its value, as hints write it. */
const ASSIGNED = /\b[a-z_]+(?=: \S)/gu;

/** Returns the text with the reader's names of tools and arguments; a path in it is unchanged. */
export function inReaderNames(text: string, names: Names, path: string | undefined): string {
  if (names === OWN_NAMES) return text;
  const exchange = (part: string): string =>
    part.replace(IDENTIFIER, (name) => (isCanonicalName(name) ? (readerNameOf(names, name) ?? name) : name));
  // The text needs to be split at the path only when the path contains such a name.
  const named = path?.match(IDENTIFIER)?.some(isCanonicalName) === true;
  return named
    ? text
        .split(path as string)
        .map(exchange)
        .join(path)
    : exchange(text);
}

/**
 * Returns a remedy in the reader's names; undefined when it needs a tool or an argument that the reader lacks.
 */
export function hintInReaderNames(hint: string, names: Names): string | undefined {
  if (names === OWN_NAMES) return hint;
  const used = [...(hint.match(IDENTIFIER) ?? []), ...(hint.match(ASSIGNED) ?? [])].filter(isCanonicalName);
  return used.some((name) => readerNameOf(names, name) === undefined)
    ? undefined
    : inReaderNames(hint, names, undefined);
}

function readerNameOf(names: Names, name: string): string | undefined {
  return names.argument(name) ?? names.tool(name);
}

let canonicalNames: ReadonlySet<string> | undefined;

/** Returns true for the canonical name of a tool or an argument. */
function isCanonicalName(word: string): boolean {
  canonicalNames ??= new Set(TOOLS.flatMap((tool) => [tool.name, ...argumentsOf(tool.inputSchema)]));
  return canonicalNames.has(word);
}

function argumentsOf({ properties = {}, items }: Schema): readonly string[] {
  const below = Object.values(properties).flatMap(argumentsOf);
  return [...Object.keys(properties), ...below, ...(items === undefined ? [] : argumentsOf(items))];
}
