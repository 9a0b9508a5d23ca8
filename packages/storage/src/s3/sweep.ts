/**
 * Removes what no workspace names any more. It can run while others write: what is younger than the given age stays,
 * a commit makes what it names young, and a content is removed only after its name was published (see `blobs.ts`).
 */
import { FilewrightError, sortCodePoints, type StorageCall } from "filewright/files";
import { mapParallel, type SweepList } from "./blobs.ts";
import { sha256, toJsonBytes } from "./codec.ts";
import type { CommitParts } from "./commit.ts";
import type { KeptState } from "./forks.ts";
import { decodeName, Keys } from "./keys.ts";
import { type Row, type Table, TableView } from "./manifest.ts";
import { MAX_META_BYTES, parseJson } from "./objects.ts";
import { checkRoot, type CommitHead, type PastPage, type Root, rowHex, toLog, toRow } from "./root.ts";
import { type ListedObject, parseListing } from "./xml.ts";

/** How a store is swept. */
export interface SweepOptions extends StorageCall {
  /**
   * The age in milliseconds of what is removed at least, and of the commits whose contents and changes are kept for
   * undo. At least one hour; keys of commits are kept for 24 hours in any case. Default: seven days.
   */
  readonly olderThanMs?: number | undefined;
}

/** The result of a sweep. */
export interface Swept {
  /** The number of removed objects. */
  readonly removed: number;
  /** The size of the removed objects in bytes. */
  readonly bytes: number;
  /** The number of objects that stay. */
  readonly kept: number;
}

const HOUR_MS = 60 * 60 * 1000;
const DEFAULT_AGE_MS = 7 * 24 * HOUR_MS;
/** The time for which the logs of commits are kept in any case, because of their keys. */
const MIN_LOG_MS = 25 * HOUR_MS;
/** The time after which a sweep that has not ended counts as dead, and after which one stops by itself. */
const MAX_SWEEP_MS = 30 * 60 * 1000;
const STOP_MS = 5 * 60 * 1000;
const MAX_LISTING_BYTES = 16 * 1024 * 1024;

/** Returns every object with a prefix. */
async function listAll(
  { objects }: CommitParts,
  prefix: string,
  signal: AbortSignal | undefined,
  delimiter?: string,
): Promise<{ readonly objects: readonly ListedObject[]; readonly prefixes: readonly string[] }> {
  const found: ListedObject[] = [];
  const prefixes: string[] = [];
  for (let token: string | undefined = ""; token !== undefined; ) {
    const query: Record<string, string> = { "list-type": "2", prefix };
    if (delimiter !== undefined) query["delimiter"] = delimiter;
    if (token !== "") query["continuation-token"] = token;
    const { body } = await objects.client.send({ method: "GET", query, maxBytes: MAX_LISTING_BYTES, signal });
    const page = parseListing(new TextDecoder().decode(body));
    found.push(...page.objects);
    prefixes.push(...page.prefixes);
    if (page.next === token)
      throw new FilewrightError("IO_ERROR", "the store lists the same page again and again");
    token = page.next;
  }
  return { objects: found, prefixes };
}

/** Returns the names of all workspaces, sorted. */
export async function listWorkspaces(
  parts: CommitParts,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const { workspaces } = parts.keys;
  const { prefixes } = await listAll(parts, workspaces, signal, "/");
  return sortCodePoints(
    prefixes.map((prefix) => decodeName(prefix.slice(workspaces.length).replace(/\/$/u, ""))),
  );
}

/** Removes the root of a workspace, and what other processes keep of its past states. */
export async function removeWorkspace(parts: CommitParts, signal: AbortSignal | undefined): Promise<void> {
  const { keys, objects } = parts;
  const { objects: states } = await listAll(parts, keys.allStates, signal);
  // The root first: without it there is no workspace, whatever else is left.
  await objects.client.send({ method: "DELETE", key: keys.root, accept: [404], signal });
  await mapParallel(states, ({ key }) =>
    objects.client.send({ method: "DELETE", key, accept: [404], signal }),
  );
}

/** The objects that are named: pages and other immutable objects, logs, and contents. */
class Named {
  readonly pages = new Set<string>();
  readonly logs = new Set<string>();
  readonly blobs = new Set<string>();
  readonly #parts: CommitParts;
  readonly #signal: AbortSignal | undefined;
  readonly #youngest: number;

  constructor(parts: CommitParts, youngest: number, signal: AbortSignal | undefined) {
    this.#parts = parts;
    this.#youngest = youngest;
    this.#signal = signal;
  }

  async addWorkspace(keys: Keys): Promise<void> {
    const { objects } = this.#parts;
    const { status, body } = await objects.client.send({
      method: "GET",
      key: keys.root,
      maxBytes: MAX_META_BYTES,
      accept: [404],
      signal: this.#signal,
    });
    if (status !== 404) await this.#addRoot(checkRoot(keys.root, parseJson(keys.root, body)));
    for (const { key } of (await listAll(this.#parts, keys.allStates, this.#signal)).objects) {
      const state = (await objects.json(key, undefined, this.#signal)) as KeptState | undefined;
      if (state !== undefined) await this.#addTable(state.files, true);
    }
  }

  async #addRoot(root: Root): Promise<void> {
    await this.#addTable(root.files, true);
    await this.#addTable(root.records, false);
    for (const origin of [root.origin, ...Object.values(root.merged)]) {
      if (origin === null || this.pages.has(origin.state)) continue;
      const state = (await this.#page(origin.state)) as KeptState | undefined;
      if (state !== undefined) await this.#addTable(state.files, true);
    }
    await this.#addHeads(root.commits);
    for (let hex = root.past; hex !== null; ) {
      const page = (await this.#page(hex)) as PastPage | undefined;
      if (page === undefined) return;
      await this.#addHeads(page.commits);
      hex = page.before;
    }
  }

  async #page(hex: string): Promise<unknown> {
    this.pages.add(hex);
    return this.#parts.objects.json(this.#parts.keys.page(hex), hex, this.#signal);
  }

  async #addTable(table: Table, hasContents: boolean): Promise<void> {
    for (const [, hex] of table.pages) this.pages.add(hex);
    if (!hasContents) return;
    const view = new TableView(table, this.#parts.keys, this.#parts.objects, this.#signal);
    for (const row of await view.range("/", "0", Number.POSITIVE_INFINITY)) this.#addRow(row);
  }

  async #addHeads(heads: readonly CommitHead[]): Promise<void> {
    const young = heads.filter(({ id, at }) => at >= this.#youngest && !this.logs.has(id));
    await mapParallel(young, async ({ id }) => {
      this.logs.add(id);
      const key = this.#parts.keys.log(id);
      const log = toLog(await this.#parts.objects.json(key, undefined, this.#signal));
      for (const { before, after } of log?.changes ?? [])
        for (const entry of [before, after]) if (entry !== null) this.#addRow(toRow(entry));
    });
  }

  #addRow(row: Row): void {
    if (row[1] === "f") this.blobs.add(rowHex(row));
  }
}

/** Sweeps the bucket and prefix of a storage. */
export async function sweepStore(parts: CommitParts, prefix: string, options: SweepOptions): Promise<Swept> {
  const { olderThanMs = DEFAULT_AGE_MS, signal } = options;
  if (!(olderThanMs >= HOUR_MS))
    throw new FilewrightError(
      "INVALID_ARGUMENT",
      "olderThanMs is at least one hour: commits under way need it",
    );
  const { client } = parts.objects;
  // The first answer tells the time of the store.
  const names = await listWorkspaces(parts, signal);
  const oldest = client.now() - olderThanMs;
  // What is listed before it is looked for has been named before, or is young.
  const [blobs, pages, logs] = await Promise.all([
    listAll(parts, parts.keys.blobs, signal),
    listAll(parts, parts.keys.pages, signal),
    listAll(parts, parts.keys.logs, signal),
  ]);
  const named = new Named(parts, Math.min(oldest, client.now() - MIN_LOG_MS), signal);
  for (const name of names) await named.addWorkspace(new Keys(prefix, name));
  const unnamed = (list: readonly ListedObject[], known: ReadonlySet<string>): readonly ListedObject[] =>
    list.filter(({ key, modified }) => modified < oldest && !known.has(key.slice(key.lastIndexOf("/") + 1)));
  const meta = [...unnamed(pages.objects, named.pages), ...unnamed(logs.objects, named.logs)];
  await mapParallel(meta, ({ key }) => client.send({ method: "DELETE", key, accept: [404], signal }));
  const contents = await removeContents(parts, unnamed(blobs.objects, named.blobs), oldest, signal);
  const gone = [...meta, ...contents];
  const all = blobs.objects.length + pages.objects.length + logs.objects.length;
  return {
    removed: gone.length,
    bytes: gone.reduce((sum, { size }) => sum + size, 0),
    kept: all - gone.length,
  };
}

/** Removes contents under the protocol with commits, and returns those that were removed. */
async function removeContents(
  parts: CommitParts,
  candidates: readonly ListedObject[],
  oldest: number,
  signal: AbortSignal | undefined,
): Promise<readonly ListedObject[]> {
  if (candidates.length === 0) return [];
  const { client } = parts.objects;
  const key = parts.keys.sweep;
  const hexOf = (object: ListedObject): string => object.key.slice(object.key.lastIndexOf("/") + 1);
  const last = await client.send({ method: "GET", key, maxBytes: MAX_META_BYTES, accept: [404], signal });
  const age = client.now() - Date.parse(last.headers.get("last-modified") ?? "");
  const before = last.status === 404 ? undefined : (parseJson(key, last.body) as SweepList);
  if (before?.running === true && age < MAX_SWEEP_MS)
    throw new FilewrightError("CONFLICT", "another sweep is running", {
      details: { conflicts: [], reason: "sweep" },
    });
  // A commit may still have to look at the list of the sweep before.
  const held = before === undefined || age > HOUR_MS ? [] : before.hexes;
  const hexes = [...new Set([...held, ...candidates.map(hexOf)])];
  const publish = async (running: boolean, condition: Readonly<Record<string, string>>): Promise<string> => {
    const body = toJsonBytes({ running, hexes } satisfies SweepList);
    const { status, headers } = await client.send({
      method: "PUT",
      key,
      body,
      sha256: await sha256(body),
      headers: condition,
      accept: [404, 409, 412],
      signal,
    });
    if (status >= 400)
      throw new FilewrightError("CONFLICT", "another sweep began", {
        details: { conflicts: [], reason: "sweep" },
      });
    return headers.get("etag") ?? "";
  };
  const etag = last.headers.get("etag");
  const mine = await publish(
    true,
    before === undefined || etag === null ? { "if-none-match": "*" } : { "if-match": etag },
  );
  const deadline = Date.now() + STOP_MS;
  const removed: ListedObject[] = [];
  try {
    await mapParallel(candidates, async (object) => {
      const { status, headers } = await client.send({
        method: "HEAD",
        key: object.key,
        accept: [404],
        signal,
      });
      const modified = Date.parse(headers.get("last-modified") ?? "");
      // One that a commit has written again is young. A sweep that took too long stops: others count it as dead.
      if (status === 404 || !(modified < oldest) || Date.now() > deadline) return;
      await client.send({ method: "DELETE", key: object.key, accept: [404], signal });
      removed.push(object);
    });
  } finally {
    await publish(false, { "if-match": mine });
  }
  return removed;
}
