/** Puts a path back into a state from before a step: with the content of the record, or by the file itself where that is kept. */
import { shortcutsOf } from "../abilities.ts";
import type { FsStat } from "../backend.ts";
import { backendError } from "../failure.ts";
import { lstatOrNull } from "../fallback/fallback.ts";
import type { Files } from "../files.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { notKeptError } from "./file-keeper.ts";
import { FLUSHED_BY_RECORD, isSameEntry, keptNameOf, type PreImage } from "./pre-image.ts";

/**
 * Restores the state of an image by content. `there` is the current state: no other entry is
 * replaced.
 * @throws CONFLICT when the path has another state by now, NOT_EMPTY when a directory is in use
 */
export async function restoreByContent(
  fs: Files,
  path: string,
  there: FsStat | null,
  image: PreImage | null,
): Promise<void> {
  let now = there;
  const inPlace = now !== null && now.type === image?.type && now.type !== "symlink";
  if (now !== null && !inPlace) {
    await deleteIfVersion(fs, path, now);
    now = null;
  }
  if (image === null) return;
  switch (image.type) {
    case "file":
      if (image.bytes === undefined) {
        await restoreKept(fs, path, now, image);
        return;
      }
      // A file that the change made read-only must still be restored.
      if (now?.mode !== undefined && (now.mode & 0o222) === 0 && fs.abilities.modes) {
        await fs.chmod(path, now.mode | 0o200);
        now = await lstatOrNull(fs, path);
      }
      await fs.writeBytes(path, image.bytes, {
        ...(image.mode === undefined ? {} : { mode: image.mode }),
        ...(now === null ? { ifAbsent: true } : now.version === undefined ? {} : { ifVersion: now.version }),
      });
      return;
    case "dir":
      await restoreDirectory(fs, path, inPlace ? now : null, image);
      return;
    case "symlink":
      await fs.symlink(image.target ?? "", path);
      return;
    case "other":
      throw backendError("UNSUPPORTED_OPERATION", path, "a FIFO, socket or device cannot be made again");
  }
}

/** Moves a file back whose content was too large for the record. @throws UNSUPPORTED_OPERATION where it was not kept */
async function restoreKept(fs: Files, path: string, now: FsStat | null, image: PreImage): Promise<void> {
  if (keptNameOf(image) === undefined) throw notKeptError(path);
  // Several steps that are undone at once can end with the file that is there.
  if (now === null || !isSameEntry(now, image))
    await shortcutsOf(fs)
      .keeper.restore(image, path, now !== null)
      .catch((error: unknown) => {
        throw error instanceof FilewrightError && error.code === "NOT_FOUND" ? notKeptError(path) : error;
      });
  const { mode } = image;
  if (mode !== undefined && (await lstatOrNull(fs, path))?.mode !== mode) await fs.chmod(path, mode);
}

/** Makes a directory, or gives one that is there (`now`) its former bits. */
async function restoreDirectory(
  fs: Files,
  path: string,
  now: FsStat | null,
  { mode }: PreImage,
): Promise<void> {
  if (now === null) await fs.mkdir(path, { parents: false, existOk: false, ...FLUSHED_BY_RECORD });
  if (mode === undefined || !fs.abilities.modes) return;
  // A storage without permission bits shows the ordinary ones, and refuses to set them.
  const there = now ?? (await lstatOrNull(fs, path));
  if (there?.mode !== mode) await fs.chmod(path, mode);
}

/** Deletes an entry if it is still as it was read. */
async function deleteIfVersion(fs: Files, path: string, seen: FsStat): Promise<void> {
  const ifVersion = seen.type === "dir" ? undefined : seen.version;
  await fs.delete(path, { ...FLUSHED_BY_RECORD, ifVersion });
}
