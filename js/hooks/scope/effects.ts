/**
 * The effects that calls of a tool can have beside its own work, in the words of a question. Imports nothing, because the
 * review page shows them too.
 */

/** What a scope of a tool does not cover, because it is the work of another tool. */
const EFFECTS_BY_TOOL: ReadonlyMap<string, string> = new Map([
  ["apply_patch", "deleting, moving or copying files"],
  ["copy", "replacing what exists"],
  ["move", "replacing what exists"],
  ["undo", "deleting or moving files"],
  ["rewind", "deleting or moving files"],
  ["merge", "deleting files"],
]);

/** Returns what an approval of a tool does not cover, such as ` without replacing what exists`; empty for most tools. */
export function effectsInWords(tool: string): string {
  const effects = EFFECTS_BY_TOOL.get(tool);
  return effects === undefined ? "" : ` without ${effects}`;
}
