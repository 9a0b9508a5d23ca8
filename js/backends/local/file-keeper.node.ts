/**
 * Keeps large files of a disk in the directory `kept` of the state directory, where they were moved by a rename. They stay
 * until they come back. Those older than a week, and the oldest beyond the room, are removed when another file is put away
 * or the journal is pruned.
 */
import * as fs from "node:fs/promises";
import { join } from "node:path";
import type { NativeRoots } from "../../engine/generated/binding.ts";
import { withPathInRejection } from "./local-calls.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { FsStat } from "../backend.ts";
import type { Files } from "../files.ts";
import { nameOf } from "../paths.ts";
import { type FileKeeper, notKeptError } from "../transaction/file-keeper.ts";
import { keptNameOf } from "../transaction/pre-image.ts";
import { defaultStateDir } from "../state-directory.node.ts";

/** The maximum total size of the kept files of a state directory, in bytes. */
const MAX_KEPT_BYTES: number = 4 * 1024 * 1024 * 1024;
/** The time after which a kept file is forgotten, in milliseconds. */
const MAX_KEPT_MS: number = 7 * 24 * 60 * 60 * 1000;
/** The form of a name: device, inode, size and time of the last change, in hexadecimal. */
const KEPT_NAME = /^[0-9a-f]+(?:\.[0-9a-f]+){3}$/;

/**
 * A disk, how it moves files out of its roots, its state directory (undefined for the default one), and whether the moves
 * are flushed.
 */
interface DiskOfKeeper {
  readonly disk: Pick<Files, "asidePath" | "trusted">;
  readonly roots: NativeRoots;
  readonly stateDir: string | undefined;
  readonly durable: boolean;
}

/** Returns the keeper of the large files of a disk. */
export function fileKeeperOf({ disk, roots, stateDir, durable }: DiskOfKeeper): FileKeeper {
  const directory = (): string => stateDir ?? defaultStateDir();
  const placeOf = (name: string | undefined, path: string): string => {
    if (name === undefined || !KEPT_NAME.test(name)) throw notKeptError(path);
    return join(folderOfKept(directory()), name);
  };
  const bringBack: FileKeeper["bringBack"] = async (image, path, aside) => {
    const place = placeOf(keptNameOf(image), path);
    const name = aside === undefined ? undefined : nameOf(aside);
    await withPathInRejection(path, roots.bringBack(path, place, image.version ?? "", name));
  };
  /** True once a rename has found that the directory is on another file system, or another mount of the same one. */
  let isApart = false;
  return {
    nameFor: async (stat, planned) => {
      const name = isApart ? undefined : nameOfKept(stat);
      return name !== undefined && (await hasRoom(directory(), stat, planned)) ? name : undefined;
    },
    putAway: async (aside, name) => {
      const place = placeOf(name, aside);
      try {
        await withPathInRejection(aside, roots.putAway(aside, place, durable));
      } catch (error) {
        isApart ||= error instanceof FilewrightError && error.code === "UNSUPPORTED_OPERATION";
        throw error;
      }
      // The file is kept, whatever becomes of older ones.
      await forgetKeptFiles(directory()).catch(() => undefined);
    },
    bringBack,
    restore: async (image, path, replaces) => {
      const aside = replaces ? disk.asidePath(path) : undefined;
      await bringBack(image, path, aside);
      if (aside !== undefined) await disk.trusted().delete(aside);
    },
  };
}

/** Removes the kept files of a state directory that are too old, and the oldest of those for which there is no room. */
export async function forgetKeptFiles(stateDir: string): Promise<void> {
  const files = await keptFiles(folderOfKept(stateDir));
  if (files.length === 0) return;
  const room = await roomIn(stateDir);
  let bytes = 0;
  const forgottenBefore = Date.now() - MAX_KEPT_MS;
  for (const { path, size, since } of files) {
    bytes += size;
    if (bytes > room || since < forgottenBefore) await fs.rm(path, { force: true });
  }
}

/**
 * Returns the bytes that kept files may take in a state directory together: at most as many as are free now, so that
 * whoever deletes files on a disk that is nearly full gets their room.
 */
async function roomIn(stateDir: string): Promise<number> {
  const { bavail, bsize } = await fs.statfs(stateDir);
  return Math.min(MAX_KEPT_BYTES, bavail * bsize);
}

function folderOfKept(stateDir: string): string {
  return join(stateDir, "kept");
}

/** Returns the first four fields of the version of a file, which a rename leaves as they are. */
function nameOfKept({ version, isFile }: FsStat): string | undefined {
  const name = version?.split(":", 1)[0]?.split(".").slice(0, 4).join(".");
  return isFile && name !== undefined && KEPT_NAME.test(name) ? name : undefined;
}

/**
 * Returns true where a file is on the device of a state directory, and has room there with the planned bytes. Another mount
 * of the device can still refuse it. Older kept files do not count, because they are removed for it.
 */
async function hasRoom(stateDir: string, { size, fileId }: FsStat, planned: number): Promise<boolean> {
  try {
    const { dev } = await fs.stat(stateDir);
    return fileId?.split(".", 1)[0] === dev.toString(16) && planned + size <= (await roomIn(stateDir));
  } catch {
    return false; // The state directory is gone.
  }
}

/** A kept file, and the moment since which it is kept. */
interface KeptFile {
  readonly path: string;
  readonly size: number;
  readonly since: number;
}

/** Returns the kept files, the newest first. */
async function keptFiles(folder: string): Promise<readonly KeptFile[]> {
  const names = await fs.readdir(folder).catch(() => []);
  const found = names.map(async (name): Promise<readonly KeptFile[]> => {
    const path = join(folder, name);
    // The time of the last change of metadata is that of the rename.
    const stat = await fs.lstat(path).catch(() => undefined);
    return stat === undefined ? [] : [{ path, size: stat.size, since: stat.ctimeMs }];
  });
  return (await Promise.all(found)).flat().sort((a, b) => b.since - a.since);
}
