/**
 * Sentences that arrive complete (an edit's refusal, a schema's), in the names
 * their reader knows: `old_text` becomes `old_string` where a preset says so.
 */
import { TOOLS } from "../tools/index.ts";
import { type Names, OWN_NAMES } from "../tools/names.ts";
import type { Schema } from "../tools/schema.ts";

/** Names are `snake_case`: a single word may be prose. */
const IDENTIFIER = /\b[a-z]+(?:_[a-z]+)+\b/gu;
/** An argument with its value, as hints write it. */
const ASSIGNED = /\b[a-z_]+(?=: \S)/gu;

/** The text with every name of ours exchanged for the reader's; a path in it stays as it is. */
export function renamed(text: string, names: Names, path: string | undefined): string {
  if (names === OWN_NAMES) return text;
  const exchange = (part: string): string =>
    part.replace(IDENTIFIER, (name) => (isOurs(name) ? (nameIn(names, name) ?? name) : name));
  // Only a path that holds such a name needs to be passed over.
  const named = path?.match(IDENTIFIER)?.some(isOurs) === true;
  return named
    ? text
        .split(path as string)
        .map(exchange)
        .join(path)
    : exchange(text);
}

/** A remedy in the reader's names; undefined where it needs something that the reader does not have. */
export function followable(hint: string, names: Names): string | undefined {
  if (names === OWN_NAMES) return hint;
  const used = [...(hint.match(IDENTIFIER) ?? []), ...(hint.match(ASSIGNED) ?? [])].filter(isOurs);
  return used.some((name) => nameIn(names, name) === undefined) ? undefined : renamed(hint, names, undefined);
}

function nameIn(names: Names, name: string): string | undefined {
  return names.argument(name) ?? names.tool(name);
}

let ours: ReadonlySet<string> | undefined;

/** Whether a word is the name of a tool or of an argument. */
function isOurs(word: string): boolean {
  ours ??= new Set(TOOLS.flatMap((tool) => [tool.name, ...argumentsOf(tool.inputSchema)]));
  return ours.has(word);
}

function argumentsOf({ properties = {}, items }: Schema): readonly string[] {
  const below = Object.values(properties).flatMap(argumentsOf);
  return [...Object.keys(properties), ...below, ...(items === undefined ? [] : argumentsOf(items))];
}
