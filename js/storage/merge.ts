/**
 * The three-way merge of a fork, for every storage: it compares three states of the changed paths and computes
 * one commit, or the conflicts. The states are read by functions, so that an engine decides how.
 */
import { DEFAULT_DIR_MODE } from "../backends/entry.ts";
import { engine } from "../engine/current.ts";
import { equalBytes } from "../engine/wire/bytes.ts";
import { compareCodePoints, parentOf } from "../backends/paths.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { CommitOptions, Committed, Op } from "./commit.ts";
import type { Entry, Version } from "./entry.ts";
import type {
  Merged,
  MergeOfForkOptions,
  MergeStates,
  PathConflict,
  PathConflictKind,
  PlannedMerge,
} from "./merged.ts";

/** The reads of one state. */
export interface MergeSide {
  /** Returns the entries of these paths in their order; null for nothing. */
  entries(paths: readonly string[]): Promise<readonly (Entry | null)[]>;
  /** Returns the contents of these files in their order. */
  bodies(paths: readonly string[]): Promise<readonly Uint8Array[]>;
}

/** The side whose changes are brought in, the one that receives them, and their common origin. */
export interface MergeSides {
  readonly base: MergeSide;
  readonly ours: MergeSide & {
    /** Returns the paths directly below a directory. */
    children(path: string): Promise<readonly string[]>;
  };
  readonly theirs: MergeSide;
}

/** The changes of a merge. `seen` are the entries of `ours` that they were computed from. */
export interface MergePlan {
  readonly ops: readonly Op[];
  readonly seen: readonly (readonly [path: string, entry: Entry | null])[];
  readonly conflicts: readonly PathConflict[];
  /** The paths that `theirs` has in another state than `base`. */
  readonly states: readonly MergeStates[];
}

/** Text beyond this size is merged as one content: the engine's comparison takes memory by lines. */
const MAX_MERGED_TEXT_BYTES = 16 * 1024 * 1024;

/** Computes the merge of the paths that `theirs` has changed since `base`. Nothing is written. */
export async function planMerge(
  changed: readonly string[],
  sides: MergeSides,
  favour: MergeOfForkOptions["favour"],
): Promise<MergePlan> {
  const paths = [...new Set(changed)].filter((path) => path !== "/").sort(compareCodePoints);
  const [base, ours, theirs] = await Promise.all([
    sides.base.entries(paths),
    sides.ours.entries(paths),
    sides.theirs.entries(paths),
  ]);
  const states = paths.map((path, index) => ({
    path,
    base: base[index] ?? null,
    ours: ours[index] ?? null,
    theirs: theirs[index] ?? null,
  }));
  const differing = states.filter((state) => !isSame(state.base, state.theirs));
  const conflicts: PathConflict[] = [];
  const taken = new Map<string, MergeStates>();
  const puts: Op[] = [];
  for (const state of differing) {
    if (isSame(state.ours, state.theirs)) continue;
    if (isSame(state.base, state.ours)) {
      taken.set(state.path, state);
      continue;
    }
    const merged = await mergePath(state, sides);
    if ("op" in merged) puts.push(merged);
    else if (favour === undefined) conflicts.push(merged);
    else if (favour === "theirs") taken.set(state.path, state);
  }
  const kept = await removeUnfit(taken, sides, conflicts);
  conflicts.sort((a, b) => compareCodePoints(a.path, b.path));
  const seen = states.map(({ path, ours: entry }) => [path, entry] as const);
  return { ops: [...opsOf(kept), ...puts], seen, conflicts, states: differing };
}

/** Returns a merge as its review sees it. */
export function toPlanned({ states, ops, conflicts }: MergePlan, sides: MergeSides): PlannedMerge {
  return { states, ops, conflicts, bodies: (side, paths) => sides[side].bodies(paths) };
}

/** The states that one attempt at a merge has read, and how its commit is made. */
export interface MergeAttempt {
  /** The version of the storage that receives the changes. */
  readonly version: Version;
  /** The paths that `theirs` has changed since `base`. */
  readonly changed: readonly string[];
  readonly sides: MergeSides;
  /** Returns the merge as its review sees it. */
  planned(plan: MergePlan): PlannedMerge;
  commit(plan: MergePlan): Promise<Committed>;
}

/** How often a merge is computed again when another writer was faster. */
const MAX_MERGE_PLANS = 8;

/** Merges by what an engine reads for each attempt, or returns the answer of an earlier merge with the same key. */
export async function mergeFork(
  { favour, review }: MergeOfForkOptions,
  read: () => Promise<MergeAttempt | Merged>,
): Promise<Merged> {
  for (let attempt = 1; ; attempt++) {
    const found = await read();
    if ("entries" in found) return found;
    const plan = await planMerge(found.changed, found.sides, favour);
    const accepted = review === undefined || (await review(found.planned(plan)));
    const { conflicts } = plan;
    if (!accepted || conflicts.length > 0) return { version: found.version, entries: [], conflicts };
    try {
      return { ...(await found.commit(plan)), conflicts };
    } catch (error) {
      const isStale = error instanceof FilewrightError && error.code === "CONFLICT";
      if (!isStale || attempt === MAX_MERGE_PLANS) throw error;
    }
  }
}

/** Returns the options of the commit of a merge: its paths are as they were when it was computed. */
export function mergeCommit({ seen }: MergePlan, { key, actor, signal }: MergeOfForkOptions): CommitOptions {
  const expect = seen.map(([path, entry]) => ({ path, version: entry?.version ?? null }));
  return { expect, key, actor, signal };
}

/** Merges one path that both sides changed in different ways; returns the change, or the conflict. */
async function mergePath(state: MergeStates, sides: MergeSides): Promise<Op | PathConflict> {
  const { path, base, ours, theirs } = state;
  const conflict = (kind: PathConflictKind, text?: string): PathConflict =>
    Object.freeze({ ...state, kind, ...(text === undefined ? {} : { text }) });
  if (ours === null || theirs === null) return conflict("removed");
  if (ours.type !== theirs.type) return conflict("type");
  if (ours.type === "symlink") return conflict("target");
  const origin = base?.type === ours.type ? base : null;
  const mode = pick(origin?.mode, ours.mode, theirs.mode);
  if (mode === null) return conflict("mode");
  if (ours.type === "dir") return { op: "chmod", path, mode: mode ?? DEFAULT_DIR_MODE };
  const hash = pick(origin?.hash, ours.hash, theirs.hash);
  const modeOption = mode === undefined ? {} : { mode };
  if (typeof hash === "string") {
    const size = (hash === ours.hash ? ours.size : theirs.size) ?? 0;
    return { op: "link", path, hash, size, ...modeOption };
  }
  const [[own], [other], [old]] = await Promise.all([
    sides.ours.bodies([path]),
    sides.theirs.bodies([path]),
    origin === null ? [new Uint8Array(0)] : sides.base.bodies([path]),
  ]);
  const texts = [old, own, other].map((bytes) => textOf(bytes ?? new Uint8Array(0)));
  const [baseText, ourText, theirText] = texts;
  if (baseText === undefined || ourText === undefined || theirText === undefined) return conflict("binary");
  const merged = await engine().onThreads.merge3(baseText, ourText, theirText, {
    labels: { ours: "ours", base: "base", theirs: "theirs" },
  });
  if (merged.conflicts.length > 0) return conflict("content", merged.text);
  return { op: "put", path, body: merged.bytes, ...modeOption };
}

/** Returns the value that only one side changed; null when both did in different ways. */
function pick<T>(base: T | undefined, ours: T | undefined, theirs: T | undefined): T | undefined | null {
  if (ours === theirs || theirs === base) return ours;
  return ours === base ? theirs : null;
}

/** Returns the text of UTF-8 bytes; undefined for other content. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.length > MAX_MERGED_TEXT_BYTES || bytes.includes(0)) return undefined;
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return equalBytes(new TextEncoder().encode(text), bytes) ? text : undefined;
}

/**
 * Returns the paths that can be taken from the fork. A directory that the fork removed stays when this storage has
 * put something else into it. An entry whose parent is no directory here, or that would replace a directory in
 * use, is a conflict.
 */
async function removeUnfit(
  taken: ReadonlyMap<string, MergeStates>,
  { ours }: MergeSides,
  conflicts: PathConflict[],
): Promise<readonly MergeStates[]> {
  const kept: MergeStates[] = [];
  const removed = new Set<string>();
  // Deepest first, so that a directory is judged when what lies below it is known.
  const ordered = [...taken.values()].sort((a, b) => compareCodePoints(b.path, a.path));
  for (const state of ordered) {
    if (state.ours?.type === "dir" && state.theirs?.type !== "dir") {
      const children = await ours.children(state.path);
      if (children.some((child) => !removed.has(child))) {
        if (state.theirs !== null) conflicts.push(Object.freeze({ ...state, kind: "tree" }));
        continue;
      }
    }
    if (state.theirs === null) removed.add(state.path);
    kept.push(state);
  }
  const parents = [
    ...new Set(kept.filter(({ theirs }) => theirs !== null).flatMap(({ path }) => above(path))),
  ];
  const entries = await ours.entries(parents);
  const blocked = new Set(
    parents.filter((path, index) => {
      const type = entries[index]?.type ?? "dir";
      return type !== "dir" && taken.get(path)?.theirs?.type !== "dir";
    }),
  );
  return kept.filter((state) => {
    if (state.theirs === null || !above(state.path).some((path) => blocked.has(path))) return true;
    conflicts.push(Object.freeze({ ...state, kind: "tree" }));
    return false;
  });
}

/** Returns the directories above a path, without `/`. */
function above(path: string): readonly string[] {
  const found: string[] = [];
  for (let at = parentOf(path); at !== "/"; at = parentOf(at)) found.push(at);
  return found;
}

/** Returns the changes that take these paths from the fork: removals from the leaves, then what is made. */
function opsOf(states: readonly MergeStates[]): readonly Op[] {
  const down = [...states].sort((a, b) => compareCodePoints(b.path, a.path));
  const removals = down.flatMap(({ path, ours, theirs }): readonly Op[] => {
    const replaced = theirs?.type !== ours?.type || theirs?.type === "symlink";
    return ours !== null && replaced ? [{ op: "remove", path }] : [];
  });
  const made = [...states]
    .sort((a, b) => compareCodePoints(a.path, b.path))
    .flatMap(({ path, ours, theirs }): readonly Op[] => {
      if (theirs === null) return [];
      const mode = theirs.mode === undefined ? {} : { mode: theirs.mode };
      if (theirs.type === "symlink") return [{ op: "symlink", path, target: theirs.target ?? "" }];
      if (theirs.type === "file")
        return [{ op: "link", path, hash: theirs.hash ?? "", size: theirs.size ?? 0, ...mode }];
      if (ours?.type === "dir")
        return theirs.mode === undefined ? [] : [{ op: "chmod", path, mode: theirs.mode }];
      return [{ op: "mkdir", path, ...mode }];
    });
  return [...removals, ...made];
}

/** Returns true for equal states, whatever their versions are. */
function isSame(a: Entry | null, b: Entry | null): boolean {
  if (a === null || b === null) return a === b;
  return a.type === b.type && a.hash === b.hash && a.mode === b.mode && a.target === b.target;
}
