/** Past states that are kept, forks, and their merge. */
import {
  compareCodePoints,
  FilewrightError,
  type MergeAttempt,
  mergeCommit,
  type Merged,
  mergeFork,
  type MergeOfForkOptions,
  type MergeSide,
  toPlanned,
  unknownVersionError,
  type Version,
} from "filewright/files";
import { mapParallel } from "./blobs.ts";
import { randomId, sha256, toJsonBytes } from "./codec.ts";
import { commit, type CommitParts, storeObjects } from "./commit.ts";
import { damageError } from "./failure.ts";
import { type Row, type Table, TableView } from "./manifest.ts";
import type { NewObject } from "./objects.ts";
import { listBelow, rowAt } from "./reading.ts";
import {
  EMPTY_ROOT,
  FIRST_VERSION,
  type Origin,
  type PastPage,
  type Root,
  rowHex,
  rowSize,
  toEntry,
} from "./root.ts";
import { parseListing } from "./xml.ts";

/** A past state of the files. */
export interface KeptState {
  readonly version: Version;
  readonly files: Table;
}

const MAX_LISTING_BYTES = 16 * 1024 * 1024;

/** Keeps a state, so that every process can read it. Returns the key of its object. */
export async function keepState(
  { keys, objects }: CommitParts,
  state: KeptState,
  signal: AbortSignal | undefined,
): Promise<string> {
  const key = keys.states(state.version) + randomId();
  await objects.putJson(key, state, signal);
  return key;
}

/** Returns a state that some process keeps. @throws INVALID_ARGUMENT */
export async function readKeptState(
  { keys, objects }: CommitParts,
  version: Version,
  signal: AbortSignal | undefined,
): Promise<KeptState> {
  const query = { "list-type": "2", prefix: keys.states(version), "max-keys": "1" };
  const { body } = await objects.client.send({ method: "GET", query, maxBytes: MAX_LISTING_BYTES, signal });
  const [first] = parseListing(new TextDecoder().decode(body)).objects;
  const state = first && ((await objects.json(first.key, undefined, signal)) as KeptState | undefined);
  if (state === undefined) throw unknownVersionError(version);
  return state;
}

/** Returns the object with a state that forks refer to. */
async function stateObject({ keys }: CommitParts, state: KeptState): Promise<NewObject> {
  const body = toJsonBytes({ id: randomId(), ...state });
  const hex = await sha256(body);
  return { key: keys.page(hex), body, hex };
}

/** Returns the commits up to a version. */
async function commitsUpTo(
  { keys, objects }: CommitParts,
  root: Root,
  version: Version,
  signal: AbortSignal | undefined,
): Promise<Pick<Root, "commits" | "past">> {
  let part: Pick<Root, "commits" | "past"> = root;
  for (;;) {
    const at = part.commits.findLastIndex(({ id }) => id === version);
    if (at >= 0) return { commits: part.commits.slice(0, at + 1), past: part.past };
    if (part.past === null || version === FIRST_VERSION) return { commits: [], past: null };
    const page = (await objects.json(keys.page(part.past), part.past, signal)) as PastPage | undefined;
    part = page === undefined ? EMPTY_ROOT : { commits: page.commits, past: page.before };
  }
}

/** Returns the root of a fork, with the object that it refers to. */
export async function forkRoot(
  parts: CommitParts,
  workspace: string,
  root: Root,
  state: KeptState,
  signal: AbortSignal | undefined,
): Promise<{ readonly root: Root; readonly state: NewObject }> {
  const stored = await stateObject(parts, state);
  const origin: Origin = { workspace, version: state.version, state: stored.hex };
  const { commits, past } = await commitsUpTo(parts, root, state.version, signal);
  return {
    root: { ...EMPTY_ROOT, version: state.version, files: state.files, commits, past, origin },
    state: stored,
  };
}

/** One side of a merge: a workspace and its root. */
export interface MergeParty {
  readonly workspace: string;
  readonly parts: CommitParts;
}

/** Brings the changes of another workspace in. */
export function mergeWorkspaces(
  ours: MergeParty,
  theirs: MergeParty,
  options: MergeOfForkOptions,
): Promise<Merged> {
  return mergeFork(options, () => readMerge(ours, theirs, options));
}

/** Reads what an attempt at a merge needs, or the answer to an earlier merge with its key. */
async function readMerge(
  ours: MergeParty,
  theirs: MergeParty,
  options: MergeOfForkOptions,
): Promise<MergeAttempt | Merged> {
  const { signal, key } = options;
  const { parts } = ours;
  const [{ root }, { root: other }] = await Promise.all([
    parts.state.current(signal),
    theirs.parts.state.current(signal),
  ]);
  const origin = commonOrigin(ours.workspace, root, theirs.workspace, other);
  const now = parts.objects.client.now();
  const known = key === undefined ? undefined : await parts.commits.withKey(root, key, now, signal);
  if (known !== undefined) {
    return { version: known.version, entries: known.log.answer, conflicts: [], repeated: true };
  }
  const [base, own, merged] = [await originTable(parts, origin, signal), root.files, other.files].map(
    (table) => new TableView(table, parts.keys, parts.objects, signal),
  ) as [TableView, TableView, TableView];
  const sides = {
    base: sideOf(parts, base, signal),
    ours: { ...sideOf(parts, own, signal), children: (path: string) => childrenOf(own, path) },
    theirs: sideOf(parts, merged, signal),
  };
  return {
    version: root.version,
    changed:
      (await theirs.parts.commits.pathsSince(other, origin.version, signal)) ??
      (await changedPaths(base, merged)),
    sides,
    planned: (plan) => toPlanned(plan, sides),
    commit: async (plan) => {
      const { version, files } = other;
      const state = await stateObject(parts, { version, files });
      await storeObjects(parts.objects, [state], signal);
      const bringsIn = { workspace: theirs.workspace, version, state: state.hex };
      return commit(parts, plan.ops, mergeCommit(plan, options), { [theirs.workspace]: bringsIn });
    },
  };
}

/** Returns the state that two workspaces had in common last. */
function commonOrigin(name: string, root: Root, otherName: string, other: Root): Origin {
  const last = root.merged[otherName];
  if (last !== undefined) return last;
  if (other.origin?.workspace === name) return other.origin;
  if (root.origin?.workspace === otherName) return root.origin;
  throw new FilewrightError("INVALID_ARGUMENT", "this is neither a fork of the storage nor its parent");
}

async function originTable(
  { keys, objects }: CommitParts,
  { state }: Origin,
  signal: AbortSignal | undefined,
): Promise<Table> {
  const kept = (await objects.json(keys.page(state), state, signal)) as KeptState | undefined;
  if (kept === undefined) throw damageError(keys.page(state), "is missing");
  return kept.files;
}

/** Returns the reads of one side of a merge. */
function sideOf(
  { keys, objects, blobs }: CommitParts,
  view: TableView,
  signal: AbortSignal | undefined,
): MergeSide {
  return {
    entries: (paths) =>
      mapParallel(paths, async (path) => {
        const row = await rowAt(view, path);
        if (row?.[1] === "f") blobs.see(rowHex(row), rowSize(row));
        return row === undefined ? null : toEntry(row);
      }),
    bodies: (paths) =>
      mapParallel(paths, async (path) => {
        const row = await rowAt(view, path);
        if (row?.[1] !== "f") return new Uint8Array(0);
        return objects.content(keys.blob(rowHex(row)), rowHex(row), rowSize(row), signal);
      }),
  };
}

async function childrenOf(view: TableView, path: string): Promise<readonly string[]> {
  const { entries } = await listBelow(view, path, 1, "", Number.MAX_SAFE_INTEGER);
  return entries.map((entry) => entry.path);
}

/** Returns the paths in which two tables differ, for a history that is not kept any more. */
async function changedPaths(before: TableView, after: TableView): Promise<readonly string[]> {
  const rows = async (view: TableView): Promise<ReadonlyMap<string, Row>> =>
    new Map((await view.range("/", "0", Number.POSITIVE_INFINITY)).map((row) => [row[0], row]));
  const [old, now] = await Promise.all([rows(before), rows(after)]);
  const paths = new Set([...old.keys(), ...now.keys()]);
  return [...paths].filter((path) => old.get(path)?.[2] !== now.get(path)?.[2]).sort(compareCodePoints);
}
