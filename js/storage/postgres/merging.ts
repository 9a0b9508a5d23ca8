/** The merge of a fork on Postgres: the shared plan over reads that fetch entries and contents together. */
import { FilewrightError } from "../../engine/errors.ts";
import { planMerge, type MergeSides } from "../merge.ts";
import type { Entry, Merged, MergeOfForkOptions, ReadManyOptions, Storage, Version } from "../storage.ts";
import type { WorkspacePlace } from "./place.ts";

/** How often a merge is computed again when another writer was faster. */
const MAX_MERGE_PLANS = 8;
/** The contents that are read with the entries, because most of what both sides changed is text to merge. */
const MAX_EAGER_BYTES = 8 * 1024 * 1024;
const LIST_PAGE = 1000;

/** One side of a merge. */
export type MergedStorage = Storage &
  Required<Pick<Storage, "snapshot">> & { readonly place: WorkspacePlace };

/** Brings the changes of one storage into another of the same family. */
export async function mergeInto(
  into: MergedStorage,
  from: MergedStorage,
  options: MergeOfForkOptions,
): Promise<Merged> {
  const { key, actor, signal, favour } = options;
  const { database, tenant, id } = into.place;
  const repeated = key === undefined ? undefined : await repeatedMerge(into, key, options);
  if (repeated !== undefined) return repeated;
  for (let attempt = 1; ; attempt++) {
    const rows = await database.read("merge_base", [tenant, id, from.place.id], signal);
    const base = rows.find((row) => row["base"] !== null)?.["base"];
    if (base === undefined)
      throw new FilewrightError("INVALID_ARGUMENT", "this is neither a fork of the storage nor its parent");
    const changed = rows.flatMap((row) => (row["path"] === null ? [] : [String(row["path"])]));
    const theirs = await from.snapshot({ signal });
    try {
      const sides = {
        base: sideOf(from, { at: String(base), signal }),
        ours: { ...sideOf(into, { signal }), children: (path: string) => childrenOf(into, path, signal) },
        theirs: sideOf(from, { at: theirs.at, signal }),
      };
      const { ops, seen, conflicts } = await planMerge(changed, sides, favour);
      if (conflicts.length > 0) return { version: await headOf(into), entries: [], conflicts };
      const expect = seen.map(([path, entry]) => ({ path, version: entry?.version ?? null }));
      const answer = await into.commit(ops, { expect, key, actor, signal });
      await database.change("merge_done", [tenant, id, from.place.id, theirs.at]);
      return { ...answer, conflicts: [] };
    } catch (error) {
      const isStale = error instanceof FilewrightError && error.code === "CONFLICT";
      if (!isStale || attempt === MAX_MERGE_PLANS) throw error;
    } finally {
      await theirs.release();
    }
  }
}

/** Returns the answer of a merge whose key is known, by a commit of nothing under a condition that never holds. */
async function repeatedMerge(
  into: Storage,
  key: string,
  { signal }: MergeOfForkOptions,
): Promise<Merged | undefined> {
  try {
    const answer = await into.commit([], { key, signal, expect: [{ path: "/", type: "gone" }] });
    return { ...answer, conflicts: [] };
  } catch (error) {
    if (error instanceof FilewrightError && error.code === "CONFLICT") return undefined;
    throw error;
  }
}

function sideOf(storage: Storage, options: ReadManyOptions): MergeSides["base"] {
  const read = new Map<string, Uint8Array>();
  return {
    async entries(paths) {
      const { results } = await storage.readMany(paths, { ...options, maxBytes: MAX_EAGER_BYTES });
      return results.map((one): Entry | null => {
        if (one instanceof FilewrightError) throw one;
        if (one?.body !== undefined) read.set(one.entry.path, one.body);
        return one?.entry ?? null;
      });
    },
    async bodies(paths) {
      const missing = paths.filter((path) => !read.has(path));
      if (missing.length > 0) {
        for (const one of (await storage.readMany(missing, options)).results) {
          if (one instanceof FilewrightError) throw one;
          if (one?.body !== undefined) read.set(one.entry.path, one.body);
        }
      }
      return paths.map((path) => read.get(path) ?? new Uint8Array(0));
    },
  };
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

async function headOf(storage: Storage): Promise<Version> {
  return (await storage.readMany([], { bodies: false })).version;
}
