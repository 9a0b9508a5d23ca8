/**
 * The mounts that hold a policy inside mounted directories: a cover over what is denied or secret, a read-only mount
 * over what is protected. For every sandbox that mounts directories.
 *
 * A cover inside a root must not look like a change: git would commit an empty file in place of a tracked secret. So a
 * file is covered by a device, which git refuses to add or stash whatever the user may read, and a directory by one
 * that is empty and cannot be entered, so that git gets an error for a tracked file below it instead of its deletion.
 * Outside the roots programs read settings that may be missing or empty, but not unreadable.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeError } from "../../engine/errors.ts";
import { isBelowAny } from "../paths.ts";
import type { HiddenEntry, ScanResult } from "./sandbox-native.node.ts";
import { entryKind } from "./sandbox-places.node.ts";
import type { CommandPolicy } from "./sandbox.ts";

/** One mount. Paths are absolute. */
export interface CoverMount {
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
}

/** The sources of the mounts over a hidden file and over a hidden directory. */
interface Cover {
  readonly file: string;
  readonly directory: string;
}

/** The sources of the mounts over hidden entries, inside and outside the roots that commands can change. */
export interface CoverFiles {
  readonly inside: Cover;
  readonly outside: Cover;
  remove(): void;
}

/** The device that covers files inside the roots. Where it can be opened at all, it is empty. */
const COVER_DEVICE = "/dev/null";

/**
 * The maximum number of mounts that cover entries, because sandboxes make them one by one. A command with more
 * is refused.
 */
const MAX_COVER_MOUNTS = 4_096;

/** Creates an empty file and empty directories, which are mounted over hidden entries. */
export function makeCoverFiles(): CoverFiles {
  const base = mkdtempSync(join(tmpdir(), "filewright-cover-"));
  const [file, directory, closed] = [join(base, "file"), join(base, "directory"), join(base, "closed")];
  writeFileSync(file, "");
  for (const path of [directory, closed]) mkdirSync(path);
  // Not by the mode at their creation, from which the mask of the process takes bits.
  chmodSync(file, 0o444);
  chmodSync(directory, 0o555);
  chmodSync(closed, 0o444);
  return {
    inside: { file: COVER_DEVICE, directory: closed },
    outside: { file, directory },
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

/**
 * Returns mounts over hidden and protected entries, directories before their content. `outside` are the hidden entries
 * besides those that the scan of the roots found.
 * @throws FilewrightError SANDBOX_SETUP_FAILED where they are too many
 */
export function coverMounts(
  {
    readOnlyPaths,
    policy,
  }: { readonly readOnlyPaths: readonly string[]; readonly policy?: CommandPolicy | undefined },
  outside: readonly HiddenEntry[],
  found: ScanResult,
  covers: CoverFiles,
): readonly CoverMount[] {
  const mounts = new Map<string, string>();
  for (const path of readOnlyPaths) if (entryKind(path) !== "missing") mounts.set(path, path);
  if (policy?.protect === true) {
    for (const { path, type } of found.protected) if (type !== "link") mounts.set(path, path);
    for (const { path, kind } of found.repositories) if (kind === "file") mounts.set(path, path);
  }
  const cover = (entries: readonly HiddenEntry[], { file, directory: folder }: Cover): void => {
    for (const { path, directory } of entries) mounts.set(path, directory ? folder : file);
  };
  cover(outside, covers.outside);
  cover(found.hidden, covers.inside);
  if (mounts.size > MAX_COVER_MOUNTS) {
    throw makeError(
      "SANDBOX_SETUP_FAILED",
      `${mounts.size} secret, denied and protected places are too many to be covered for a command`,
      { hint: `narrow access.write; at most ${MAX_COVER_MOUNTS} are covered` },
    );
  }
  const hidden = [...outside, ...found.hidden];
  const hiddenDirectories = new Set(hidden.flatMap((one) => (one.directory ? [one.path] : [])));
  // A mount point cannot be renamed. Below a cover nothing can be, and it must not be opened.
  const pinned = new Set(found.pinned.filter((path) => !mounts.has(path) && !isBelowAny(path, mounts)));
  return sortedByPath([...mounts.keys(), ...pinned])
    .filter((path) => !isBelowAny(path, hiddenDirectories))
    .map((path) => ({ source: mounts.get(path) ?? path, target: path, readOnly: !pinned.has(path) }));
}

/** Returns paths in their order, so that a directory comes before its content. */
export const sortedByPath = (paths: readonly string[]): readonly string[] => [...paths].sort();
