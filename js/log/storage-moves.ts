/** The moves in a commit of a storage, whose history has only the states before and after. */
import { isBelowAny, parentOf } from "../backends/paths.ts";
import type { Entry, PastChange } from "../storage/storage.ts";

/** The number of pairs of paths beyond which a commit is not searched for moves. */
const MAX_COMPARED_PAIRS = 1_000_000;

/**
 * Returns the new path of each path that a commit moved. The history of a storage has only the states before and after,
 * so a move is recognised by its content: a removed tree and a new tree that are equal are taken for a move.
 */
export function movedPaths(changes: readonly PastChange[]): ReadonlyMap<string, string> {
  const removed = changes.filter(({ before, after }) => before !== null && after === null);
  const made = changes.filter(({ before, after }) => before === null && after !== null);
  const isTop = (list: readonly PastChange[]): ((one: PastChange) => boolean) => {
    const paths = new Set(list.map(({ path }) => path));
    return ({ path }) => !paths.has(parentOf(path));
  };
  const moves = new Map<string, string>();
  if ((removed.length + made.length) * made.length > MAX_COMPARED_PAIRS) return moves;
  // A move may have made the parents of its destination, so the destination can be any new path and not only a top one.
  const madeByForm = new Map<string, string[]>();
  for (const { path } of made) {
    const form = formOfTree(made, path, ({ after }) => after);
    madeByForm.set(form, [...(madeByForm.get(form) ?? []), path]);
  }
  const removedTrees = removed.filter(isTop(removed)).map(({ path }) => {
    const form = formOfTree(removed, path, ({ before }) => before);
    return { path, form, size: form.split("\0").length };
  });
  // The largest tree is matched first, because what is below its destination came with it and is no move of its own.
  const destinations = new Set<string>();
  for (const { path, form } of removedTrees.sort((a, b) => b.size - a.size)) {
    const to = madeByForm.get(form)?.find((one) => !destinations.has(one) && !isBelowAny(one, destinations));
    if (to === undefined) continue;
    moves.set(path, to);
    destinations.add(to);
  }
  return moves;
}

/** Returns the entries at and below a path in a form that is equal for equal trees. */
function formOfTree(
  changes: readonly PastChange[],
  top: string,
  entryOf: (change: PastChange) => Entry | null,
): string {
  const forms: string[] = [];
  for (const change of changes) {
    const { path } = change;
    if (path !== top && !path.startsWith(`${top}/`)) continue;
    const entry = entryOf(change);
    forms.push(`${path.slice(top.length)} ${entry?.type} ${entry?.hash ?? entry?.target ?? ""}`);
  }
  return forms.join("\0");
}
