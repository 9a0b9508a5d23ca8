/**
 * Searches a fork with the copy of its parent's files on the disk. The copy is searched for the files that both have
 * in common, and the files that differ are walked in the fork. The files of the fork are not copied.
 */
import type { Files } from "../../backends/files.ts";
import type { SearchResult } from "../../engine/search-types.ts";
import { isWithin } from "../../backends/paths.ts";
import {
  type ChangedEntries,
  type ChangedRequest,
  dividedGrep,
  type DividedGrep,
  divideSearch,
  isChangedIn,
  namesToChanges,
  type SearchParts,
} from "../../backends/search/divided-search.ts";
import { shortcutsOf } from "../../backends/abilities.ts";
import { inBatches } from "../../backends/search/read-ahead.ts";
import { SearchWalk } from "../../backends/search/search-walk.ts";
import { IGNORE_FILES, ignoreSourceOf } from "../../backends/walk/ignore-files.ts";
import type { MirrorSearch } from "../search/mirrored.ts";
import type { TreeStorage } from "../search/tree-storage.ts";
import type { StorageTree } from "../search/tree.ts";

/**
 * Returns how the search of a fork is divided between the copy of another tree and a walk of what differs; undefined
 * where the fork must be walked as a whole.
 */
export function divideForkSearch(
  copied: StorageTree,
  files: TreeStorage,
  { root, query }: MirrorSearch,
): SearchParts | undefined {
  return divideSearch(files.differingFrom(copied), root, query);
}

/** Searches the copy by `below` without the paths that differ, and walks those through the policy of the caller. */
export async function searchFork(
  parts: SearchParts,
  { query, walked }: MirrorSearch,
  below: DividedGrep["below"],
): Promise<SearchResult> {
  if (parts.changed.length === 0) return below(query);
  return dividedGrep(parts, query, {
    below,
    changes: async (request) => walkChanged(parts, walked, request),
    read: (path) => walked.readBytes(path),
  });
}

/** Walks the paths that differ. A directory above them has only its ignore files and the entries that lead to them. */
async function walkChanged(
  parts: SearchParts,
  walked: Files,
  request: ChangedRequest,
): Promise<ChangedEntries> {
  const { real } = parts;
  const isChanged = isChangedIn(parts);
  const leading = namesToChanges(parts);
  const { respectIgnore, ignoreFiles = IGNORE_FILES } = request.query;
  const rules = new Set(respectIgnore === false ? [] : [...ignoreFiles, ".git"]);
  const listDir: Files["listDir"] = async (directory, options) => {
    const entries = await walked.listDir(directory, options);
    if (isChanged(directory) && isWithin(directory, real)) return entries;
    const names = leading.get(directory);
    return entries.filter(({ name }) => rules.has(name) || names?.has(name) === true);
  };
  const readBytes: Files["readBytes"] = (path) => walked.readBytes(path);
  const walk = new SearchWalk(ignoreSourceOf(walked, { listDir, readBytes }), real, {
    ...request,
    wants: (path, entry) => isChanged(entry.path) && request.wants(path, entry),
    counted: (entry) => isChanged(entry.path),
  });
  const ahead = await shortcutsOf(walked).readAhead?.(real);
  const { maxFileBytes = Number.POSITIVE_INFINITY, query } = request;
  const more = { maxFileBytes, signal: query.signal };
  return {
    entries: () => (ahead === undefined ? walk.entries() : inBatches(walk.entries(), ahead, more)),
    counts: () => walk.counts,
  };
}
