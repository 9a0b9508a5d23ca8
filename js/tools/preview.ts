/**
 * What a reviewer is shown of a change of content: text in the file's own
 * encoding, the whole diff, and the hash of the very bytes that would be written.
 */
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { EntryType, FsBackend } from "../backends/backend.ts";
import { lstatVia, readVersioned } from "../backends/fallback.ts";
import { walkTree } from "../backends/walk-tree.ts";
import { currentVersion } from "./contents.ts";
import { diffOf } from "./difference.ts";
import { utf8 } from "./text.ts";
import type { BaseVersion, Call, Preview } from "./tool.ts";

/** The file that a preview is about. */
export interface PreviewedFile {
  /** As the caller typed it. */
  readonly typed: string;
  /** Absolute. */
  readonly path: string;
  /** The permission bits it gets, in octal, where the call says so. */
  readonly mode?: string | undefined;
}

/** A preview of one file's content; `before` is null for a new file. */
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

/** The hash of one content, or of the hashes of several, one a line; `-` is a file that goes. */
export function hashOfAll(contents: readonly (Uint8Array | null)[]): string {
  const hashes = contents.map((bytes) => (bytes === null ? "-" : engine().sha256(bytes)));
  const [only] = hashes;
  return hashes.length === 1 && only !== undefined && only !== "-"
    ? only
    : engine().sha256(utf8(hashes.join("\n")));
}

/** Bytes as a reviewer reads them; null where they are no text. */
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

/** A reviewer's text in the encoding, and with the byte order mark, of the bytes they were shown. */
export function encodeLike(text: string, shown: Uint8Array): Uint8Array {
  const { encoding, bom } = engine().decodeText(shown);
  return engine().encodeText(text, encoding, { bom: bom && !text.startsWith("\ufeff") });
}

/** What lies at and below a path, and the versions of it that an approval rests upon. */
export interface TreeFacts {
  readonly files: number;
  /** The top one included. */
  readonly directories: number;
  /** There is more than was looked at. */
  readonly more: boolean;
  readonly base: readonly BaseVersion[];
  /** What was looked at, parents before their content. */
  readonly entries: readonly TreeEntry[];
}

/** One entry of a tree. */
export interface TreeEntry {
  /** Absolute. */
  readonly path: string;
  readonly type: EntryType;
}

/** So many entries are looked at for a preview; larger trees are bound by these. */
const MAX_ENTRIES = 5000;

/** Looks through a tree without following links. */
export async function treeFacts(call: Call, path: string): Promise<TreeFacts> {
  const entries: TreeEntry[] = [];
  const base: BaseVersion[] = [];
  const files: string[] = [];
  const add = async ({ path: at, type }: TreeEntry): Promise<void> => {
    entries.push({ path: at, type });
    // A directory's version is taken before it is listed, so that what comes later is noticed.
    if (type === "dir") base.push(...(await versionsOf(call.fs, [at])));
    else files.push(at);
  };
  const { type } = await lstatVia(call.fs, path);
  await add({ path, type });
  let more = false;
  if (type === "dir") {
    for await (const entry of walkTree(call.fs, path, call.signal)) {
      more = entries.length === MAX_ENTRIES;
      if (more) break;
      await add(entry);
    }
  }
  base.push(...(await versionsOf(call.fs, files)));
  return { files: files.length, directories: entries.length - files.length, more, base, entries };
}

/** The versions of entries now, links not followed. */
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

/** So many entries are asked for at once. */
const VERSIONS_AT_ONCE = 32;

/** Why a question about a tree does not name all of it; undefined where it does. */
export function incompleteTree({ more, entries }: TreeFacts): string | undefined {
  return more ? `it covers more than the ${entries.length} entries that it names` : undefined;
}

/** Such as `12 files, 3 directories`. */
export function shownCounts({ files, directories, more }: TreeFacts): string {
  const of = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
  const counts = `${of(files, "file", "files")}, ${of(directories, "directory", "directories")}`;
  return more ? `more than ${counts}` : counts;
}

/** A file's bytes for a preview; null for what is no file of moderate size. */
export async function bytesForPreview(call: Call, path: string): Promise<Uint8Array | null> {
  try {
    const found = await readVersioned(call.fs, path, { maxBytes: MAX_SHOWN_BYTES, signal: call.signal });
    return found === null ? null : found.bytes;
  } catch (error) {
    if (error instanceof FilewrightError && error.code !== "CANCELLED") return null;
    throw error;
  }
}

/** Larger contents are not shown where only a name changes. */
const MAX_SHOWN_BYTES = 1024 * 1024;
