/** Joins the changes of several operations into the list that one question shows. The operations stay as they are. */
import { type ConfirmedChange, confirmedChange } from "../../hooks/changed-files.ts";
import type { ShownChanges } from "../../pipeline/parts.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { PreviewChange } from "../../tools/change/change.ts";

/** One change in two forms for a reviewer: as the question has it, and with its contents. */
interface OneChange {
  readonly change: ConfirmedChange;
  readonly planned: PreviewChange;
}

/** The changes of several operations. */
interface JoinedChanges extends ShownChanges {
  /** True where a reviewer may accept a part: no path has changes that cannot be joined. */
  readonly isSelectable: boolean;
}

/**
 * Joins repeated changes of the content of a path into one. If a path with several changes has one that is not of known
 * content, such as a move, nothing is joined.
 */
export function joinChanges(parts: readonly ShownChanges[]): JoinedChanges {
  const all = parts.flatMap(({ changes, planned }) =>
    changes.map((change, index): OneChange => ({ change, planned: planned[index] as PreviewChange })),
  );
  const byPath = new Map<string, OneChange[]>();
  for (const one of all) {
    const of = byPath.get(one.change.path);
    if (of === undefined) byPath.set(one.change.path, [one]);
    else of.push(one);
  }
  const changesOfPaths = [...byPath.values()];
  const isSelectable = changesOfPaths.every((some) => some.length === 1 || some.every(isContentChange));
  const shown = isSelectable ? changesOfPaths.flatMap(netChangeOf) : all;
  return {
    changes: shown.map(({ change }) => change),
    planned: shown.map(({ planned }) => planned),
    isSelectable,
  };
}

/** Returns true for a change of the content of a file whose old and new contents are known. */
function isContentChange({ planned: { type, from, contents } }: OneChange): boolean {
  return type === "file" && from === undefined && contents !== undefined;
}

/** Returns the net change of one path; an empty list for a file that is made and removed again. */
function netChangeOf(changes: readonly OneChange[]): readonly OneChange[] {
  const [first, last] = [changes[0] as OneChange, changes.at(-1) as OneChange];
  if (first === last) return changes;
  const contents = {
    before: first.planned.contents?.before ?? null,
    after: last.planned.contents?.after ?? null,
  };
  if (contents.before === null && contents.after === null) return [];
  const kind = contents.before === null ? "create" : contents.after === null ? "delete" : "edit";
  // A file that is removed and made again has not the permission bits that it had before.
  const made = changes.slice(changes.findLastIndex(({ planned }) => planned.kind === "delete") + 1);
  const mode = made.findLast(({ planned }) => planned.mode !== undefined)?.planned.mode;
  const { mode: _of, ...shown } = last.change;
  const change = confirmedChange(withoutUndefined({ ...shown, kind, mode }), contents, true);
  return [{ change, planned: withoutUndefined({ ...last.planned, kind, mode, contents }) }];
}
