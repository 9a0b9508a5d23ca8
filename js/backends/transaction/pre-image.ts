/**
 * A pre-image: what stood at a path before a step, or will stand there after it. Enough to tell whether it stands
 * there now, and, with its content, to put it back.
 *
 * Put back by content, a file has its bytes and permission bits; owner, times, attributes and other names are kept
 * only where the old entry itself was set aside.
 */
import type { EntryType, FsBackend, FsStat } from "../backend.ts";
import { chmodVia, lstatOrNull, readVersioned, symlinkVia, writeVia } from "../fallback.ts";
import { failure } from "../failure.ts";
import { engine } from "../../engine/current.ts";
import type { FilewrightError } from "../../engine/errors.ts";

/** What stood, or will stand, at a path; null for nothing. */
export interface PreImage {
  readonly type: EntryType;
  /** Bytes of a file. */
  readonly size?: number;
  readonly mode?: number;
  /** Of a link, as written. */
  readonly target?: string;
  /** `sha256:` of a file, where it is known without reading. */
  readonly hash?: string;
  /** The backend's version, where it is known. */
  readonly version?: string;
  /** Names the entry itself, where the backend tells. */
  readonly fileId?: string;
  /** Of a file. Milliseconds since 1970, UTC. */
  readonly mtime?: number;
  /** Of a copy: where its content comes from, and the version that was copied. */
  readonly source?: { readonly path: string; readonly version: string };
  /** The content of a file: present in what can be put back by content. */
  readonly bytes?: Uint8Array;
}

/** How many bytes of old content may still be kept. */
export interface Budget {
  bytes: number;
}

/** The facts about what stands at a path, without content. */
export function imageOf(stat: FsStat): PreImage {
  const { type, size, mode, target, version, fileId, mtime } = stat;
  const bits = type === "symlink" || mode === undefined ? {} : { mode };
  const id = fileId === undefined ? {} : { fileId };
  if (type === "dir") return { type, ...bits, ...id };
  return {
    type,
    ...bits,
    ...id,
    ...(type === "file" ? { size, mtime } : {}),
    ...(target === undefined ? {} : { target }),
    ...(version === undefined ? {} : { version }),
  };
}

/** What stands at a path, with its content. @throws LIMIT_EXCEEDED where the content does not fit the budget */
export async function capture(fs: FsBackend, path: string, budget: Budget): Promise<PreImage | null> {
  const stat = await lstatOrNull(fs, path);
  if (stat === null) return null;
  if (stat.type !== "file") return imageOf(stat);
  if (stat.size > budget.bytes) throw tooMuch(path);
  // What is kept to be put back is shown to nobody: secrets too.
  const content = await readVersioned(fs.trusted?.() ?? fs, path, { maxBytes: budget.bytes });
  const { bytes, version } = content as NonNullable<typeof content>;
  budget.bytes -= bytes.length;
  return { ...imageOf(stat), version, size: bytes.length, bytes };
}

/**
 * A file at a real path with its content, in one step; null where something else stands
 * there, or nothing, or too much: {@link capture} tells which. Links are followed, so whoever
 * calls makes sure that the path is the real one. The budget is not charged.
 */
export async function captureFile(
  fs: FsBackend,
  path: string,
  { bytes: maxBytes }: Budget,
): Promise<PreImage | null> {
  try {
    const content = await readVersioned(fs.trusted?.() ?? fs, path, { maxBytes });
    const { bytes, version, stat } = content as NonNullable<typeof content>;
    return { ...imageOf(stat), version, size: bytes.length, bytes };
  } catch {
    return null;
  }
}

/** The refusal of a change of which more would have to be kept than the journal keeps. */
export function tooMuch(path: string): FilewrightError {
  return failure("LIMIT_EXCEEDED", path, "this is more than can be kept to be taken back");
}

/** Whether facts are about the very entry of an image, with the same content. A rename changes neither. */
export function isSameEntry(stat: FsStat, image: PreImage): boolean {
  if (stat.type !== image.type || stat.fileId === undefined || stat.fileId !== image.fileId) return false;
  return stat.type !== "file" || (stat.size === image.size && stat.mtime === image.mtime);
}

/** Whether an image is what stands at a path, whose facts are known. */
export async function isImage(
  fs: FsBackend,
  path: string,
  stat: FsStat | null,
  image: PreImage | null,
): Promise<boolean> {
  if (stat === null || image === null) return stat === image;
  if (stat.type !== image.type) return false;
  if (image.mode !== undefined && stat.mode !== undefined && image.mode !== stat.mode) return false;
  if (stat.type === "symlink") return image.target === stat.target;
  if (stat.type !== "file") return true;
  if (image.version !== undefined && image.version === stat.version) return true;
  if (image.fileId !== undefined && isSameEntry(stat, image)) return true;
  return hasContentOf(fs, path, stat, image);
}

/** Whether a file has the content of an image, as far as that is known; false where nothing is known of it. */
export async function hasContentOf(
  fs: FsBackend,
  path: string,
  stat: FsStat,
  image: PreImage,
): Promise<boolean> {
  if (image.size !== undefined && image.size !== stat.size) return false;
  const reader = fs.trusted?.() ?? fs;
  if (image.bytes !== undefined) return equal(await reader.readBytes(path), image.bytes);
  if (image.hash !== undefined) return engine().sha256(await reader.readBytes(path)) === image.hash;
  const { source } = image;
  if (source === undefined) return false;
  const content = await readVersioned(reader, source.path).catch(() => null);
  if (content === null || content.version !== source.version) return false;
  return equal(await reader.readBytes(path), content.bytes);
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

/**
 * Makes a path be what an image says, by content. `there` is what stands at it now: nothing else is replaced.
 * @throws CONFLICT where something else stands there by now, NOT_EMPTY where a directory is in use
 */
export async function restoreByContent(
  fs: FsBackend,
  path: string,
  there: FsStat | null,
  image: PreImage | null,
): Promise<void> {
  let now = there;
  const inPlace = now !== null && now.type === image?.type && now.type !== "symlink";
  if (now !== null && !inPlace) {
    await deleteExact(fs, path, now);
    now = null;
  }
  if (image === null) return;
  switch (image.type) {
    case "file":
      if (image.bytes === undefined) throw failure("UNSUPPORTED_OPERATION", path, "its content was not kept");
      // What the change made read-only is still ours to take back.
      if (now?.mode !== undefined && (now.mode & 0o222) === 0 && fs.chmod !== undefined) {
        await chmodVia(fs, path, now.mode | 0o200);
        now = await lstatOrNull(fs, path);
      }
      await writeVia(fs, path, image.bytes, {
        ...(image.mode === undefined ? {} : { mode: image.mode }),
        ...(now === null ? { ifAbsent: true } : now.version === undefined ? {} : { ifVersion: now.version }),
      });
      return;
    case "dir":
      if (!inPlace) await fs.mkdir(path, { parents: false, existOk: false });
      if (image.mode !== undefined && fs.chmod !== undefined) await chmodVia(fs, path, image.mode);
      return;
    case "symlink":
      await symlinkVia(fs, image.target ?? "", path);
      return;
    case "other":
      throw failure("UNSUPPORTED_OPERATION", path, "a FIFO, socket or device cannot be made again");
  }
}

/** Deletes an entry that was looked at a moment ago, on the condition that it still is what was seen. */
async function deleteExact(fs: FsBackend, path: string, seen: FsStat): Promise<void> {
  const ifVersion = seen.type === "dir" ? undefined : seen.version;
  await fs.delete(path, ifVersion === undefined ? {} : { ifVersion });
}
