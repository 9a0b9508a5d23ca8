/**
 * Creates previews of changes for reviewers: the text in the file's own encoding, the whole diff, and the
 * hash of the bytes to be written.
 */
import type { Files } from "../../backends/files.ts";
import { concurrentGroups } from "../../backends/concurrent.ts";
import { engine } from "../../engine/current.ts";
import type { DecodedText } from "../../engine/read.ts";
import type { DiffOptions, DiffResult } from "../../engine/text/diff.ts";
import { FilewrightError, type Signalled } from "../../engine/errors.ts";
import { MIN_THREAD_BYTES } from "../../engine/threads.ts";
import type { EntryType } from "../../backends/backend.ts";
import { walkTree } from "../../backends/fallback/walk-tree.ts";
import { currentVersion } from "../lib/contents.ts";
import { encodeUtf8 } from "../lib/text.ts";
import type { BaseVersion } from "../change/change.ts";
import type { Call } from "../lib/tool.ts";
import { EMPTY_BYTES } from "../../engine/wire/bytes.ts";
import { plural } from "../../engine/escape.ts";

/**
 * Returns the hash of one content as it is; for several contents the hash of the list of their hashes, one on each line,
 * where `-` stands for a deleted file.
 */
export function hashOfList(hashes: readonly string[]): string {
  const [only] = hashes;
  return hashes.length === 1 && only !== undefined && only !== "-"
    ? only
    : engine().sha256(encodeUtf8(hashes.join("\n")));
}

/** Returns a file as text for a reviewer; null when the bytes are not text. */
export function decodeIfText(bytes: Uint8Array): DecodedText | null {
  try {
    return isText(bytes) ? engine().decodeText(bytes) : null;
  } catch (error) {
    if (error instanceof FilewrightError) return null;
    throw error;
  }
}

function isText(bytes: Uint8Array): boolean {
  const { kind } = engine().inspect(bytes);
  return kind === "text" || kind === "svg" || kind === "empty";
}

/** Returns the text of a file for a reviewer; null when the bytes are not text. */
export function textIfDecodable(bytes: Uint8Array): string | null {
  return decodeIfText(bytes)?.text ?? null;
}

/** Does the same as {@link textIfDecodable}, but decodes large contents on another thread. */
export async function textIfDecodableAsync(bytes: Uint8Array): Promise<string | null> {
  return (await decodeIfTextAsync(bytes, undefined))?.text ?? null;
}

/**
 * Encodes a text that a reviewer has edited, with the encoding and the byte order mark of the bytes that were
 * shown.
 */
export function encodeLikeShown(text: string, shown: Uint8Array): Uint8Array {
  const { encoding, bom } = engine().decodeText(shown);
  return engine().encodeText(text, encoding, { bom: bom && !text.startsWith("\ufeff") });
}

/** The entries at and below a path, and the versions that must be unchanged when the approved change is made. */
export interface TreeFacts {
  readonly files: number;
  /** The number of directories, including the top one. */
  readonly directories: number;
  /** True when there are more entries than were visited. */
  readonly more: boolean;
  readonly base: readonly BaseVersion[];
  /** The visited entries. A directory precedes what is in it. */
  readonly entries: readonly TreeEntry[];
}

/** One visited entry. */
interface TreeEntry {
  /** Absolute. */
  readonly path: string;
  readonly type: EntryType;
}

/**
 * The maximum number of entries that are visited for a preview. In a larger tree the question and the
 * approval name only these.
 */
const MAX_PREVIEW_ENTRIES = 5000;

/** Visits the entries of a tree without following links. */
export async function readTreeFacts(call: Call, path: string): Promise<TreeFacts> {
  const entries: TreeEntry[] = [];
  const base: BaseVersion[] = [];
  const files: string[] = [];
  const add = async ({ path: at, type }: TreeEntry): Promise<void> => {
    entries.push({ path: at, type });
    // The version of a directory is read before its entries, so that any change after this is noticed.
    if (type === "dir") base.push(...(await currentVersionsOf(call.fs, [at])));
    else files.push(at);
  };
  const { type } = await call.fs.lstat(path);
  await add({ path, type });
  let more = false;
  if (type === "dir") {
    for await (const entry of walkTree(call.fs, path, call.signal)) {
      more = entries.length === MAX_PREVIEW_ENTRIES;
      if (more) break;
      await add(entry);
    }
  }
  base.push(...(await currentVersionsOf(call.fs, files)));
  return { files: files.length, directories: entries.length - files.length, more, base, entries };
}

/** Returns the current versions of entries. Links are not followed. */
export async function currentVersionsOf(
  fs: Files,
  paths: readonly string[],
): Promise<readonly BaseVersion[]> {
  const base: BaseVersion[] = [];
  for (const some of concurrentGroups(paths)) {
    const versions = await Promise.all(some.map((path) => currentVersion(fs, path, true)));
    for (const [index, path] of some.entries())
      base.push({ path, version: versions[index] as string | null, entry: true });
  }
  return base;
}

/** Returns a clause that says why a question about a tree does not name every entry; undefined when it does. */
export function incompleteTreeReason({ more, entries }: TreeFacts): string | undefined {
  return more ? `it covers more than the ${entries.length} entries that it names` : undefined;
}

/** Returns a text such as `12 files, 3 directories`. */
export function formatTreeCounts({ files, directories, more }: TreeFacts): string {
  const counts = `${plural(files, "file")}, ${plural(directories, "directory", "directories")}`;
  return more ? `more than ${counts}` : counts;
}

/** Returns the bytes of a file for a preview; null for a large file, and for an entry that is not a file. */
export async function readBytesForPreview(call: Call, path: string): Promise<Uint8Array | null> {
  try {
    const found = await call.fs.read(path, { maxBytes: MAX_PREVIEW_BYTES, signal: call.signal });
    return found === null ? null : found.bytes;
  } catch (error) {
    if (error instanceof FilewrightError && error.code !== "CANCELLED") return null;
    throw error;
  }
}

/** The maximum size in bytes of a file whose content is shown although it only gets another name. */
const MAX_PREVIEW_BYTES = 1024 * 1024;

/**
 * Returns the unified diff from one content of a file to another; empty when they are equal. Null stands for
 * a file that does not exist yet.
 */
export async function previewDiff(
  before: Uint8Array | null,
  after: Uint8Array,
  path: string,
): Promise<string> {
  return (await diffContentsAsync(before ?? EMPTY_BYTES, after, { oldName: path })).text;
}

/** Compares two contents of a file line by line, as text where they are text in another encoding than UTF-8. */
export function diffContents(before: Uint8Array, after: Uint8Array, options: DiffOptions): DiffResult {
  const made = engine().diff(before, after, options);
  if (!UNREADABLE.test(made.text)) return made;
  const [old, now] = [decodeIfText(before), decodeIfText(after)];
  return old === null || now === null ? made : engine().diff(old.text, now.text, options);
}

/** Does the same as {@link diffContents}, but compares and decodes large contents on another thread. @throws CANCELLED */
export async function diffContentsAsync(
  before: Uint8Array,
  after: Uint8Array,
  options: DiffOptions & Signalled,
): Promise<DiffResult> {
  if (before.length + after.length < MIN_THREAD_BYTES) return diffContents(before, after, options);
  const made = await engine().diffAsync(before, after, options);
  if (!UNREADABLE.test(made.text)) return made;
  const [old, now] = [
    await decodeIfTextAsync(before, options.signal),
    await decodeIfTextAsync(after, options.signal),
  ];
  if (old === null || now === null) return made;
  return await engine().diffAsync(encodeUtf8(old.text), encodeUtf8(now.text), options);
}

async function decodeIfTextAsync(
  bytes: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<DecodedText | null> {
  if (!isText(bytes)) return null;
  try {
    return await engine().reading.decodeText(bytes, undefined, { signal });
  } catch (error) {
    if (error instanceof FilewrightError && error.code !== "CANCELLED") return null;
    throw error;
  }
}

/** Matches what the bytes of UTF-16 and of encodings older than Unicode are in a diff that takes them for UTF-8. */
const UNREADABLE = /[\0\ufffd]/u;
