/**
 * Renders files that are not plain text, and parts of structured ones, through the workspace's readers, and
 * caches the result for later calls: paging through a document requests the same rendering
 * again and again, and producing it takes seconds.
 *
 * A rendering is keyed by the hash of its file's bytes. Every lookup reads the file first, so that
 * a rendering is never older than the file, and a caller who may not read the file is refused as
 * before.
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

/** A rendering, with the identity of its source. */
interface CachedRendering {
  readonly rendered: Rendered;
  /** `sha256:…` of the file. */
  readonly hash: string;
  readonly reader: Reader | undefined;
}

/** The maximum number of renderings of a workspace, and their approximate total size in UTF-16 units. */
const [MAX_RENDERINGS, MAX_LENGTH] = [32, 4 * 1024 * 1024];

/** The renderings of one workspace, the least recently used first. */
class Renderings {
  readonly #kept = new Map<string, CachedRendering & { readonly length: number }>();
  #length = 0;

  /** Returns this reader's rendering of a file with this content; undefined when it is not cached. */
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

  /** Caches a rendering and evicts those used least recently. `key` is one that `find` did not find. */
  keep(key: string, kept: CachedRendering): void {
    const { text, data } = kept.rendered;
    const length = key.length + text.length + (data === undefined ? 0 : JSON.stringify(data).length);
    // Another call may have cached it meanwhile.
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

const ofWorkspaces = new WeakMap<Readers, Renderings>();

/** Returns the renderings of the workspace with these readers. */
function renderingsOf(readers: Readers): Renderings {
  let found = ofWorkspaces.get(readers);
  if (found === undefined) {
    found = new Renderings();
    ofWorkspaces.set(readers, found);
  }
  return found;
}

/** The facts about a file before it is rendered. */
export interface KnownFile {
  readonly mime: string;
  /** Bytes. */
  readonly size: number;
  readonly encoding?: string | undefined;
}

/** A rendered file, with its version. */
export interface RenderedFile extends Rendered {
  /** Null when it was not read to its end. */
  readonly hash: string | null;
  readonly version: string | undefined;
}

/** Renders a file. @throws UNSUPPORTED_FORMAT, TOO_LARGE, INVALID_ARGUMENT, CONFLICT */
export async function renderFile(
  call: Call,
  at: Location,
  { mime, size, encoding }: KnownFile,
  options: ReaderOptions,
): Promise<RenderedFile> {
  const source = sourceFrom(call.fs, at.path, size, call.signal);
  const path = call.display(at.path);
  const { limits, readers, signal } = call;
  const reader = readers.find(mime);
  const input = { path, mime, encoding, limits, options, signal };
  // The package's own code locates values of structured data.
  const isReusable = reader?.reusable === true || options.jsonPointer !== undefined;
  if (!isReusable || size > limits.wholeFileBytes) {
    const rendered = await readers.read({ ...input, source });
    const { whole, version } = source;
    return { ...rendered, version, hash: whole === undefined ? null : engine().sha256(whole) };
  }
  const bytes = await source.read();
  const { version } = source;
  const hash = engine().sha256(bytes);
  const renderings = renderingsOf(readers);
  const key = JSON.stringify([at.path, path, mime, encoding, options, limits]);
  const kept = renderings.find(key, hash, reader);
  if (kept !== undefined) return { ...kept, version, hash };
  const rendered = await readers.read({ ...input, source: sourceOf(bytes) });
  // Images are as large as files, so they are not cached.
  if (rendered.content === undefined) renderings.keep(key, { rendered, hash, reader });
  return { ...rendered, version, hash };
}
