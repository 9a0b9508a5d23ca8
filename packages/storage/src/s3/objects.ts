/** The immutable objects: stored under the hash of their content, compared with it when they are read, and cached. */
import { fromJsonBytes, sha256, toJsonBytes } from "./codec.ts";
import { damageError } from "./failure.ts";
import type { S3Client } from "./request.ts";

/** The size of the largest object that is not the content of a file. */
export const MAX_META_BYTES: number = 64 * 1024 * 1024;

/** Values by key, the least recently used of which are dropped beyond a number of bytes. */
class ByteCache {
  readonly #values = new Map<string, { readonly value: unknown; readonly bytes: number }>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(key: string): unknown {
    const held = this.#values.get(key);
    if (held === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, held);
    return held.value;
  }

  set(key: string, value: unknown, bytes: number): void {
    if (bytes > this.#maxBytes / 4) return;
    this.#bytes += bytes - (this.#values.get(key)?.bytes ?? 0);
    this.#values.delete(key);
    this.#values.set(key, { value, bytes });
    for (const [oldest, held] of this.#values) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#values.delete(oldest);
      this.#bytes -= held.bytes;
    }
  }
}

/** An object to be stored. */
export interface NewObject {
  readonly key: string;
  readonly body: Uint8Array;
  readonly hex: string;
}

/** Stores and reads immutable objects. */
export class Objects {
  readonly client: S3Client;
  readonly #cache: ByteCache;

  constructor(client: S3Client, cacheBytes: number) {
    this.client = client;
    this.#cache = new ByteCache(cacheBytes);
  }

  /** Returns the JSON of an object; undefined when there is none. `hex` is the hash of its content, if it is named so. */
  async json(key: string, hex: string | undefined, signal: AbortSignal | undefined): Promise<unknown> {
    const held = this.#cache.get(key);
    if (held !== undefined) return held;
    const { status, body } = await this.client.send({
      method: "GET",
      key,
      maxBytes: MAX_META_BYTES,
      accept: [404],
      signal,
    });
    if (status === 404) return undefined;
    if (hex !== undefined && (await sha256(body)) !== hex) throw damageError(key, "is damaged");
    const value = parseJson(key, body);
    // Parsed values take some times the memory of their text.
    this.#cache.set(key, value, body.length * 3);
    return value;
  }

  /** Remembers JSON that was just stored. */
  rememberJson(key: string, value: unknown, bytes: number): void {
    this.#cache.set(key, value, bytes * 3);
  }

  /** Returns the content of a file. */
  async content(
    key: string,
    hex: string,
    size: number,
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array> {
    const found = await this.contentIfThere(key, { hex, size }, signal);
    if (found === null) throw damageError(key, "is missing");
    return found;
  }

  /** Remembers content that was just stored. */
  rememberContent(key: string, body: Uint8Array): void {
    this.#cache.set(key, body.slice(), body.length);
  }

  /** Returns a content that may have been removed; null when it has. */
  async contentIfThere(
    key: string,
    { hex, size }: { readonly hex: string; readonly size: number },
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array | null> {
    const held = this.#cache.get(key) as Uint8Array | undefined;
    // A copy: the caller may change its bytes.
    if (held !== undefined) return held.slice();
    const { status, body } = await this.client.send({
      method: "GET",
      key,
      maxBytes: size,
      accept: [404],
      signal,
    });
    if (status === 404) return null;
    if (body.length !== size || (await sha256(body)) !== hex) throw damageError(key, "is damaged");
    this.#cache.set(key, body, size);
    return body.slice();
  }

  /** Stores a value under a key that nobody else has. */
  async putJson(key: string, value: unknown, signal: AbortSignal | undefined): Promise<void> {
    const body = toJsonBytes(value);
    await this.client.send({ method: "PUT", key, body, sha256: await sha256(body), signal });
    this.rememberJson(key, value, body.length);
  }
}

/** Returns the JSON of an object, or says which object is damaged. */
export function parseJson(key: string, body: Uint8Array): unknown {
  try {
    return fromJsonBytes(body);
  } catch {
    throw damageError(key, "is damaged");
  }
}
