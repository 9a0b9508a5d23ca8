/** Shows a planned patch to a reviewer, and changes it to what the reviewer accepted. */
import { engine } from "../../engine/current.ts";
import type { PatchedFile } from "../../engine/text/patch.ts";
import { EMPTY_BYTES } from "../../engine/wire/bytes.ts";
import { Yielder } from "../../engine/yielder.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { hashOfAll, previewDiff, textIfDecodableAsync } from "../render/preview.ts";
import type { FileChange, FileState } from "./commit.ts";
import type { ApplyPatchData } from "../generated/types.ts";
import { describePatch, type PatchRequest, type PatchTodo } from "./patching.ts";
import type { BaseVersion, Call, Plan, Preview, PreviewChange, RevisedFile } from "./tool.ts";

/** Returns what a reviewer sees of a patch. */
export async function previewPatch(todo: PatchTodo, args: PatchRequest, call: Call): Promise<Preview> {
  const changes = await shownChanges(todo, call);
  const { data, shownDiff } = todo.described;
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
    diff: data.truncated === true ? await wholeDiffOf(todo, call) : shownDiff,
    originalContent: before === null ? null : await textIfDecodableAsync(before),
    newContent: after === null ? null : await textIfDecodableAsync(after),
    risk: todo.changes.some((one) => one.before !== null && one.after === null) ? "medium" : "low",
    hash: await hashOfAll(todo.changes.map((one) => one.after?.bytes ?? null)),
    changes,
  };
}

async function wholeDiffOf({ changes }: PatchTodo, call: Call): Promise<string> {
  const yielder = new Yielder({ signal: call.signal });
  let diff = "";
  for (const { path, before, after } of changes) {
    await yielder.yieldIfDue();
    diff += await previewDiff(before?.bytes ?? null, after?.bytes ?? EMPTY_BYTES, call.reader.display(path));
  }
  return diff;
}

/** Returns the changes for a reviewer, in which a moved file is one change. */
async function shownChanges({ changes, moves }: PatchTodo, call: Call): Promise<readonly PreviewChange[]> {
  const sources = new Set(moves.values());
  const byPath = new Map(changes.map((change) => [change.path, change]));
  const shown: PreviewChange[] = [];
  const yielder = new Yielder({ signal: call.signal });
  for (const change of changes) {
    await yielder.yieldIfDue();
    const { path, before, after } = change;
    if (after === null && sources.has(path)) continue;
    const from = moves.get(path);
    shown.push(
      await shownChange(change, from, from === undefined ? before : (byPath.get(from)?.before ?? null)),
    );
  }
  return shown;
}

async function shownChange(
  { path, after }: FileChange,
  from: string | undefined,
  before: FileState | null,
): Promise<PreviewChange> {
  const isEdit = before !== null;
  const kind: PreviewChange["kind"] =
    after === null ? "delete" : from !== undefined ? "move" : isEdit ? "edit" : "create";
  const isModeNew = after?.mode !== undefined && after.mode !== before?.mode;
  return withoutUndefined({
    path,
    kind,
    type: "file" as const,
    from,
    hash: after === null ? undefined : await engine().onThreads.sha256(after.bytes),
    mode: isModeNew ? ((after.mode ?? 0) & 0o7777).toString(8).padStart(4, "0") : undefined,
    contents: { before: before?.bytes ?? null, after: after?.bytes ?? null },
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
  const patched = await revisedEntries(todo, changes, left, chosen);
  const moves = new Map([...todo.moves].filter(([to]) => !left.has(to)));
  const { members } = todo;
  const { applied, warnings } = todo.described.data;
  const described = await describePatch({ applied, warnings }, { changes, patched, members }, call);
  return { todo: { ...todo, changes, moves, patched, described }, base };
}

/** Returns the entries of a patch for the files that are written, with the numbers of lines that change. */
async function revisedEntries(
  { patched, members, moves }: PatchTodo,
  changes: readonly FileChange[],
  left: ReadonlySet<string>,
  chosen: ReadonlyMap<string, Uint8Array | null>,
): Promise<readonly PatchedFile[]> {
  const byPath = new Map(changes.map((change) => [change.path, change]));
  const counted = new Set<string>();
  const revised: PatchedFile[] = [];
  for (const file of patched) {
    const path = members.get(file.path)?.at.path ?? "";
    if (left.has(path)) continue;
    const change = byPath.get(path);
    if (!chosen.has(path) || change === undefined) {
      revised.push(file);
      continue;
    }
    // One entry counts for a file that several sections of the patch change.
    if (counted.has(path)) continue;
    counted.add(path);
    const source = moves.get(path);
    const before = source === undefined ? change.before : byPath.get(source)?.before;
    const after = change.after?.bytes ?? EMPTY_BYTES;
    const { added, removed } = await engine().diffAsync(before?.bytes ?? EMPTY_BYTES, after);
    revised.push({ ...file, added, removed });
  }
  return revised;
}
