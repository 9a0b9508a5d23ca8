/** What the changes of several operations are together, as one question shows them. */
import { type ConfirmedChange, confirmedChange } from "../../hooks/changed-files.ts";
import type { ShownChanges } from "../../pipeline/parts.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { PreviewChange } from "../../tools/lib/tool.ts";

/** A change as a question shows it, and as it is planned. */
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
 * Joins what several operations make of the content of one path. Where one of them does something else with such a path,
 * such as moving it, the changes are shown one after the other.
 */
export function joinChanges(parts: readonly ShownChanges[]): JoinedChanges {
  const all = parts.flatMap(({ changes, planned }) =>
    changes.map((change, index): OneChange => ({ change, planned: planned[index] as PreviewChange })),
  );
  const byPath = new Map<string, OneChange[]>();
  for (const one of all) byPath.set(one.change.path, [...(byPath.get(one.change.path) ?? []), one]);
  const ofPaths = [...byPath.values()];
  const isSelectable = ofPaths.every((some) => some.length === 1 || some.every(isOfContent));
  const joined = isSelectable ? ofPaths.flatMap(netChangeOf) : all;
  return {
    changes: joined.map(({ change }) => change),
    planned: joined.map(({ planned }) => planned),
    isSelectable,
  };
}

/** Returns true for a change of the content of a file that is known before and after. */
function isOfContent({ planned: { type, from, contents } }: OneChange): boolean {
  return type === "file" && from === undefined && contents !== undefined;
}

/** Returns the difference that changes of one path make together; an empty list for a file that is made and removed again. */
function netChangeOf(some: readonly OneChange[]): readonly OneChange[] {
  const [first, last] = [some[0] as OneChange, some.at(-1) as OneChange];
  if (first === last) return some;
  const contents = {
    before: first.planned.contents?.before ?? null,
    after: last.planned.contents?.after ?? null,
  };
  if (contents.before === null && contents.after === null) return [];
  const kind = contents.before === null ? "create" : contents.after === null ? "delete" : "edit";
  const mode = withoutUndefined({
    mode: some.findLast(({ planned }) => planned.mode !== undefined)?.planned.mode,
  });
  const change = confirmedChange({ ...last.change, kind, ...mode }, contents, true);
  return [{ change, planned: { ...last.planned, kind, ...mode, contents } }];
}
