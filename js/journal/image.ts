/**
 * What stood at a path: enough to put it back, and to tell whether it is there.
 *
 * Contents and permission bits are kept. Times, owners and extended attributes
 * of something deleted are not: putting it back makes it anew.
 */
import type { EntryType, FsBackend } from "../backends/backend.ts";
import { chmodVia, lstatOrNull, readVersioned, symlinkVia, writeVia } from "../backends/fallback.ts";
import { failure } from "../backends/failure.ts";
import { engine } from "../engine/current.ts";
import type { FilewrightError } from "../engine/errors.ts";

/** What stood, or will stand, at a path; null for nothing. */
export interface Image {
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
  /** The content of a file: present in what is to be put back. */
  readonly bytes?: Uint8Array;
}

/** How many bytes of old content may still be kept. */
export interface Budget {
  bytes: number;
}

/** What stands at a path, with its content. @throws LIMIT_EXCEEDED where the content does not fit the budget */
export async function capture(fs: FsBackend, path: string, budget: Budget): Promise<Image | null> {
  // What is kept to be put back is shown to nobody: secrets too.
  const stat = await lstatOrNull(fs, path);
  if (stat === null) return null;
  const { type, size, target } = stat;
  const mode = stat.mode === undefined ? {} : { mode: stat.mode };
  if (type === "symlink") return target === undefined ? { type } : { type, target };
  if (type !== "file") return { type, ...mode };
  if (size > budget.bytes) throw tooMuch(path);
  const content = await readVersioned(fs.trusted?.() ?? fs, path, { maxBytes: budget.bytes });
  const bytes = (content as NonNullable<typeof content>).bytes;
  budget.bytes -= bytes.length;
  return { type, size: bytes.length, ...mode, bytes };
}

/**
 * A file at a real path with its content, in one step; null where something else stands
 * there, or nothing, or too much: {@link capture} tells which. Links are followed, so who
 * calls makes sure that the path is the real one. The budget is not charged.
 */
export async function captureFile(
  fs: FsBackend,
  path: string,
  { bytes: most }: Budget,
): Promise<Image | null> {
  try {
    const content = await readVersioned(fs.trusted?.() ?? fs, path, { maxBytes: most });
    const { bytes, stat } = content as NonNullable<typeof content>;
    return {
      type: "file",
      size: bytes.length,
      ...(stat.mode === undefined ? {} : { mode: stat.mode }),
      bytes,
    };
  } catch {
    return null;
  }
}

/** What is kept is bounded, and what is not kept cannot be taken back. */
export function tooMuch(path: string): FilewrightError {
  return failure("LIMIT_EXCEEDED", path, "this is more than can be kept to be taken back");
}

/** Whether an image is what stands at a path now. */
export async function standsAt(fs: FsBackend, path: string, image: Image | null): Promise<boolean> {
  const stat = await lstatOrNull(fs, path);
  if (stat === null || image === null) return stat === image;
  if (stat.type !== image.type) return false;
  if (image.mode !== undefined && stat.mode !== undefined && image.mode !== stat.mode) return false;
  if (stat.type === "symlink") return image.target === stat.target;
  if (stat.type !== "file") return true;
  if (image.version !== undefined && image.version === stat.version) return true;
  if (image.size !== undefined && image.size !== stat.size) return false;
  if (image.bytes === undefined && image.hash === undefined) return image.version === undefined;
  const now = await (fs.trusted?.() ?? fs).readBytes(path);
  return image.bytes === undefined ? engine().sha256(now) === image.hash : equal(now, image.bytes);
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

/** Makes a path be what an image says. @throws NOT_EMPTY where a directory is in use */
export async function put(fs: FsBackend, path: string, image: Image | null): Promise<void> {
  const there = await lstatOrNull(fs, path);
  const same = there !== null && there.type === image?.type && there.type !== "symlink";
  if (there !== null && !same) await fs.delete(path);
  if (image === null) return;
  switch (image.type) {
    case "file":
      if (image.bytes === undefined) throw failure("UNSUPPORTED_OPERATION", path, "its content was not kept");
      // What the change made read-only is still ours to take back.
      if (same && there.mode !== undefined && (there.mode & 0o222) === 0 && fs.chmod !== undefined)
        await chmodVia(fs, path, there.mode | 0o200);
      await writeVia(fs, path, image.bytes, image.mode === undefined ? {} : { mode: image.mode });
      return;
    case "dir":
      if (!same) await fs.mkdir(path, { parents: false, existOk: true });
      if (image.mode !== undefined && fs.chmod !== undefined) await chmodVia(fs, path, image.mode);
      return;
    case "symlink":
      await symlinkVia(fs, image.target ?? "", path);
      return;
    case "other":
      throw failure("UNSUPPORTED_OPERATION", path, "a FIFO, socket or device cannot be made again");
  }
}
