/** Shows a planned patch to a reviewer, and changes it to what the reviewer accepted. */
import { engine } from "../../engine/current.ts";
import type { PatchedFile } from "../../engine/text/patch.ts";
import { EMPTY_BYTES } from "../../engine/wire/bytes.ts";
import { hashOfAll, previewDiff, textIfDecodable } from "../render/preview.ts";
import type { FileChange } from "./commit.ts";
import {
  type ApplyPatchData,
  describePatch,
  type PatchRequest,
  type PatchTodo,
  shownDiffOf,
} from "./patching.ts";
import type { BaseVersion, Call, Plan, Preview, PreviewChange, RevisedFile } from "./tool.ts";

/** Returns what a reviewer sees of a patch. */
export function previewPatch(todo: PatchTodo, args: PatchRequest, call: Call): Preview {
  const changes = shownChanges(todo);
  const [first] = changes;
  const { before = null, after = null } = first?.contents ?? {};
  const location = Math.max(
    call.locations.findIndex((at) => at.path === first?.path),
    0,
  );
  const more = changes.length - 1;
  return {
    title: `Patch ${args.names[location]}${more > 0 ? ` and ${more} more` : ""}`,
    location,
    // A reviewer sees the whole diff, however long.
    diff:
      todo.data.truncated === true
        ? todo.changes
            .map(({ path: at, before: old, after: now }) =>
              previewDiff(old?.bytes ?? null, now?.bytes ?? EMPTY_BYTES, call.display(at)),
            )
            .join("")
        : shownDiffOf(todo.data),
    originalContent: before === null ? null : textIfDecodable(before),
    newContent: after === null ? null : textIfDecodable(after),
    risk: todo.changes.some((one) => one.before !== null && one.after === null) ? "medium" : "low",
    hash: hashOfAll(todo.changes.map((one) => one.after?.bytes ?? null)),
    changes,
  };
}

/** Returns the changes for a reviewer, in which a moved file is one change. */
function shownChanges({ changes, moves }: PatchTodo): readonly PreviewChange[] {
  const sources = new Set(moves.values());
  const byPath = new Map(changes.map((change) => [change.path, change]));
  return changes.flatMap((change): PreviewChange[] => {
    const { path, after } = change;
    if (after === null && sources.has(path)) return [];
    const from = moves.get(path);
    const before = from === undefined ? change.before : (byPath.get(from)?.before ?? null);
    const kind =
      after === null ? "delete" : from !== undefined ? "move" : before === null ? "create" : "edit";
    return [
      {
        path,
        kind,
        type: "file",
        ...(from === undefined ? {} : { from }),
        ...(after === null ? {} : { hash: engine().sha256(after.bytes) }),
        ...(after?.mode === undefined || after.mode === before?.mode
          ? {}
          : { mode: (after.mode & 0o7777).toString(8).padStart(4, "0") }),
        contents: { before: before?.bytes ?? null, after: after?.bytes ?? null },
      },
    ];
  });
}

/** Returns the plan of a patch with the contents that a reviewer has chosen. */
export async function revisePatch(
  todo: PatchTodo,
  base: readonly BaseVersion[],
  files: readonly RevisedFile[],
  call: Call,
): Promise<Plan<ApplyPatchData, PatchTodo>> {
  const chosen = new Map(files.map(({ path, bytes }) => [path, bytes]));
  const unmoved = [...todo.moves].flatMap(([to, from]) => (chosen.get(to) === null ? [from] : []));
  const left = new Set([...unmoved, ...files.flatMap(({ path, bytes }) => (bytes === null ? [path] : []))]);
  const changes = todo.changes.flatMap((change): FileChange[] => {
    if (left.has(change.path)) return [];
    const bytes = chosen.get(change.path);
    if (bytes === undefined || bytes === null || change.after === null) return [change];
    return [{ ...change, after: { ...change.after, bytes } }];
  });
  const patched = revisedEntries(todo, changes, left, chosen);
  const moves = new Map([...todo.moves].filter(([to]) => !left.has(to)));
  const { members, data } = todo;
  const described = await describePatch(data, { changes, patched, members }, call);
  return { todo: { ...todo, changes, moves, patched, data: described }, base };
}

/** Returns the entries of a patch for the files that are written, with the numbers of lines that change. */
function revisedEntries(
  { patched, members, moves }: PatchTodo,
  changes: readonly FileChange[],
  left: ReadonlySet<string>,
  chosen: ReadonlyMap<string, Uint8Array | null>,
): readonly PatchedFile[] {
  const byPath = new Map(changes.map((change) => [change.path, change]));
  const counted = new Set<string>();
  return patched.flatMap((file): PatchedFile[] => {
    const path = members.get(file.path)?.at.path ?? "";
    if (left.has(path)) return [];
    const change = byPath.get(path);
    if (!chosen.has(path) || change === undefined) return [file];
    // One entry counts for a file that several sections of the patch change.
    if (counted.has(path)) return [];
    counted.add(path);
    const source = moves.get(path);
    const before = source === undefined ? change.before : byPath.get(source)?.before;
    const after = change.after?.bytes ?? EMPTY_BYTES;
    const { added, removed } = engine().diff(before?.bytes ?? EMPTY_BYTES, after);
    return [{ ...file, added, removed }];
  });
}
