/** Contents of files: their hashes, and those that are kept in an object store. */
import { backendError, FilewrightError, type Op, type ReadEntry } from "filewright/files";
import { sha256 } from "../values.ts";
import { bytesOf } from "./client.ts";
import type { Database } from "./database.ts";
import type { ReadyBody } from "./encode.ts";
import type { BlobStore } from "./options.ts";

/**
 * The largest content that is stored in the database although there is an object store. Up to this size, one
 * trip with the content is faster than a second one; `docs/decisions/0022-postgres-in-one-trip.md` has the figures.
 */
const MAX_INLINE_BYTES = 256 * 1024;
/** The number of contents that are sent to, or read from, the object store at once. */
const MAX_TRANSFERS = 8;

/** The contents of one tenant. */
export class TenantContents {
  readonly #database: Database;
  readonly #tenant: string;
  readonly #blobs: BlobStore | undefined;

  constructor(database: Database, tenant: string, blobs: BlobStore | undefined) {
    this.#database = database;
    this.#tenant = tenant;
    this.#blobs = blobs;
  }

  /**
   * Hashes the contents of a commit, and puts the large ones into the object store. They are reserved in the
   * database first, so that a sweeper leaves them alone until the commit names them.
   */
  async prepare(
    ops: readonly Op[],
    workspace: string,
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<number, ReadyBody>> {
    const ready = new Map<number, ReadyBody>();
    const large = new Map<string, Uint8Array>();
    for (const [index, op] of ops.entries()) {
      if (op.op !== "put") continue;
      const hash = await sha256(op.body);
      if (op.hash !== undefined && op.hash !== `sha256:${hash}`)
        throw backendError("INVALID_ARGUMENT", op.path, "the hash is not that of the content");
      const out = this.#blobs !== undefined && op.body.length > MAX_INLINE_BYTES;
      ready.set(index, { hash, out });
      if (out) large.set(hash, op.body);
    }
    if (large.size > 0) await this.#upload(large, workspace, signal);
    return ready;
  }

  async #upload(
    large: ReadonlyMap<string, Uint8Array>,
    workspace: string,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const wanted = JSON.stringify([...large].map(([h, body]) => ({ h, z: body.length })));
    const rows = await this.#database.change("reserve", [this.#tenant, workspace, wanted], signal);
    const stored = new Set(rows.map((row) => String(row["hash"])));
    await inParallel([...large], async ([hash, body]) => {
      if (!stored.has(hash)) await this.#blobs?.put(blobKey(this.#tenant, hash), body, { signal });
    });
  }

  /** Reads the contents that the database left to the object store. */
  async fill(
    entries: readonly (ReadEntry | null)[],
    outside: readonly number[],
    signal: AbortSignal | undefined,
  ): Promise<readonly (ReadEntry | FilewrightError | null)[]> {
    if (outside.length === 0) return entries;
    const filled: (ReadEntry | FilewrightError | null)[] = [...entries];
    await inParallel(outside, async (index) => {
      const found = entries[index];
      if (found) filled[index] = await this.#fetch(found, signal);
    });
    return filled;
  }

  /** Returns contents by their hashes in hexadecimal; null for one that is not there. */
  async read(
    hexes: readonly string[],
    workspace: string,
    signal: AbortSignal | undefined,
  ): Promise<readonly (Uint8Array | null)[]> {
    const found: (Uint8Array | null)[] = hexes.map(() => null);
    const values = [this.#tenant, workspace, JSON.stringify(hexes)];
    const outside: number[] = [];
    for (const row of await this.#database.read("read_contents", values, signal)) {
      const index = Number(row["i"]) - 1;
      if (row["body"] === null) outside.push(index);
      else found[index] = bytesOf(row["body"]);
    }
    await inParallel(outside, async (index) => {
      const hex = hexes[index] as string;
      const body = await this.#blobs?.get(blobKey(this.#tenant, hex), { signal });
      if (body && (await sha256(body)) === hex) found[index] = body;
    });
    return found;
  }

  async #fetch(found: ReadEntry, signal: AbortSignal | undefined): Promise<ReadEntry | FilewrightError> {
    const { path, hash = "" } = found.entry;
    const hex = hash.slice("sha256:".length);
    if (this.#blobs === undefined) {
      const hint = "open the storage with the object store of its contents";
      return new FilewrightError("IO_ERROR", "the content is in an object store", { path, hint });
    }
    const body = await this.#blobs.get(blobKey(this.#tenant, hex), { signal });
    if (!body) return new FilewrightError("IO_ERROR", "the object store lost the content", { path });
    if ((await sha256(body)) !== hex)
      return new FilewrightError("IO_ERROR", "the object store has another content", { path });
    return { ...found, body };
  }
}

/** Returns the key of a content in the object store. */
export function blobKey(tenant: string, hash: string): string {
  return `${encodeURIComponent(tenant)}/${hash}`;
}

async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) await run(items[next++] as T);
  };
  await Promise.all(Array.from({ length: Math.min(MAX_TRANSFERS, items.length) }, worker));
}
