/**
 * Reads files that are not plain text, and single values of structured files, by the readers of the
 * workspace. Results are cached, because paging through a document needs the same one again and again, and
 * creating it takes seconds.
 *
 * A cached result belongs to the hash of the file's bytes. The file is read before each lookup, so that a
 * result is never older than the file, and a caller that may not read the file is refused.
 */
import {
  type Reader,
  type Readers,
  type Rendered,
  type ReaderOptions,
  sourceFrom,
  sourceOf,
} from "../../readers/index.ts";
import type { Location } from "../../policy/index.ts";
import { engine } from "../../engine/current.ts";
import type { Call } from "../lib/tool.ts";

/** A cached result, and the file that it was made from. */
interface CachedRendering {
  readonly rendered: Rendered;
  /** The `sha256:` hash of the file. */
  readonly hash: string;
  readonly reader: Reader | undefined;
}

/**
 * The maximum number of cached results of a workspace, and their approximate maximum total size in UTF-16
 * units. Beyond it the least recently used are dropped.
 */
const [MAX_RENDERINGS, MAX_LENGTH] = [32, 4 * 1024 * 1024];

/** The cached results of one workspace, the least recently used first. */
class RenderingCache {
  readonly #kept = new Map<string, CachedRendering & { readonly length: number }>();
  #length = 0;

  /** Returns the result of this reader for a file with this content; undefined when it is not cached. */
  find(key: string, hash: string, reader: Reader | undefined): Rendered | undefined {
    const found = this.#kept.get(key);
    if (found === undefined) return undefined;
    this.#kept.delete(key);
    if (found.hash === hash && found.reader === reader) {
      this.#kept.set(key, found);
      return found.rendered;
    }
    this.#length -= found.length;
    return undefined;
  }

  /**
   * Caches a result, and drops the least recently used ones beyond the limits. To be called after `find` has
   * returned undefined for the key.
   */
  keep(key: string, kept: CachedRendering): void {
    const { text, data } = kept.rendered;
    const length = key.length + text.length + (data === undefined ? 0 : JSON.stringify(data).length);
    // A result that is too large is not cached. Another call may have cached the same one meanwhile.
    if (length > MAX_LENGTH || this.#kept.has(key)) return;
    this.#kept.set(key, { ...kept, length });
    this.#length += length;
    for (const [oldest, { length: freed }] of this.#kept) {
      if (this.#kept.size <= MAX_RENDERINGS && this.#length <= MAX_LENGTH) break;
      this.#kept.delete(oldest);
      this.#length -= freed;
    }
  }
}

const cacheByReaders = new WeakMap<Readers, RenderingCache>();

/** Returns the cache of the workspace that has these readers. */
function renderingCacheOf(readers: Readers): RenderingCache {
  let found = cacheByReaders.get(readers);
  if (found === undefined) {
    found = new RenderingCache();
    cacheByReaders.set(readers, found);
  }
  return found;
}

/** The facts about a file before it is read. */
export interface KnownFile {
  readonly mime: string;
  /** The size in bytes. */
  readonly size: number;
  readonly encoding?: string | undefined;
}

/** The result for a file, with the version that was read. */
export interface RenderedFile extends Rendered {
  /** The hash of the file; null when the file was not read to its end. */
  readonly hash: string | null;
  readonly version: string | undefined;
}

/**
 * Returns the result of the reader for a file. @throws UNSUPPORTED_FORMAT, TOO_LARGE, INVALID_ARGUMENT,
 * CONFLICT
 */
export async function renderFile(
  call: Call,
  at: Location,
  { mime, size, encoding }: KnownFile,
  options: ReaderOptions,
): Promise<RenderedFile> {
  const source = sourceFrom(call.fs, at.path, size, call.signal);
  const path = call.reader.display(at.path);
  const { signal } = call;
  const { limits, readers } = call.settings;
  const reader = readers.find(mime);
  const input = { path, mime, encoding, limits, options, signal };
  // Values of structured data are located by code of this package, so their results can be cached whatever
  // the reader says.
  const isReusable = reader?.reusable === true || options.jsonPointer !== undefined;
  if (!isReusable || size > limits.wholeFileBytes) {
    const rendered = await readers.read({ ...input, source });
    const { whole, version } = source;
    return { ...rendered, version, hash: whole === undefined ? null : engine().sha256(whole) };
  }
  const bytes = await source.read();
  const { version } = source;
  const hash = engine().sha256(bytes);
  const renderings = renderingCacheOf(readers);
  const key = JSON.stringify([at.path, path, mime, encoding, options, limits]);
  const kept = renderings.find(key, hash, reader);
  if (kept !== undefined) return { ...kept, version, hash };
  const rendered = await readers.read({ ...input, source: sourceOf(bytes) });
  // Images are as large as their files, so they are not cached.
  if (rendered.content === undefined) renderings.keep(key, { rendered, hash, reader });
  return { ...rendered, version, hash };
}
