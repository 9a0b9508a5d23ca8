/**
 * Unified diffs, and the preview of a content change for a reviewer: text in the file's own encoding, the whole diff,
 * and the hash of the exact bytes to be written.
 */
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { EntryType, FsBackend } from "../../backends/backend.ts";
import { lstatVia, readVersioned } from "../../backends/fallback/fallback.ts";
import { walkTree } from "../../backends/fallback/walk-tree.ts";
import { currentVersion } from "../lib/contents.ts";
import { utf8 } from "../lib/text.ts";
import type { BaseVersion, Call, Preview } from "../lib/tool.ts";
import { EMPTY_BYTES } from "../../engine/wire/bytes.ts";

/** The file of a preview. */
export interface PreviewedFile {
  /** As the caller typed it. */
  readonly typed: string;
  /** Absolute. */
  readonly path: string;
  /** The new permission bits in octal, when the call sets them. */
  readonly mode?: string | undefined;
}

/** Creates a preview of one file's content; `before` is null for a new file. */
export function contentPreview(
  what: Pick<Preview, "title" | "location" | "risk">,
  before: Uint8Array | null,
  after: Uint8Array,
  { typed, path, mode }: PreviewedFile,
): Preview {
  const newContent = shownText(after);
  const hash = engine().sha256(after);
  const kind = before === null ? "create" : "edit";
  return {
    ...what,
    diff: diffOf(before, after, typed),
    originalContent: before === null ? null : shownText(before),
    newContent,
    ...(newContent === null ? { newBytes: after } : {}),
    hash,
    changes: [{ path, kind, type: "file", hash, ...(mode === undefined ? {} : { mode }) }],
  };
}

/** Returns the hash of one content, or of the hashes of several, one a line; `-` is a deleted file. */
export function hashOfAll(contents: readonly (Uint8Array | null)[]): string {
  const hashes = contents.map((bytes) => (bytes === null ? "-" : engine().sha256(bytes)));
  const [only] = hashes;
  return hashes.length === 1 && only !== undefined && only !== "-"
    ? only
    : engine().sha256(utf8(hashes.join("\n")));
}

/** Returns bytes as text for a reviewer; null when they are no text. */
export function shownText(bytes: Uint8Array): string | null {
  try {
    const { kind } = engine().inspect(bytes);
    if (kind !== "text" && kind !== "svg" && kind !== "empty") return null;
    return engine().decodeText(bytes).text;
  } catch (error) {
    if (error instanceof FilewrightError) return null;
    throw error;
  }
}

/** Encodes a reviewer's text with the encoding and byte order mark of the bytes they were shown. */
export function encodeLike(text: string, shown: Uint8Array): Uint8Array {
  const { encoding, bom } = engine().decodeText(shown);
  return engine().encodeText(text, encoding, { bom: bom && !text.startsWith("\ufeff") });
}

/** The entries at and below a path, and the versions that an approval requires. */
export interface TreeFacts {
  readonly files: number;
  /** Including the top directory. */
  readonly directories: number;
  /** True when entries remain that were not visited. */
  readonly more: boolean;
  readonly base: readonly BaseVersion[];
  /** The visited entries, parents before their content. */
  readonly entries: readonly TreeEntry[];
}

/** One entry of a tree. */
interface TreeEntry {
  /** Absolute. */
  readonly path: string;
  readonly type: EntryType;
}

/**
 * The maximum number of entries visited for a preview; in larger trees the approval covers only
 * these.
 */
const MAX_PREVIEW_ENTRIES = 5000;

/** Walks a tree without following links. */
export async function treeFacts(call: Call, path: string): Promise<TreeFacts> {
  const entries: TreeEntry[] = [];
  const base: BaseVersion[] = [];
  const files: string[] = [];
  const add = async ({ path: at, type }: TreeEntry): Promise<void> => {
    entries.push({ path: at, type });
    // Reads a directory's version before its listing, so that later changes are noticed.
    if (type === "dir") base.push(...(await versionsOf(call.fs, [at])));
    else files.push(at);
  };
  const { type } = await lstatVia(call.fs, path);
  await add({ path, type });
  let more = false;
  if (type === "dir") {
    for await (const entry of walkTree(call.fs, path, call.signal)) {
      more = entries.length === MAX_PREVIEW_ENTRIES;
      if (more) break;
      await add(entry);
    }
  }
  base.push(...(await versionsOf(call.fs, files)));
  return { files: files.length, directories: entries.length - files.length, more, base, entries };
}

/** Returns the current versions of entries, links not followed. */
export async function versionsOf(fs: FsBackend, paths: readonly string[]): Promise<readonly BaseVersion[]> {
  const base: BaseVersion[] = [];
  for (let at = 0; at < paths.length; at += VERSIONS_AT_ONCE) {
    const some = paths.slice(at, at + VERSIONS_AT_ONCE);
    const versions = await Promise.all(some.map((path) => currentVersion(fs, path, true)));
    for (const [index, path] of some.entries())
      base.push({ path, version: versions[index] as string | null, entry: true });
  }
  return base;
}

/** The number of entries read at once. */
const VERSIONS_AT_ONCE = 32;

/** Returns the reason why a question about a tree does not name every entry; undefined when it does. */
export function incompleteTree({ more, entries }: TreeFacts): string | undefined {
  return more ? `it covers more than the ${entries.length} entries that it names` : undefined;
}

/** Returns a text such as `12 files, 3 directories`. */
export function shownCounts({ files, directories, more }: TreeFacts): string {
  const of = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
  const counts = `${of(files, "file", "files")}, ${of(directories, "directory", "directories")}`;
  return more ? `more than ${counts}` : counts;
}

/** Returns a file's bytes for a preview; null for other entries and large files. */
export async function bytesForPreview(call: Call, path: string): Promise<Uint8Array | null> {
  try {
    const found = await readVersioned(call.fs, path, { maxBytes: MAX_SHOWN_BYTES, signal: call.signal });
    return found === null ? null : found.bytes;
  } catch (error) {
    if (error instanceof FilewrightError && error.code !== "CANCELLED") return null;
    throw error;
  }
}

/** The maximum size of contents shown for a change of name alone. */
const MAX_SHOWN_BYTES = 1024 * 1024;

/**
 * Returns the unified diff between two contents of one file; empty when they are equal. Null is a
 * file that does not exist yet.
 */
export function diffOf(before: Uint8Array | null, after: Uint8Array, path: string): string {
  return engine().diff(before ?? EMPTY_BYTES, after, { oldName: path }).text;
}
