/**
 * The contents of files that a search reads: in batches of bounded size, from a copy on this machine where there is
 * one, and kept for the searches that follow.
 */
import { FilewrightError } from "../../engine/errors.ts";
import { EMPTY_BYTES } from "../../engine/wire/bytes.ts";
import { nameOf } from "../../backends/paths.ts";
import type { Entry, ReadEntry, ReadMany, ReadManyOptions } from "../entry.ts";
import { nodesOf } from "../../backends/tree/nodes.ts";
import type { Storage } from "../storage.ts";
import type { StorageTree } from "./tree.ts";

/** The bytes and the number of files that one round trip asks for. */
const [BATCH_BYTES, BATCH_FILES] = [8 << 20, 2000];
/** The bytes of contents that stay in memory. */
const MAX_KEPT_BYTES = 32 << 20;
/** The largest content that is read together with others of its name, and the bytes of all of them. */
const [NAMESAKE_BYTES, NAMESAKES_BYTES] = [256 << 10, 8 << 20];

/** The number of copies on this machine that are read at once. */
const NEAR_READS = 16;

type Found = ReadMany["results"][number];

interface PlacedEntry {
  readonly entry: Entry;
  /** The place of the entry among those that are read. */
  readonly at: number;
}

/** A round trip under way, and the place of a file in its answer. */
interface Flight {
  readonly reading: Promise<readonly Found[]>;
  readonly index: number;
}

function flightKeyOf({ path, hash }: Entry): string {
  return `${hash} ${path}`;
}

/** Where a copy of a content may be, nearer than the storage. */
export interface NearContents {
  /** Returns the content of a file in exactly the state of its entry; undefined where there is no copy. */
  near(entry: Entry): Promise<Uint8Array | undefined>;
}

/** The contents that stay in memory, by hash, for a storage and its forks: of them the ones that were used last. */
export class KeptContents {
  readonly #bodies = new Map<string, Uint8Array>();
  #bytes = 0;

  /** Returns a content, without a note that it is used. */
  get(hash: string): Uint8Array | undefined {
    return this.#bodies.get(hash);
  }

  /** Notes that a content is used. */
  use(hash: string, body: Uint8Array): void {
    this.#bodies.delete(hash);
    this.#bodies.set(hash, body);
  }

  keep({ entry: { hash }, body }: ReadEntry): void {
    if (hash === undefined || body === undefined || body.length > MAX_KEPT_BYTES / 2) return;
    if (this.#bodies.has(hash)) return;
    this.#bodies.set(hash, body);
    this.#bytes += body.length;
    for (const [oldest, old] of this.#bodies) {
      if (this.#bytes <= MAX_KEPT_BYTES) break;
      this.#bodies.delete(oldest);
      this.#bytes -= old.length;
    }
  }
}

/** A reader of contents, shared by the searches of a storage. */
export class TreeContents {
  readonly #storage: Pick<Storage, "readMany">;
  /** The contents in memory, which a fork shares with its parent. */
  readonly inMemory: KeptContents;
  /** The contents that are on their way, by path and hash. */
  readonly #flights = new Map<string, Flight>();
  readonly #copy: () => NearContents | undefined;

  /** `copy` returns the copy on this machine; undefined where there is none. `inMemory` is that of the parent. */
  constructor(
    storage: Pick<Storage, "readMany">,
    copy: () => NearContents | undefined,
    inMemory: KeptContents = new KeptContents(),
  ) {
    this.#storage = storage;
    this.#copy = copy;
    this.inMemory = inMemory;
  }

  /**
   * Reads entries of a tree with their contents, each in the state of the tree or in a later one.
   * @throws as `readMany` of the storage
   */
  async read(entries: readonly Entry[], options: ReadManyOptions = {}): Promise<ReadMany["results"]> {
    const { maxBytes = Number.POSITIVE_INFINITY, signal } = options;
    const results: ReadMany["results"][number][] = [];
    const files: PlacedEntry[] = [];
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
      files.push({ entry, at });
    }
    const missing: PlacedEntry[] = [];
    for (let from = 0; from < files.length; from += NEAR_READS)
      await Promise.all(
        files.slice(from, from + NEAR_READS).map(async ({ entry, at }) => {
          const body = await this.#near(entry);
          if (body === undefined) missing.push({ entry, at });
          else results[at] = { entry, body };
        }),
      );
    missing.sort((a, b) => a.at - b.at);
    const own: PlacedEntry[] = [];
    const others: (PlacedEntry & { readonly flight: Flight })[] = [];
    for (const one of missing) {
      const flight = this.#flights.get(flightKeyOf(one.entry));
      if (flight === undefined) own.push(one);
      else others.push({ ...one, flight });
    }
    const fetch = async (wanted: readonly PlacedEntry[]): Promise<void> => {
      for (let from = 0; from < wanted.length; ) {
        const to = endOfBatch(wanted, from);
        const batch = wanted.slice(from, to);
        const found = await this.#fetch(batch, signal);
        for (const [index, { at }] of batch.entries()) results[at] = found[index] ?? null;
        from = to;
      }
    };
    await fetch(own);
    const lost: PlacedEntry[] = [];
    for (const { entry, at, flight } of others) {
      const found = await flight.reading.catch(() => undefined);
      if (found === undefined) lost.push({ entry, at });
      else results[at] = found[flight.index] ?? null;
    }
    // A reader whose call is not cancelled must not fail because another one is.
    await fetch(lost);
    return results;
  }

  /** Reads files of one batch. Another reader that wants one of them meanwhile waits for this one. */
  async #fetch(batch: readonly PlacedEntry[], signal: AbortSignal | undefined): Promise<readonly Found[]> {
    const reading = this.#storage
      .readMany(
        batch.map(({ entry }) => entry.path),
        { signal },
      )
      .then(({ results }) => results);
    reading.catch(() => undefined);
    for (const [index, { entry }] of batch.entries())
      this.#flights.set(flightKeyOf(entry), { reading, index });
    try {
      const results = await reading;
      for (const found of results)
        if (found !== null && !(found instanceof FilewrightError)) this.inMemory.keep(found);
      return results;
    } finally {
      for (const { entry } of batch) this.#flights.delete(flightKeyOf(entry));
    }
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

  /** Returns the content of an entry, where it is cached in memory. */
  kept({ hash, size = 0 }: Entry): Uint8Array | undefined {
    if (size === 0) return EMPTY_BYTES;
    return hash === undefined ? undefined : this.inMemory.get(hash);
  }

  async #near(entry: Entry): Promise<Uint8Array | undefined> {
    const { hash } = entry;
    const kept = this.kept(entry);
    if (hash === undefined || kept === EMPTY_BYTES) return kept;
    if (kept !== undefined) {
      this.inMemory.use(hash, kept);
      return kept;
    }
    const body = await this.#copy()?.near(entry);
    if (body !== undefined) this.inMemory.keep({ entry, body });
    return body;
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
