/**
 * The mounts that hold a policy inside mounted directories: an empty file or directory over what is denied or secret,
 * a read-only mount over what is protected. For every sandbox that mounts directories.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
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

/** The sources of the mounts over hidden entries. */
export interface CoverFiles {
  readonly file: string;
  readonly directory: string;
  remove(): void;
}

/**
 * The maximum number of mounts that cover entries, because sandboxes make them one by one. A command with more
 * is refused.
 */
const MAX_COVER_MOUNTS = 4_096;

/** Creates an empty file and an empty directory, which are mounted over hidden entries. */
export function makeCoverFiles(): CoverFiles {
  const base = mkdtempSync(join(tmpdir(), "filewright-cover-"));
  const [file, directory] = [join(base, "file"), join(base, "directory")];
  writeFileSync(file, "", { mode: 0o444 });
  mkdirSync(directory, { mode: 0o555 });
  return { file, directory, remove: () => rmSync(base, { recursive: true, force: true }) };
}

/**
 * Returns mounts over hidden and protected entries, directories before their content.
 * @throws FilewrightError SANDBOX_SETUP_FAILED where they are too many
 */
export function coverMounts(
  {
    readOnlyPaths,
    policy,
  }: { readonly readOnlyPaths: readonly string[]; readonly policy?: CommandPolicy | undefined },
  hidden: readonly HiddenEntry[],
  found: ScanResult,
  covers: CoverFiles,
): readonly CoverMount[] {
  const mounts = new Map<string, string>();
  for (const path of readOnlyPaths) if (entryKind(path) !== "missing") mounts.set(path, path);
  if (policy?.protect === true) {
    for (const { path, type } of found.protected) if (type !== "link") mounts.set(path, path);
    for (const { path, kind } of found.repositories) if (kind === "file") mounts.set(path, path);
  }
  for (const { path, directory } of hidden) mounts.set(path, directory ? covers.directory : covers.file);
  if (mounts.size > MAX_COVER_MOUNTS) {
    throw makeError(
      "SANDBOX_SETUP_FAILED",
      `${mounts.size} secret, denied and protected places are too many to be covered for a command`,
      { hint: `narrow access.write; at most ${MAX_COVER_MOUNTS} are covered` },
    );
  }
  const hiddenDirectories = new Set(hidden.flatMap((one) => (one.directory ? [one.path] : [])));
  // A mount point cannot be renamed. Below a cover nothing can be, and it must not be opened.
  const pinned = new Set(found.pinned.filter((path) => !mounts.has(path) && !isBelowAny(path, mounts)));
  return sortedByPath([...mounts.keys(), ...pinned])
    .filter((path) => !isBelowAny(path, hiddenDirectories))
    .map((path) => ({ source: mounts.get(path) ?? path, target: path, readOnly: !pinned.has(path) }));
}

/** Returns paths in their order, so that a directory comes before its content. */
export const sortedByPath = (paths: readonly string[]): readonly string[] => [...paths].sort();
