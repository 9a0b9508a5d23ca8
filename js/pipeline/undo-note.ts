/** The texts about a change that the history cannot take back: in the question about it, and with its answer. */
import type { Files } from "../backends/files.ts";
import { shortcutsOf } from "../backends/abilities.ts";
import { concurrentGroups } from "../backends/concurrent.ts";
import { lstatOrNull } from "../backends/fallback/fallback.ts";
import type { Log, Made } from "../log/index.ts";
import type { Preview } from "../tools/change/change.ts";
import type { Answer } from "../tools/lib/tool.ts";

/** Returns a change that was made and is too large to be undone, with a warning for the model and its user. */
export function withUndoWarning<Data>(
  made: Made<Answer<Data>>,
  { largestUndo }: Pick<Log, "largestUndo">,
): Made<Answer<Data>> {
  if (largestUndo === undefined) return made;
  const { result } = made;
  const warning = `this cannot be undone: of one call the history keeps ${largestUndo.words}`;
  return { ...made, result: { ...result, warnings: [...(result.warnings ?? []), warning] } };
}

/** Returns the title of a preview, with a remark if the change replaces or removes more than `maxUndoneBytes`. */
export async function titleWithUndoNote(
  { title, changes }: Preview,
  maxUndoneBytes: number | undefined,
  fs: Files,
): Promise<string> {
  if (maxUndoneBytes === undefined) return title;
  const replaced = changes.filter(({ kind }) => kind !== "create").map(({ path }) => path);
  return (await isAbove(maxUndoneBytes, replaced, fs)) ? `${title} (too large to be undone)` : title;
}

/**
 * Returns true if the files at the paths have more bytes together, but for those that are kept without a copy. Links count
 * nothing.
 */
async function isAbove(maxBytes: number, paths: readonly string[], fs: Files): Promise<boolean> {
  const { keeper } = shortcutsOf(fs);
  let [bytes, kept] = [0, 0];
  for (const some of concurrentGroups(paths)) {
    const found = await Promise.all(some.map((path) => lstatOrNull(fs, path)));
    for (const stat of found) {
      if (stat?.isFile !== true) continue;
      const isKept = stat.size > maxBytes && (await keeper.nameFor(stat, kept)) !== undefined;
      if (isKept) kept += stat.size;
      else bytes += stat.size;
      if (bytes > maxBytes) return true;
    }
  }
  return false;
}
