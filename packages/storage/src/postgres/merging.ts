/** The merge of a fork on Postgres: one round trip reads what the shared plan needs, another one commits. */
import {
  type CommitOptions,
  type Committed,
  type Entry,
  FilewrightError,
  mergeCommit,
  type Merged,
  mergeFork,
  type MergeOfForkOptions,
  type MergePlan,
  type MergeSide,
  type MergeSides,
  type Op,
  type PlannedMerge,
  type ReadManyOptions,
  type Storage,
  toPlanned,
  type Version,
} from "filewright/files";
import { bytesOf } from "./client.ts";
import type { WorkspacePlace } from "./place.ts";
import { toEntry } from "./rows.ts";

/** The contents that are read with the entries: those of files that both sides changed. */
const MAX_EAGER_BYTES = 8 * 1024 * 1024;
const LIST_PAGE = 1000;

/** One side of a merge. */
export interface MergedStorage extends Storage {
  readonly place: WorkspacePlace;
  /** Commits, and records the version of the other side that the commit brought in. */
  commitMerge(
    ops: readonly Op[],
    options: CommitOptions,
    from: { readonly id: string; readonly version: Version },
  ): Promise<Committed>;
}

/** A merge that was computed: everything that its commit needs. */
interface ReadyMerge {
  /** The workspace that receives the changes. */
  readonly into: string;
  readonly plan: MergePlan;
  readonly source: { readonly id: string; readonly version: Version };
}

/** A merge as a review sees it, with what its commit needs. */
class ReviewedMerge implements PlannedMerge {
  readonly states: PlannedMerge["states"];
  readonly ops: PlannedMerge["ops"];
  readonly conflicts: PlannedMerge["conflicts"];
  readonly bodies: PlannedMerge["bodies"];
  readonly #ready: ReadyMerge;

  constructor(ready: ReadyMerge, sides: MergeSides) {
    const { states, ops, conflicts, bodies } = toPlanned(ready.plan, sides);
    this.states = states;
    this.ops = ops;
    this.conflicts = conflicts;
    this.bodies = bodies;
    this.#ready = ready;
  }

  /** Returns what was computed for a merge that was reviewed; undefined for another object. */
  static readyOf(planned: PlannedMerge | undefined): ReadyMerge | undefined {
    return planned !== undefined && #ready in planned ? planned.#ready : undefined;
  }
}

/** Brings the changes of one storage into another of the same family. */
export async function mergeInto(
  into: MergedStorage,
  from: MergedStorage,
  options: MergeOfForkOptions,
): Promise<Merged> {
  const make = ({ plan, source }: ReadyMerge): Promise<Committed> =>
    into.commitMerge(plan.ops, mergeCommit(plan, options), source);
  const known = ReviewedMerge.readyOf(options.planned);
  if (known?.into === into.place.id && known.source.id === from.place.id && known.plan.conflicts.length === 0)
    return { ...(await make(known)), conflicts: [] };
  return mergeFork(options, async () => {
    const read = await readSides(into, from, options);
    if (read === undefined) return repeatedMerge(into, options);
    const source = { id: from.place.id, version: read.theirs };
    const readyOf = (plan: MergePlan): ReadyMerge => ({ into: into.place.id, plan, source });
    return {
      version: read.head,
      changed: read.changed,
      sides: read.sides,
      planned: (plan) => new ReviewedMerge(readyOf(plan), read.sides),
      commit: (plan) => make(readyOf(plan)),
    };
  });
}

/** What one round trip reads for a merge. */
interface ReadSides {
  /** The version of the storage that receives the changes. */
  readonly head: Version;
  /** The version of the other storage that is merged. */
  readonly theirs: Version;
  readonly changed: readonly string[];
  readonly sides: MergeSides;
}

/** Reads the three states of what the other side changed; undefined when the key of the merge is known. */
async function readSides(
  into: MergedStorage,
  from: MergedStorage,
  { key, signal }: MergeOfForkOptions,
): Promise<ReadSides | undefined> {
  const { database, tenant, id } = into.place;
  const values = [tenant, id, from.place.id, key ?? null, MAX_EAGER_BYTES];
  const rows = await database.read("merge_read", values, signal);
  let versions: { readonly head: Version; readonly base: Version; readonly theirs: Version } | undefined;
  const changed: string[] = [];
  const found = { base: new KnownStates(), ours: new KnownStates(), theirs: new KnownStates() };
  const above: Entry[] = [];
  for (const row of rows) {
    const side = String(row["side"]);
    if (side === "key") return undefined;
    if (side === "head")
      versions = {
        head: String(row["version"]),
        base: String(row["hash"]),
        theirs: String(row["target"]),
      };
    else if (side === "path") changed.push(String(row["path"]));
    else if (side === "up") above.push(toEntry(row));
    else found[side as keyof typeof found].add(toEntry(row), row["body"]);
  }
  if (versions === undefined)
    throw new FilewrightError("INVALID_ARGUMENT", "this is neither a fork of the storage nor its parent");
  for (const states of Object.values(found)) states.complete(changed);
  for (const entry of above) found.ours.add(entry, null);
  const { head, base, theirs } = versions;
  return {
    head,
    theirs,
    changed,
    sides: {
      base: found.base.side(from, { at: base, signal }),
      ours: {
        ...found.ours.side(into, { signal }),
        children: (path: string) => childrenOf(into, path, signal),
      },
      theirs: found.theirs.side(from, { at: theirs, signal }),
    },
  };
}

/** The states of one side that were read already. */
class KnownStates {
  readonly #entries = new Map<string, Entry | null>();
  readonly #bodies = new Map<string, Uint8Array>();

  add(entry: Entry, body: unknown): void {
    this.#entries.set(entry.path, entry);
    if (body !== null) this.#bodies.set(entry.path, bytesOf(body));
  }

  /** Of these paths, those without an entry have none. */
  complete(paths: readonly string[]): void {
    for (const path of paths) if (!this.#entries.has(path)) this.#entries.set(path, null);
  }

  /** Returns the reads of the side: what is not known is read from the storage. */
  side(storage: Storage, options: ReadManyOptions): MergeSide {
    const read = async (paths: readonly string[], bodies: boolean): Promise<void> => {
      if (paths.length === 0) return;
      const { results } = await storage.readMany(paths, { ...options, bodies });
      for (const [index, one] of results.entries()) {
        if (one instanceof FilewrightError) throw one;
        const path = paths[index] as string;
        this.#entries.set(path, one?.entry ?? null);
        if (one?.body !== undefined) this.#bodies.set(path, one.body);
      }
    };
    return {
      entries: async (paths) => {
        await read(
          paths.filter((path) => !this.#entries.has(path)),
          false,
        );
        return paths.map((path) => this.#entries.get(path) ?? null);
      },
      bodies: async (paths) => {
        await read(
          paths.filter((path) => !this.#bodies.has(path)),
          true,
        );
        return paths.map((path) => this.#bodies.get(path) ?? new Uint8Array(0));
      },
    };
  }
}

/** Returns the answer of a merge whose key is known, by a commit of nothing. */
async function repeatedMerge(into: Storage, { key, signal }: MergeOfForkOptions): Promise<Merged> {
  return { ...(await into.commit([], { key, signal })), conflicts: [] };
}

async function childrenOf(
  storage: Storage,
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await storage.list({ prefix, depth: 1, limit: LIST_PAGE, after, signal });
    found.push(...page.entries.map(({ path }) => path));
    if (page.next === undefined) return found;
    after = page.next;
  }
}
