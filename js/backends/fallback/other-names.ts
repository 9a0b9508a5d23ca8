/**
 * The other names of a file: its hard links on a disk. Storages that are no disk have one name for each file.
 */
import { FilewrightError } from "../../engine/errors.ts";
import type { FsBackend, FsStat } from "../backend.ts";

/** A storage whose files can have several names. */
export interface NamesOfFiles {
  /** Returns the other names of a file below the roots of the policy, as paths without links. */
  otherNames?(path: string): Promise<readonly string[]>;
  /** Refuses to read a file which the policy hides under another name. @throws OUTSIDE_ALLOWED, GRANT_DENIED */
  checkNames?(path: string): Promise<void>;
}

/**
 * Returns the other names of a file. Empty for a path that cannot be used: the use of it reports the reason.
 * @throws FilewrightError LIMIT_EXCEEDED where there are too many entries to look through
 */
export async function otherNamesOf(fs: FsBackend, path: string): Promise<readonly string[]> {
  const disk = fs as FsBackend & NamesOfFiles;
  if (disk.otherNames === undefined) return [];
  try {
    return await disk.otherNames(path);
  } catch (error) {
    if (error instanceof FilewrightError && error.code !== "LIMIT_EXCEEDED") return [];
    throw error;
  }
}

/** Returns the facts about a file that is about to be read. @throws as {@link NamesOfFiles.checkNames} */
export async function statToRead(fs: FsBackend, path: string): Promise<FsStat> {
  await (fs as FsBackend & NamesOfFiles).checkNames?.(path);
  return fs.stat(path);
}
