/**
 * Reads files that are not plain text, and single values of structured files, by the readers of the
 * workspace. Results are cached, because paging through a document needs the same one again and again, and
 * creating it takes seconds.
 *
 * A cached result belongs to the hash of the file's bytes. The file is read before each lookup, so that a
 * result is never older than the file, and a caller that may not read the file is refused.
 */
import { type Rendered, type ReaderOptions, sourceFrom, sourceOf } from "../../readers/index.ts";
import type { Location } from "../../policy/index.ts";
import { engine } from "../../engine/current.ts";
import type { Call } from "../lib/tool.ts";

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
  const { limits, readers, renderings } = call.settings;
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
  const key = JSON.stringify([at.path, path, mime, encoding, options, limits]);
  const kept = renderings.find(key, hash, reader);
  if (kept !== undefined) return { ...kept, version, hash };
  const rendered = await readers.read({ ...input, source: sourceOf(bytes) });
  // Images are as large as their files, so they are not cached.
  if (rendered.content === undefined) renderings.keep(key, { rendered, hash, reader });
  return { ...rendered, version, hash };
}
