/**
 * The contents of files that a search reads: in batches of bounded size, from a copy on this machine where there is
 * one, and kept for the searches that follow.
 */
import { FilewrightError } from "../../engine/errors.ts";
import { nameOf } from "../../backends/paths.ts";
import type { Entry, ReadEntry, ReadMany, ReadManyOptions } from "../entry.ts";
import { nodesOf } from "../memory/nodes.ts";
import type { Storage } from "../storage.ts";
import type { StorageTree } from "./tree.ts";

/** The bytes and the number of files that one round trip asks for. */
const [BATCH_BYTES, BATCH_FILES] = [8 << 20, 2000];
/** The bytes of contents that stay in memory. */
const MAX_KEPT_BYTES = 32 << 20;
/** The largest content that is read together with others of its name, and the bytes of all of them. */
const [NAMESAKE_BYTES, NAMESAKES_BYTES] = [256 << 10, 8 << 20];

/** Where a copy of a content may be, nearer than the storage. */
export interface NearContents {
  /** Returns the content of a file in exactly the state of its entry; undefined where there is no copy. */
  near(entry: Entry): Promise<Uint8Array | undefined>;
}

/** A reader of contents, shared by the searches of a storage. */
export class TreeContents {
  readonly #storage: Pick<Storage, "readMany">;
  readonly #kept = new Map<string, Uint8Array>();
  #keptBytes = 0;
  /** The copy on this machine. */
  copy: NearContents | undefined;

  constructor(storage: Pick<Storage, "readMany">) {
    this.#storage = storage;
  }

  /**
   * Reads entries of a tree with their contents, each in the state of the tree or in a later one.
   * @throws as `readMany` of the storage
   */
  async read(entries: readonly Entry[], options: ReadManyOptions = {}): Promise<ReadMany["results"]> {
    const { maxBytes = Number.POSITIVE_INFINITY, signal } = options;
    const results: ReadMany["results"][number][] = [];
    const missing: { readonly entry: Entry; readonly at: number }[] = [];
    let left = maxBytes;
    for (const [at, entry] of entries.entries()) {
      results.push({ entry });
      if (entry.type !== "file") continue;
      if ((entry.size ?? 0) > left) {
        left = -1;
        results[at] = { entry, left: true };
        continue;
      }
      left -= entry.size ?? 0;
      const body = await this.#near(entry);
      if (body === undefined) missing.push({ entry, at });
      else results[at] = { entry, body };
    }
    for (let from = 0; from < missing.length; ) {
      const to = endOfBatch(missing, from);
      const batch = missing.slice(from, to);
      const asked = { signal, ...(options.maxBytes === undefined ? {} : { maxBytes }) };
      const answer = await this.#storage.readMany(
        batch.map(({ entry }) => entry.path),
        asked,
      );
      for (const [index, { at }] of batch.entries()) {
        const found = answer.results[index] ?? null;
        results[at] = found;
        if (found !== null && !(found instanceof FilewrightError)) this.#keep(found);
      }
      from = to;
    }
    return results;
  }

  /** Reads contents ahead of a search, so that its reads cost no round trip of their own. */
  async prefetch(entries: readonly Entry[], signal: AbortSignal | undefined): Promise<void> {
    await this.read(entries, { signal });
  }

  /**
   * Reads a small file whose name begins with a dot together with all others of its name: searches read the ignore
   * files of one directory after the other.
   */
  async readWithNamesakes(tree: StorageTree, entry: Entry): Promise<ReadEntry | FilewrightError | null> {
    const name = nameOf(entry.path);
    if ((await this.#near(entry)) === undefined) {
      const others: Entry[] = [];
      let bytes = 0;
      for (const { entry: other } of nodesOf(tree.root)) {
        const { type, size = 0, path } = other;
        if (type !== "file" || size > NAMESAKE_BYTES || nameOf(path) !== name) continue;
        bytes += size;
        if (bytes > NAMESAKES_BYTES || others.length >= BATCH_FILES) break;
        others.push(other);
      }
      if (others.includes(entry)) await this.prefetch(others, undefined);
    }
    return (await this.read([entry]))[0] ?? null;
  }

  async #near(entry: Entry): Promise<Uint8Array | undefined> {
    const { hash, size = 0 } = entry;
    if (size === 0 && entry.type === "file") return new Uint8Array(0);
    if (hash === undefined) return undefined;
    const kept = this.#kept.get(hash);
    if (kept !== undefined) {
      this.#kept.delete(hash);
      this.#kept.set(hash, kept);
      return kept;
    }
    const body = await this.copy?.near(entry);
    if (body !== undefined) this.#keep({ entry, body });
    return body;
  }

  #keep({ entry: { hash }, body }: ReadEntry): void {
    if (hash === undefined || body === undefined || body.length > MAX_KEPT_BYTES / 2) return;
    if (this.#kept.has(hash)) return;
    this.#kept.set(hash, body);
    this.#keptBytes += body.length;
    for (const [oldest, old] of this.#kept) {
      if (this.#keptBytes <= MAX_KEPT_BYTES) break;
      this.#kept.delete(oldest);
      this.#keptBytes -= old.length;
    }
  }
}

/** Returns the index after the last file of a batch that begins at `from`. */
export function endOfBatch(files: readonly { readonly entry: Entry }[], from: number): number {
  let bytes = 0;
  let at = from;
  for (; at < files.length && at - from < BATCH_FILES; at++) {
    bytes += files[at]?.entry.size ?? 0;
    if (at > from && bytes > BATCH_BYTES) break;
  }
  return at;
}
