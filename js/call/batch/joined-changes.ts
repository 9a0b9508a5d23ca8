/** Joins the changes of several operations into the list that one question shows. */
import { type ConfirmedChange, confirmedChange } from "../../hooks/changed-files.ts";
import type { ShownChanges } from "../../pipeline/parts.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { PreviewChange } from "../../tools/change/change.ts";

/** One change in two forms: as a question shows it, and as it is planned. */
interface OneChange {
  readonly change: ConfirmedChange;
  readonly planned: PreviewChange;
}

/** The changes of several operations. */
interface JoinedChanges extends ShownChanges {
  /** False where one path has changes that cannot be joined: then the question can only be accepted as a whole. */
  readonly isSelectable: boolean;
}

/**
 * Joins repeated changes of the content of a path into one. If any path with several changes has one of another kind,
 * such as a move, nothing is joined.
 */
export function joinChanges(parts: readonly ShownChanges[]): JoinedChanges {
  const all = parts.flatMap(({ changes, planned }) =>
    changes.map((change, index): OneChange => ({ change, planned: planned[index] as PreviewChange })),
  );
  const byPath = new Map<string, OneChange[]>();
  for (const one of all) byPath.set(one.change.path, [...(byPath.get(one.change.path) ?? []), one]);
  const changesOfPaths = [...byPath.values()];
  const isSelectable = changesOfPaths.every((some) => some.length === 1 || some.every(isOfContent));
  const joined = isSelectable ? changesOfPaths.flatMap(netChangeOf) : all;
  return {
    changes: joined.map(({ change }) => change),
    planned: joined.map(({ planned }) => planned),
    isSelectable,
  };
}

/** Returns true for a change of the content of a file whose old and new contents are known. */
function isOfContent({ planned: { type, from, contents } }: OneChange): boolean {
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
  const mode = withoutUndefined({
    mode: changes.findLast(({ planned }) => planned.mode !== undefined)?.planned.mode,
  });
  const change = confirmedChange({ ...last.change, kind, ...mode }, contents, true);
  return [{ change, planned: { ...last.planned, kind, ...mode, contents } }];
}
