/**
 * The contents of files, stored once for each hash.
 *
 * A content that is there already may be one that nothing names and that a sweep is about to remove. It is therefore
 * written again, which makes it young, and the list of the running sweep is read after that. The sweep publishes its
 * list first and looks at the age of each content after that: one of the two sees the other.
 */
import { backendError, FilewrightError, type Op, type ReadyOp } from "filewright/files";
import { sha256 } from "./codec.ts";
import type { Keys } from "./keys.ts";
import type { Objects } from "./objects.ts";

/** The list of contents that a sweep removes, in an object that all workspaces of an installation share. */
export interface SweepList {
  /** False once the sweep has ended. */
  readonly running: boolean;
  readonly hexes: readonly string[];
}

/** The time for which a content that was just written, or named by a root or a young commit, needs no new date. */
const SEEN_MS = 20 * 60 * 1000;
const MAX_SEEN = 20_000;
/** The number of requests of one call that run at once. */
const MAX_PARALLEL = 64;
const SWEEP_POLL_MS = 250;
const MAX_SWEEP_WAIT_MS = 10_000;
const HASH_PREFIX = "sha256:";

/** Runs a function for each value, some at once, and returns the results in order. The first error counts. */
export async function mapParallel<T, R>(values: readonly T[], run: (value: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(values.length);
  let next = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < values.length && !failed; at = next++) {
      try {
        results[at] = await run(values[at] as T);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL, values.length) }, worker));
  return results;
}

/** Returns the operations with the hashes of their contents, and refuses a hash that is not that of its content. */
export async function hashOps(
  ops: readonly Op[],
): Promise<{ readonly ready: readonly ReadyOp[]; readonly bodies: ReadonlyMap<string, Uint8Array> }> {
  const bodies = new Map<string, Uint8Array>();
  const ready: ReadyOp[] = [];
  for (const op of ops) {
    if (op.op === "put") {
      // A copy, because the caller may change its bytes before they are sent.
      const body = op.body.slice();
      const hex = await sha256(body);
      if (op.hash !== undefined && op.hash !== HASH_PREFIX + hex)
        throw backendError("INVALID_ARGUMENT", op.path, "the hash is not that of the content");
      bodies.set(hex, body);
      ready.push({ op: "put", path: op.path, hash: HASH_PREFIX + hex, size: body.length, mode: op.mode });
    } else if (op.op === "link") ready.push({ ...op, op: "put" });
    else ready.push(op);
  }
  return { ready, bodies };
}

/** Stores and finds contents. */
export class Blobs {
  readonly #keys: Keys;
  readonly #objects: Objects;
  /** Contents that no sweep removes within the next hour, whatever happens, and when that was known. */
  readonly #seen = new Map<string, { readonly size: number; readonly at: number }>();

  constructor(keys: Keys, objects: Objects) {
    this.#keys = keys;
    this.#objects = objects;
  }

  /** Notes that a content is young, or that the present state or a young commit names it. */
  see(hex: string, size: number): void {
    this.#seen.delete(hex);
    this.#seen.set(hex, { size, at: Date.now() });
    for (const oldest of this.#seen.keys()) {
      if (this.#seen.size <= MAX_SEEN) return;
      this.#seen.delete(oldest);
    }
  }

  /** Stores the contents of a commit; those of links are taken from the store. */
  async store(
    ops: readonly Op[],
    bodies: ReadonlyMap<string, Uint8Array>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const links = new Map<string, Op & { op: "link" }>();
    for (const op of ops) {
      if (op.op !== "link") continue;
      const hex = op.hash.slice(HASH_PREFIX.length);
      if (this.#isSeen(hex, op.size)) continue;
      if (bodies.has(hex)) this.#checkSize(op, (bodies.get(hex) as Uint8Array).length);
      else links.set(hex, op);
    }
    const old: string[] = [];
    const news = [...bodies].filter(([hex, body]) => !this.#isSeen(hex, body.length));
    await mapParallel(news, async ([hex, body]) => {
      if (!(await this.#put(hex, body, signal))) old.push(hex);
    });
    await mapParallel([...links], async ([hex, op]) => {
      await this.#touch(hex, op, signal);
      old.push(hex);
    });
    if (old.length > 0) await this.#waitForSweep(old, bodies, signal);
    // All of them are young now.
    for (const [hex, body] of news) this.see(hex, body.length);
    for (const [hex, { size }] of links) this.see(hex, size);
  }

  #isSeen(hex: string, size: number): boolean {
    const seen = this.#seen.get(hex);
    return seen?.size === size && Date.now() - seen.at < SEEN_MS;
  }

  #checkSize(op: Op & { op: "link" }, size: number): void {
    if (size !== op.size) throw backendError("NOT_FOUND", op.path, "the storage has no such content");
  }

  /** Stores a content and returns true if it is new. One that was there is written again, so that it is young. */
  async #put(hex: string, body: Uint8Array, signal: AbortSignal | undefined): Promise<boolean> {
    const key = this.#keys.blob(hex);
    const request = { method: "PUT", key, body, sha256: hex, signal } as const;
    const { status } = await this.#objects.client.send({
      ...request,
      headers: { "if-none-match": "*" },
      accept: [409, 412],
    });
    this.#objects.rememberContent(key, body);
    if (status !== 409 && status !== 412) return true;
    await this.#objects.client.send(request);
    return false;
  }

  /** Writes the content of a link again, so that it is young. */
  async #touch(hex: string, op: Op & { op: "link" }, signal: AbortSignal | undefined): Promise<void> {
    const key = this.#keys.blob(hex);
    const { client } = this.#objects;
    const { status, body } = await client.send({
      method: "GET",
      key,
      maxBytes: op.size,
      accept: [404],
      signal,
    });
    if (status === 404 || body.length !== op.size || (await sha256(body)) !== hex)
      throw backendError("NOT_FOUND", op.path, "the storage has no such content");
    await client.send({ method: "PUT", key, body, sha256: hex, signal });
  }

  /** Waits while a sweep removes one of these contents, and stores it again. */
  async #waitForSweep(
    hexes: readonly string[],
    bodies: ReadonlyMap<string, Uint8Array>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { client } = this.#objects;
    for (let waited = 0; ; waited += SWEEP_POLL_MS) {
      const { status, body } = await client.send({
        method: "GET",
        key: this.#keys.sweep,
        maxBytes: 64 * 1024 * 1024,
        accept: [404],
        signal,
      });
      if (status === 404) return;
      const list = JSON.parse(new TextDecoder().decode(body)) as SweepList;
      const swept = hexes.filter((hex) => list.hexes.includes(hex));
      if (swept.length === 0) return;
      if (!list.running) {
        // What is in the list of an ended sweep may be gone, and nothing removes it any more.
        await mapParallel(swept, async (hex) => {
          const content = bodies.get(hex);
          if (content === undefined) throw sweptError();
          await client.send({ method: "PUT", key: this.#keys.blob(hex), body: content, sha256: hex, signal });
        });
        return;
      }
      if (waited >= MAX_SWEEP_WAIT_MS) throw sweptError();
      await new Promise((resolve) => setTimeout(resolve, SWEEP_POLL_MS));
    }
  }
}

/** The error of a content that a sweep is removing. */
const sweptError = (): FilewrightError =>
  new FilewrightError("IO_ERROR", "a sweep is removing this content", {
    hint: "write the content again once the sweep has ended",
    details: { outcome: "none" },
  });
