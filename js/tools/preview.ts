/**
 * What a reviewer is shown of a change of content: text in the file's own
 * encoding, the whole diff, and the hash of the very bytes that would be written.
 */
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import { lstatVia, readVersioned } from "../backends/fallback.ts";
import { walkTree } from "../backends/fallback-tree.ts";
import { currentVersion } from "./contents.ts";
import { diffOf } from "./difference.ts";
import { utf8 } from "./text.ts";
import type { BaseVersion, Call, Preview } from "./tool.ts";

/** A preview of one file's content; `before` is null for a new file. */
export function contentPreview(
  what: Pick<Preview, "title" | "location" | "risk">,
  before: Uint8Array | null,
  after: Uint8Array,
  path: string,
): Preview {
  return {
    ...what,
    diff: diffOf(before, after, path),
    originalContent: before === null ? null : shownText(before),
    newContent: shownText(after),
    hash: engine().sha256(after),
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
}

/** So many entries are looked at for a preview; larger trees are bound by these. */
const MAX_ENTRIES = 5000;

/** Looks through a tree without following links. */
export async function treeFacts(call: Call, path: string): Promise<TreeFacts> {
  const base: BaseVersion[] = [];
  let [files, directories, more] = [0, 0, false];
  const count = async (at: string, isDir: boolean): Promise<void> => {
    if (isDir) directories += 1;
    else files += 1;
    base.push({ path: at, version: await currentVersion(call.fs, at, true), entry: true });
  };
  const top = await lstatVia(call.fs, path);
  await count(path, top.isDir);
  if (top.isDir) {
    for await (const entry of walkTree(call.fs, path)) {
      if (base.length === MAX_ENTRIES) {
        more = true;
        break;
      }
      await count(entry.path, entry.type === "dir");
    }
  }
  return { files, directories, more, base };
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
