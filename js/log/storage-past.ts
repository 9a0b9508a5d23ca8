/** Past commits of a storage as records, steps and states of a log. */
import { compareCodePoints, isBelowAny, parentOf } from "../backends/paths.ts";
import { type PreImage, withoutMode } from "../backends/transaction/pre-image.ts";
import type { Step } from "../backends/transaction/step.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { storedContent } from "../storage/staged/stored-content.ts";
import type { Entry, Past, PastChange, Storage } from "../storage/storage.ts";
import type { HistoryRecord, PastSteps, StateBefore } from "./log.ts";
import { movedPaths } from "./storage-moves.ts";

/** The maximum number of paths of a change that can be undone. */
export const MAX_UNDONE_PATHS = 5000;

/** Returns a past commit as a record of the history; undefined for one that no call made. */
export function recordOf({ at, actor, changes = [], count }: Past): HistoryRecord | undefined {
  const { callId, tool = "", agent, undoOf } = actor ?? {};
  if (callId === undefined) return undefined;
  const header = withoutUndefined({ callId, tool, time: at, cwd: "/", agent, undoOf });
  return { header, at, paths: changedPaths(changes), undoable: count <= MAX_UNDONE_PATHS };
}

/** Returns the paths that a commit changed, without the entries that were removed together with their directory. */
function changedPaths(changes: readonly PastChange[]): readonly string[] {
  const removed = new Set(changes.filter(({ after }) => after === null).map(({ path }) => path));
  return changes
    .filter(({ path, after }) => after !== null || !removed.has(parentOf(path)))
    .map(({ path }) => path);
}

/**
 * Returns the steps that make the changes of a commit. Contents are those of the storage, which are not read. A move is
 * a removal and a new entry here: both are the same content of the storage.
 */
export function stepsOfCommit(changes: readonly PastChange[]): PastSteps {
  const steps: Step[] = [];
  const removals: Step[] = [];
  const byPath = [...changes].sort((a, b) => compareCodePoints(a.path, b.path));
  for (const [id, { path, before, after }] of byPath.entries()) {
    const kind = before === null ? "create" : after === null ? "delete" : "write";
    const step: Step = { id, kind, path, before: toRestorable(before), after: toImage(after) };
    // A directory is made before its entries, and removed or replaced after them.
    if (after === null || (before?.type === "dir" && after.type !== "dir")) removals.unshift(step);
    else steps.push(step);
  }
  const finals = byPath.map(({ path, after }) => {
    const image = toImage(after);
    return [path, image && withoutMode(image)] as const;
  });
  return { steps: [...steps, ...removals], given: new Map(), finals };
}

/** Returns the state of an entry, with a file's content as the storage has it. */
function toRestorable(entry: Entry | null): PreImage | null {
  const image = toImage(entry);
  if (image?.type !== "file" || entry?.hash === undefined) return image;
  return { ...image, bytes: storedContent(entry.hash, entry.size ?? 0) };
}

/** Returns the states before a commit of the paths that it changed. */
export async function statesBefore(
  changes: readonly PastChange[],
  wantsContent: (path: string) => boolean,
  readContents: Storage["readContents"],
): Promise<readonly StateBefore[]> {
  const wanted = changes.flatMap(({ path, before }) =>
    before?.type === "file" && wantsContent(path) ? [before] : [],
  );
  const contents = await contentsOf(wanted, readContents);
  const moves = movedPaths(changes);
  const moved = new Set([...moves.keys(), ...moves.values()]);
  // What is below a directory that was moved goes back with it.
  const apart = changes.filter(({ path }) => !isBelowAny(path, moved));
  return apart.map(({ path, before, after }): StateBefore => {
    const image = toImage(before);
    const bytes = contents.get(before?.hash ?? "");
    // An undo moves the entry back from the place to which it was moved.
    const from = moves.get(path);
    return {
      path,
      image: image === null || bytes === undefined ? image : { ...image, bytes },
      after: toImage(after),
      ...(from === undefined ? {} : { from }),
    };
  });
}

/** The maximum number of bytes of past contents that are fetched for one change. Later files have none. */
const MAX_FETCHED_BYTES = 64 * 1024 * 1024;

/** Reads the contents that a commit replaced, by their hashes. */
async function contentsOf(
  entries: readonly Entry[],
  readContents: Storage["readContents"],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const names = new Map<string, number>();
  let bytes = 0;
  for (const { hash, size = 0 } of entries) {
    if (hash === undefined || names.has(hash) || bytes + size > MAX_FETCHED_BYTES) continue;
    bytes += size;
    names.set(hash, size);
  }
  const contents = new Map<string, Uint8Array>();
  if (names.size === 0 || readContents === undefined) return contents;
  const list = [...names].map(([hash, size]) => ({ hash, size }));
  for (const [index, body] of (await readContents(list)).entries())
    if (body !== null) contents.set(list[index]?.hash ?? "", body);
  return contents;
}

function toImage(entry: Entry | null): PreImage | null {
  if (entry === null) return null;
  const { type, size, mode, target, hash, version } = entry;
  return withoutUndefined({
    type: type === "gone" ? "other" : type,
    size,
    mode: type === "symlink" ? undefined : mode,
    target,
    hash,
    version: type === "file" ? version : undefined,
  });
}

/**
 * Yields the states that an undo assumes instead of reading them: the paths of the commit are as it left them, their
 * parents are directories, and none of these is a git repository. The commit of the undo has these states as
 * conditions, so it fails with CONFLICT if one of them is wrong, and the undo begins again with a read.
 */
export function* statesAfter(
  changes: readonly PastChange[],
): Generator<readonly [path: string, entry: Entry | null]> {
  const known = new Set<string>();
  for (const { path, after } of changes) {
    known.add(path);
    yield [path, after];
  }
  for (const { path } of changes) {
    for (let at = parentOf(path); !known.has(at); at = parentOf(at)) {
      known.add(at);
      yield [at, { path: at, type: "dir", version: "" }];
      if (at === "/") break;
    }
  }
  for (const { path } of changes) {
    for (let at = parentOf(path); at !== "/"; at = parentOf(at)) {
      const repository = `${at}/.git`;
      if (known.has(repository)) continue;
      known.add(repository);
      yield [repository, null];
    }
  }
}
