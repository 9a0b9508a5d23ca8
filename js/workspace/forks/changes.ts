/** The changes of a fork and of a merge as data: paths as results show them, states, hunks and a diff. */
import { engine } from "../../engine/current.ts";
import type { DiffHunk, DiffResult } from "../../engine/text/diff.ts";
import { EMPTY_BYTES } from "../../engine/wire/bytes.ts";
import type { Entry, MergeStates, PathConflict, PlannedMerge } from "../../storage/storage.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { textIfDecodable } from "../../tools/render/preview.ts";

/** The state of a path on one side. */
export interface ForkState {
  /** The kind of the entry; `other` for what is neither file, directory nor symbolic link. */
  readonly type: "file" | "dir" | "symlink" | "other";
  /** The size of a file in bytes. Absent for a file of a removed directory, which was not read. */
  readonly size?: number;
  /** `sha256:` of the content of a file. Absent for a file of a removed directory, which was not read. */
  readonly hash?: string;
  /** The permission bits. Absent where the files have none, and for a directory whose bits did not change. */
  readonly mode?: number;
  /** The target of a symbolic link, as written. */
  readonly target?: string;
}

/** A path that a fork changed. */
export interface ForkChange {
  /** The path, relative to the working directory if it is inside. */
  readonly path: string;
  /** The kind of the change of the path. */
  readonly change: "added" | "changed" | "removed";
  /** The state when the fork began, or first changed the path; null when there was nothing. */
  readonly before: ForkState | null;
  /** The state in the fork; null when there is nothing. */
  readonly after: ForkState | null;
  /** The changed lines. Absent where a content is no text, larger than 16 MiB, or not kept. */
  readonly hunks?: readonly DiffHunk[];
}

/** The changes of a fork. */
export interface ForkDiff {
  /** The changed paths, sorted. */
  readonly changes: readonly ForkChange[];
  /** The changes as one diff in the format of git. Present on request. */
  readonly text?: string;
}

/** A path that could not be merged, with its three states. */
export interface ForkConflict {
  /** The path, relative to the working directory if it is inside. */
  readonly path: string;
  /** The reason of the conflict, as of the merges of storages. */
  readonly kind: PathConflict["kind"];
  /** The state that both sides began with; null where nothing exists. */
  readonly base: ForkState | null;
  /** The state in the parent; null where nothing exists. */
  readonly ours: ForkState | null;
  /** The state in the fork; null where nothing exists. */
  readonly theirs: ForkState | null;
  /** The merged text with conflict markers, for the kind `content`. */
  readonly text?: string;
}

/** A path that a merge changed in the parent. */
export interface MergedChange {
  /** The path, relative to the working directory if it is inside. */
  readonly path: string;
  /** The result of the merge for the path. */
  readonly change: "added" | "changed" | "removed";
}

/** The largest content of which a diff is computed. */
const MAX_DIFF_BYTES = 16 * 1024 * 1024;

/** Returns what a fork changed. `display` returns a path as results show it. */
export async function diffOf(
  plan: PlannedMerge,
  display: (path: string) => string,
  { text: isWanted, context }: { readonly text?: boolean | undefined; readonly context?: number | undefined },
): Promise<ForkDiff> {
  const changes: ForkChange[] = [];
  let text = "";
  for (const state of plan.states) {
    const path = display(state.path);
    const diff = await diffOfState(plan, state, path, context);
    const [before, after] = [toForkState(state.base), toForkState(state.theirs)];
    const change = changeOf(state.base, state.theirs);
    changes.push(Object.freeze({ path, change, before, after, ...withoutUndefined({ hunks: diff?.hunks }) }));
    if (isWanted === true) text += headerOf(path, state) + (diff?.text ?? binaryLine(path, state));
  }
  const told = withoutUndefined({ text: isWanted === true ? text : undefined });
  return Object.freeze({ changes: Object.freeze(changes), ...told });
}

/** Returns the diff of a file that a fork changed; undefined for what is no text. */
async function diffOfState(
  plan: PlannedMerge,
  state: PlannedMerge["states"][number],
  path: string,
  context: number | undefined,
): Promise<DiffResult | undefined> {
  const sides = await textsOf(plan, state);
  return (
    sides &&
    engine().diffAsync(sides.before, sides.after, {
      oldName: state.base === null ? null : path,
      newName: state.theirs === null ? null : path,
      ...withoutUndefined({ context }),
      lineEnds: "raw",
    })
  );
}

/** Returns what a merge does to the parent. */
export function mergedChangesOf(
  { ops, states }: PlannedMerge,
  display: (path: string) => string,
): readonly MergedChange[] {
  const ours = new Map(states.map((state) => [state.path, state.ours]));
  const changes = new Map<string, MergedChange>();
  for (const op of ops) {
    const path = op.op === "move" ? op.to : op.path;
    const there = ours.get(path) ?? null;
    const change = there === null ? "added" : op.op === "remove" ? "removed" : "changed";
    // An entry of another kind is removed before it is made.
    changes.set(path, Object.freeze({ path: display(path), change }));
  }
  return Object.freeze([...changes.values()]);
}

/** Returns a conflict as its caller sees it. */
export function toForkConflict(
  { path, kind, base, ours, theirs, text }: PathConflict,
  display: (path: string) => string,
): ForkConflict {
  return Object.freeze({
    path: display(path),
    kind,
    base: toForkState(base),
    ours: toForkState(ours),
    theirs: toForkState(theirs),
    ...(text === undefined ? {} : { text }),
  });
}

function changeOf(before: Entry | null, after: Entry | null): ForkChange["change"] {
  if (before === null) return "added";
  return after === null ? "removed" : "changed";
}

function toForkState(entry: Entry | null): ForkState | null {
  if (entry === null) return null;
  const { type, size, hash, mode, target } = entry;
  return Object.freeze({
    type: type === "gone" ? "other" : type,
    ...(size === undefined ? {} : { size }),
    ...(isHash(hash) ? { hash } : {}),
    ...(mode === undefined ? {} : { mode }),
    ...(target === undefined ? {} : { target }),
  });
}

function isHash(hash: string | undefined): hash is string {
  return hash?.startsWith("sha256:") === true;
}

/** Returns the two texts of a changed file or link; undefined for anything else. */
async function textsOf(
  plan: PlannedMerge,
  { path, base, ours, theirs }: MergeStates,
): Promise<{ readonly before: Uint8Array; readonly after: Uint8Array } | undefined> {
  const isText = (entry: Entry | null): boolean =>
    entry === null || (entry.type === "file" && (entry.size ?? 0) <= MAX_DIFF_BYTES);
  if (!isText(base) || !isText(theirs)) return undefined;
  const read = async (side: "base" | "ours" | "theirs"): Promise<Uint8Array> =>
    (await plan.bodies(side, [path]))[0] ?? EMPTY_BYTES;
  // What was not read before it was removed is in the parent, as long as that has not changed it.
  if (base !== null && !isHash(base.hash) && ours?.hash !== base.hash) return undefined;
  const before = base === null ? EMPTY_BYTES : await read(isHash(base.hash) ? "base" : "ours");
  const after = theirs === null ? EMPTY_BYTES : await read("theirs");
  return textIfDecodable(before) === null || textIfDecodable(after) === null ? undefined : { before, after };
}

const LINK_MODE = "120000";
const FILE_MODE_PREFIX = "100";

/** Returns the header of git for one path; empty for a directory, which git does not know. */
function headerOf(path: string, { base, theirs }: MergeStates): string {
  if ((base ?? theirs)?.type === "dir" && theirs?.type !== "file") return "";
  const name = path.replace(/^\//u, "");
  const [before, after] = [gitModeOf(base), gitModeOf(theirs)];
  const lines = [`diff --git a/${name} b/${name}`];
  if (before === undefined && after !== undefined) lines.push(`new file mode ${after}`);
  else if (after === undefined && before !== undefined) lines.push(`deleted file mode ${before}`);
  else if (before !== after) lines.push(`old mode ${before}`, `new mode ${after}`);
  return `${lines.join("\n")}\n`;
}

function gitModeOf(entry: Entry | null): string | undefined {
  if (entry?.type === "symlink") return LINK_MODE;
  if (entry?.type !== "file") return undefined;
  return `${FILE_MODE_PREFIX}${((entry.mode ?? 0o644) & 0o111) === 0 ? "644" : "755"}`;
}

function binaryLine(path: string, { base, theirs }: MergeStates): string {
  if (base?.hash === theirs?.hash && base?.target === theirs?.target) return "";
  if ((base ?? theirs)?.type === "dir") return "";
  const name = path.replace(/^\//u, "");
  const [before, after] = [
    base === null ? "/dev/null" : `a/${name}`,
    theirs === null ? "/dev/null" : `b/${name}`,
  ];
  return base?.type === "symlink" || theirs?.type === "symlink"
    ? `Links ${before} (${base?.target ?? ""}) and ${after} (${theirs?.target ?? ""}) differ\n`
    : `Binary files ${before} and ${after} differ\n`;
}
