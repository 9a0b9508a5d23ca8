/**
 * The effects that calls of a tool can have besides its own work, in the words of a question. Imports no tool, because the
 * review page shows them too.
 */
import { hasTrait, type ToolTrait } from "../../schema/tool-facts.ts";

/** The changes of files that a tool may make besides its own work. */
const VERBS: readonly (readonly [trait: ToolTrait, verb: string])[] = [
  ["alsoDeletes", "deleting"],
  ["alsoMoves", "moving"],
  ["alsoCopies", "copying"],
];

/** Returns what an approval of a tool does not cover, such as ` without replacing what exists`; empty for most tools. */
export function effectsInWords(tool: string): string {
  if (hasTrait(tool, "alsoReplaces")) return " without replacing what exists";
  const verbs = VERBS.filter(([trait]) => hasTrait(tool, trait)).map(([, verb]) => verb);
  const last = verbs.pop();
  if (last === undefined) return "";
  return ` without ${verbs.length === 0 ? last : `${verbs.join(", ")} or ${last}`} files`;
}
