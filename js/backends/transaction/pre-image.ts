/**
 * A pre-image: the state of a path before a step, or its expected state after it. It suffices to
 * check whether the path has that state, and, with its content, to restore it.
 *
 * Restoring by content recovers bytes and permission bits; owner, times, attributes and other
 * names are kept only when the old entry itself was set aside.
 */
import type { Files } from "../files.ts";
import { equalBytes } from "../../engine/wire/bytes.ts";
import type { EntryType, FsStat, VersionedBytes } from "../backend.ts";
import { lstatOrNull, hashOf } from "../fallback/fallback.ts";
import { type Changed, PERMISSION_BITS } from "../entry.ts";
import { backendError, isUncertain } from "../failure.ts";
import type { FilewrightError } from "../../engine/errors.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";

/** The state of a path; null for no entry. */
export interface PreImage {
  readonly type: EntryType;
  /** The size of a file in bytes. */
  readonly size?: number;
  readonly mode?: number;
  /** The target of a symbolic link, as written. */
  readonly target?: string;
  /** The `sha256:` hash of a file's content, when it is known without reading. */
  readonly hash?: string;
  /** The version of a file in the backend, when known. */
  readonly version?: string;
  /** The id of the entry itself, if the backend has such ids. */
  readonly fileId?: string;
  /** The time of the last change of a file, in milliseconds since 1970. */
  readonly mtime?: number;
  /** Where the content is, if that is known. */
  readonly source?: ContentSource;
  /** The content of a file; present when it can be restored by content. */
  readonly bytes?: Uint8Array;
}

/**
 * Where the content of a file is: for a copied one, the path that it comes from and the copied version; for one that was
 * too large for the record, the name under which it is kept (`file-keeper.ts`).
 */
type ContentSource = { readonly path: string; readonly version: string } | { readonly kept: string };

/** Returns the name under which a file is kept; undefined for one that is not. */
export function keptNameOf(image: PreImage | null | undefined): string | undefined {
  const source = image?.source;
  return source !== undefined && "kept" in source ? source.kept : undefined;
}

/** The state of one path before a change, to which taking the change back restores it. */
export interface PastState {
  /** Absolute. */
  readonly path: string;
  /** The entry before the change, with its content if that was recorded; null when there was none. */
  readonly image: PreImage | null;
  /** The path to which the change moved the entry, and from which it is moved back. */
  readonly from?: string;
}

/** The budget of a transaction: the bytes of old content that it may still keep. */
export interface CaptureBudget {
  bytes: number;
  /** The bytes of the files that are kept without a copy (`file-keeper.ts`). */
  keptBytes: number;
  /** The maximum size of a file that is copied where it can be kept in another way, in bytes. */
  readonly mostCopied: number;
}

/** The mode bits that a write of a content leaves: those to read, write and execute, and sticky. */
const WRITTEN_BITS = 0o1777;

/** Returns the permission bits that a write with the option `mode` leaves; empty without the option. */
export function bitsOfWrite(mode: number | undefined): Pick<PreImage, "mode"> {
  return mode === undefined ? {} : { mode: mode & WRITTEN_BITS };
}

/** Returns the state of an entry, with the content of a file where it is given. */
export function preImageOf(stat: FsStat, bytes?: Uint8Array): PreImage {
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
    ...withoutUndefined({ version, bytes }),
  };
}

/**
 * Returns the state of a path with its content. That of a file beyond the largest copied size can be kept in another way, for which the
 * step has to set the file aside. @throws LIMIT_EXCEEDED where it cannot
 */
export async function capturePreImage(
  fs: Files,
  path: string,
  budget: CaptureBudget,
  nameToKeep: (stat: FsStat, planned: number) => Promise<string | undefined>,
): Promise<PreImage | null> {
  const stat = await lstatOrNull(fs, path);
  if (stat === null) return null;
  if (stat.type !== "file") return preImageOf(stat);
  const kept = stat.size > budget.mostCopied ? await nameToKeep(stat, budget.keptBytes) : undefined;
  if (kept !== undefined) {
    budget.keptBytes += stat.size;
    return { ...preImageOf(stat), source: { kept } };
  }
  if (stat.size > budget.bytes) throw tooMuchError(path);
  // The pre-image is for restoring only and never shown, so it includes secrets.
  const content = await fs.trusted().read(path, { maxBytes: budget.bytes });
  const image = imageOfFile(content as VersionedBytes);
  budget.bytes -= image.size as number;
  return image;
}

/**
 * Returns the state and content of a file in one step; null for any other entry, no entry, and a larger file,
 * which {@link capturePreImage} distinguishes. Links are followed, so the caller must pass a real path.
 */
export async function captureFile(fs: Files, path: string, maxBytes: number): Promise<PreImage | null> {
  try {
    return imageOfFile((await fs.trusted().read(path, { maxBytes })) as VersionedBytes);
  } catch {
    return null;
  }
}

/** Returns the state and content of a file that was read. */
export function imageOfFile({ bytes, version, stat }: VersionedBytes): PreImage {
  return preImageOf({ ...stat, version, size: bytes.length }, bytes);
}

/** Returns the error of a change whose old content exceeds the limits of the journal. */
export function tooMuchError(path: string): FilewrightError {
  return backendError("LIMIT_EXCEEDED", path, "this is more than can be kept to be taken back");
}

/** Returns true when facts and an image are of the same entry with the same content. A rename keeps both. */
export function isSameEntry(stat: FsStat, image: PreImage): boolean {
  if (stat.type !== image.type || stat.fileId === undefined || stat.fileId !== image.fileId) return false;
  return stat.type !== "file" || (stat.size === image.size && stat.mtime === image.mtime);
}

/** Returns true when a path, whose current facts are given, has the state of an image. */
export async function isPreImage(
  fs: Files,
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

/** Returns true when a file has the content of an image; false when the image's content is unknown. */
export async function hasContentOf(fs: Files, path: string, stat: FsStat, image: PreImage): Promise<boolean> {
  if (image.size !== undefined && image.size !== stat.size) return false;
  const reader = fs.trusted();
  if (image.bytes !== undefined) return equalBytes(await reader.readBytes(path), image.bytes);
  if (image.hash !== undefined) return (await hashOf(reader, path)) === image.hash;
  const { source } = image;
  if (source === undefined || "kept" in source) return false;
  const content = await reader.read(source.path).catch((error: unknown) => {
    // Files that do not answer are asked again by the next attempt.
    if (isUncertain(error)) throw error;
    return null;
  });
  if (content === null || content.version !== source.version) return false;
  return equalBytes(await reader.readBytes(path), content.bytes);
}

/** The states of a path before and after a step. */
type StatePair = Omit<Changed<PreImage>, "path">;

/** Returns the mode with which a step left its path; undefined when it is unknown. */
export function modeLeftBy({ before, after }: StatePair): number | undefined {
  return after?.mode ?? (after !== null && after.type === before?.type ? before.mode : undefined);
}

/** Returns true when a step set other permission bits: not where it kept them, nor where it copied those of a file. */
function setsMode({ before, after }: StatePair): boolean {
  return after?.mode !== undefined && after.source === undefined && after.mode !== before?.mode;
}

/** Returns true when a step set permission bits and another process has set others since: neither can be put back. */
export function isModeLost(step: StatePair, mode: number | undefined): boolean {
  return setsMode(step) && hasForeignMode(step, mode);
}

/** Returns true when a path has permission bits that are neither those before a step nor those after it. */
export function hasForeignMode(step: StatePair, mode: number | undefined): boolean {
  const left = modeLeftBy(step);
  if (mode === undefined || left === undefined || step.before?.mode === undefined) return false;
  // Other bits of a mode are not compared, because a write can clear them.
  return ![left, step.before.mode].some((known) => ((known ^ mode) & PERMISSION_BITS) === 0);
}

/**
 * Returns the state before a step, with the permission bits that another process has set at its path since. Those of a
 * step that sets bits are not kept: they are a conflict.
 */
export function stateToRestore(step: StatePair, mode: number | undefined): PreImage | null {
  const { before } = step;
  if (before === null || mode === undefined || setsMode(step)) return before;
  return hasForeignMode(step, mode) ? { ...before, mode } : before;
}

/**
 * Returns a state without its permission bits: an undo compares types and contents, and the bits may have changed
 * since.
 */
export function withoutMode({ mode: _mode, ...image }: PreImage): PreImage {
  return image;
}

/**
 * The options of removals and made directories of a recorded change and of its rollback. They are not flushed one by one:
 * the flush of the record, after them, is theirs too (docs/decisions/0005-what-durable-means.md).
 */
export const FLUSHED_BY_RECORD: { readonly durability: "atomic" } = Object.freeze({ durability: "atomic" });
