/**
 * Renders files that are not plain text, and parts of structured ones, through the workspace's
 * readers.
 */
import type { Location } from "../../policy/index.ts";
import { engine } from "../../engine/current.ts";
import { type ReaderOptions, type Rendered, sourceFrom, sourceOf } from "../../readers/index.ts";
import { renderingsOf } from "./renderings.ts";
import type { Call } from "../lib/tool.ts";

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
