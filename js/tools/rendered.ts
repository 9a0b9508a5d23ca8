/** Files that are not plain text, or parts of structured ones, through the workspace's readers. */
import type { Location } from "../access/index.ts";
import { engine } from "../engine/current.ts";
import { type ReaderOptions, type Rendered, sourceFrom } from "../readers/index.ts";
import type { Call } from "./tool.ts";

/** What is known of a file before it is rendered. */
export interface KnownFile {
  readonly mime: string;
  /** Bytes. */
  readonly size: number;
  readonly encoding?: string | undefined;
}

/** A rendered file, and which version of it that was. */
export interface RenderedFile extends Rendered {
  /** Null where not all of it was read. */
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
  const { limits, signal } = call;
  const rendered = await call.readers.read({ source, path, mime, encoding, limits, options, signal });
  const { whole, version } = source;
  return { ...rendered, version, hash: whole === undefined ? null : engine().sha256(whole) };
}
