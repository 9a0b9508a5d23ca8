/** Commits: planned on a root, stored, and decided by the replacement of the root. */
import {
  type CommitOptions,
  type Committed,
  conflictError,
  draftChanges,
  type DraftedChanges,
  type Expect,
  fencedError,
  isWithin,
  type Op,
  parentOf,
  pathsOfOp,
  type ReadyOp,
  unmetBy,
  type UnmetExpect,
  type UnmetRecord,
  type Version,
} from "filewright/files";
import { hashOps, mapParallel, type Blobs } from "./blobs.ts";
import { randomId, sha256, toJsonBytes } from "./codec.ts";
import type { Commits } from "./commits.ts";
import type { Keys } from "./keys.ts";
import { TableView } from "./manifest.ts";
import type { NewObject, Objects } from "./objects.ts";
import { below, rowAt } from "./reading.ts";
import { RecordDraft } from "./records.ts";
import { type CommitLog, type Root, toEntry, toRow, toStoredLog } from "./root.ts";
import type { Plan, RootState } from "./state.ts";

/** The parts of a storage that a commit needs. */
export interface CommitParts {
  readonly keys: Keys;
  readonly objects: Objects;
  readonly state: RootState;
  readonly commits: Commits;
  readonly blobs: Blobs;
}

/** Stores objects under names that are theirs alone. */
export async function storeObjects(
  objects: Objects,
  list: readonly NewObject[],
  signal: AbortSignal | undefined,
): Promise<void> {
  await mapParallel(list, ({ key, body, hex }) =>
    objects.client.send({ method: "PUT", key, body, sha256: hex, signal }),
  );
}

const toAnswer = ({ answer }: CommitLog, version: string): Committed =>
  Object.freeze({ version, entries: Object.freeze([...answer]) });

/** Returns the object of a log, which is remembered. */
async function logObject({ keys, objects }: CommitParts, log: CommitLog): Promise<NewObject> {
  const [key, stored] = [keys.log(log.id), toStoredLog(log)];
  const body = toJsonBytes(stored);
  objects.rememberJson(key, stored, body.length);
  return { key, body, hex: await sha256(body) };
}

/** Makes a commit whose arguments were checked. `merged` notes the states of forks that it brings in. */
export async function commit(
  parts: CommitParts,
  ops: readonly Op[],
  options: CommitOptions,
  merged?: Root["merged"],
): Promise<Committed> {
  const { signal, key, token } = options;
  // No lock of this storage has a token, so none can be valid.
  if (token !== undefined) throw fencedError();
  const { ready, bodies } = await hashOps(ops);
  const id = randomId();
  const { state, blobs, objects } = parts;
  // The contents are on their way while the root is read and the commit is planned.
  const stop = new AbortController();
  const contents = blobs.store(
    ops,
    bodies,
    signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]),
  );
  contents.catch(() => {});
  const stored = new Set<string>();
  // One time for all plans: a plan on another root mostly has the same log then, which is stored once.
  let now: number | undefined;
  const plan = async (root: Root): Promise<Plan<Committed>> => {
    now ??= objects.client.now();
    const known = key === undefined ? undefined : await parts.commits.withKey(root, key, now, signal);
    if (known !== undefined) return { answer: { ...toAnswer(known.log, known.version), repeated: true } };
    const files = new TableView(root.files, parts.keys, objects, signal);
    await readPages(files, ready);
    const records = new RecordDraft(new TableView(root.records, parts.keys, objects, signal), now, id);
    const unmet: (UnmetExpect | UnmetRecord)[] = [];
    for (const expect of options.expect ?? []) {
      const found = await unmetExpect(parts, root, files, expect, signal);
      if (found !== undefined) unmet.push(found);
    }
    unmet.push(...(await records.unmet(options.records ?? [])));
    if (unmet.length > 0) throw conflictError(unmet);
    const drafted = await draftOn(files, ready, id, now);
    await records.apply(options.records ?? []);
    const log = { id, changes: drafted.changes, answer: drafted.entries };
    const isChange = log.changes.length > 0;
    const version = isChange ? id : root.version;
    const answer = toAnswer(log, version);
    const [fileTable, recordTable] = [
      isChange
        ? await files.change(log.changes.map(({ path, after }) => (after ? toRow(after) : [path, "x"])))
        : { table: root.files, pages: [] },
      await records.table(),
    ];
    const news: NewObject[] = [...fileTable.pages, ...recordTable.pages];
    let next: Root = { ...root, version, files: fileTable.table, records: recordTable.table };
    if (merged !== undefined) next = { ...next, merged: { ...root.merged, ...merged } };
    if (isChange || key !== undefined) {
      const head = {
        id,
        at: now,
        count: log.changes.length,
        ...(key === undefined ? {} : { key }),
        ...(options.actor === undefined ? {} : { actor: options.actor }),
      };
      const { part, page } = await parts.commits.add(root, head);
      next = { ...next, ...part };
      if (page !== undefined) news.push(page);
      news.push(await logObject(parts, log));
    } else if (next.records === root.records && merged === undefined) {
      // The contents count for links that name nothing.
      await contents;
      return { answer };
    }
    return {
      answer,
      root: next,
      async store() {
        // A plan on another root has mostly the same objects, which are stored once.
        const missing = news.filter((one) => !stored.has(`${one.key} ${one.hex}`));
        await Promise.all([contents, storeObjects(objects, missing, signal)]);
        for (const one of missing) stored.add(`${one.key} ${one.hex}`);
      },
    };
  };
  try {
    return await state.change(plan, signal);
  } catch (error) {
    // What a refused commit would have named is not sent any further.
    stop.abort();
    throw error;
  }
}

/** Returns a condition that does not hold, with what was found; undefined for one that holds. */
async function unmetExpect(
  { commits }: CommitParts,
  root: Root,
  files: TableView,
  expect: Expect,
  signal: AbortSignal | undefined,
): Promise<UnmetExpect | undefined> {
  const { path } = expect;
  if ("tree" in expect) {
    const changed = await commits.lastChange(root, expect.tree, (one) => isWithin(one, path), signal);
    return unmetBy(expect, undefined, changed);
  }
  const row = await rowAt(files, path);
  return unmetBy(expect, row && toEntry(row), undefined);
}

/** Reads the pages of all paths that changes name at once. */
async function readPages(files: TableView, ops: readonly ReadyOp[]): Promise<void> {
  const paths = ops.flatMap(pathsOfOp);
  await files.getMany([...new Set(paths.flatMap((path) => [path, parentOf(path)]))]);
}

/** Applies changes to those entries of a table on which they depend. */
async function draftOn(
  files: TableView,
  ops: readonly ReadyOp[],
  version: Version,
  now: number,
): Promise<DraftedChanges> {
  // Changes of single entries remove fewer rows than there are changes: one more row says whether a directory is empty.
  const isOfTrees = ops.some((op) => op.op === "move" || (op.op === "remove" && op.tree === true));
  const most = isOfTrees ? Number.POSITIVE_INFINITY : ops.length + 1;
  return draftChanges(ops, {
    version,
    now,
    look: async (path) => {
      const row = await rowAt(files, path);
      return row === undefined ? null : toEntry(row);
    },
    below: async (path) => (await files.range(...below(path), most)).map(toEntry),
  });
}
