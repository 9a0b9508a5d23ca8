/** Past states that are kept, forks, and their merge. */
import { FilewrightError } from "../../engine/errors.ts";
import { compareCodePoints } from "../../backends/paths.ts";
import type { Entry, Version } from "../entry.ts";
import { unknownVersionError } from "../failure.ts";
import { isAccepted, type MergePlan, type MergeSides, planMerge, toPlanned } from "../merge.ts";
import type { MergeOfForkOptions } from "../merged.ts";
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
import type { Merged } from "../merged.ts";
import { parseListing } from "./xml.ts";

/** A past state of the files. */
export interface KeptState {
  readonly version: Version;
  readonly files: Table;
}

/** How often a merge is computed again when another writer was faster. */
const MAX_MERGE_PLANS = 8;
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

const isConflict = (error: unknown): boolean => error instanceof FilewrightError && error.code === "CONFLICT";

/** Brings the changes of another workspace in. */
export async function mergeWorkspaces(
  ours: MergeParty,
  theirs: MergeParty,
  options: MergeOfForkOptions,
): Promise<Merged> {
  const { signal, key, actor } = options;
  for (let attempt = 1; ; attempt += 1) {
    const [{ root }, { root: other }] = await Promise.all([
      ours.parts.state.current(signal),
      theirs.parts.state.current(signal),
    ]);
    const origin = commonOrigin(ours.workspace, root, theirs.workspace, other);
    const now = ours.parts.objects.client.now();
    const known = key === undefined ? undefined : await ours.parts.commits.withKey(root, key, now, signal);
    if (known !== undefined)
      return {
        version: known.version,
        entries: known.log.answer.map(toEntry),
        conflicts: [],
        repeated: true,
      };
    const base = await originTable(ours.parts, origin, signal);
    const view = (table: Table): TableView =>
      new TableView(table, ours.parts.keys, ours.parts.objects, signal);
    const { plan, sides } = await planTables(
      ours.parts,
      view(base),
      view(root.files),
      view(other.files),
      options,
      () => theirs.parts.commits.pathsSince(other, origin.version, signal),
    );
    if (!(await isAccepted(toPlanned(plan, sides), options)))
      return { version: root.version, entries: [], conflicts: plan.conflicts };
    const state = await stateObject(ours.parts, { version: other.version, files: other.files });
    await storeObjects(ours.parts.objects, [state], signal);
    const merged = {
      [theirs.workspace]: { workspace: theirs.workspace, version: other.version, state: state.hex },
    };
    const expect = plan.seen.map(([path, entry]) => ({ path, version: entry?.version ?? null }));
    try {
      const answer = await commit(ours.parts, plan.ops, { expect, key, actor, signal }, merged);
      return { ...answer, conflicts: [] };
    } catch (error) {
      if (!isConflict(error) || attempt === MAX_MERGE_PLANS) throw error;
    }
  }
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

/** Computes the merge of three tables. */
async function planTables(
  parts: CommitParts,
  base: TableView,
  ours: TableView,
  theirs: TableView,
  options: MergeOfForkOptions,
  known: () => Promise<readonly string[] | undefined>,
): Promise<{ readonly plan: MergePlan; readonly sides: MergeSides }> {
  const { keys, objects, blobs } = parts;
  const side = (
    view: TableView,
  ): {
    entries(paths: readonly string[]): Promise<readonly (Entry | null)[]>;
    bodies(paths: readonly string[]): Promise<readonly Uint8Array[]>;
  } => ({
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
        return objects.content(keys.blob(rowHex(row)), rowHex(row), rowSize(row), options.signal);
      }),
  });
  const sides = {
    base: side(base),
    ours: {
      ...side(ours),
      children: async (path: string) => {
        const { entries } = await listBelow(ours, path, 1, "", Number.MAX_SAFE_INTEGER);
        return entries.map((entry) => entry.path);
      },
    },
    theirs: side(theirs),
  };
  const changed = (await known()) ?? (await changedPaths(base, theirs));
  return { plan: await planMerge(changed, sides, options.favour), sides };
}

/** Returns the paths in which two tables differ, for a history that is not kept any more. */
async function changedPaths(before: TableView, after: TableView): Promise<readonly string[]> {
  const rows = async (view: TableView): Promise<ReadonlyMap<string, Row>> =>
    new Map((await view.range("/", "0", Number.POSITIVE_INFINITY)).map((row) => [row[0], row]));
  const [old, now] = await Promise.all([rows(before), rows(after)]);
  const paths = new Set([...old.keys(), ...now.keys()]);
  return [...paths].filter((path) => old.get(path)?.[2] !== now.get(path)?.[2]).sort(compareCodePoints);
}
