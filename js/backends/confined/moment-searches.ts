/** The searches and listings of a confined backend whose storage is seen at one moment. */
import type { FsBackend } from "../backend.ts";
import { listPageVia } from "../fallback/fallback.ts";
import { walkedTree } from "../fallback/tree-page.ts";
import type { MomentOf } from "../search/moments.ts";
import { findFilesBackend } from "../search/search-fuzzy.ts";
import { findBackend, grepBackend } from "../search/search.ts";

/**
 * Returns searches that are answered from a moment. The moment is confined like the storage itself, so its walk judges
 * what is found, and counts nothing that is denied. `granted` are the secrets that may be read.
 */
export function momentSearches(
  moment: MomentOf,
  confine: (moment: FsBackend) => FsBackend,
  granted: () => readonly string[],
): Required<Pick<FsBackend, "grep" | "find" | "findFiles" | "listTree" | "listPage">> {
  const known = new WeakMap<FsBackend, FsBackend>();
  const at = async (signal: AbortSignal | undefined): Promise<FsBackend> => {
    const inner = await moment({ signal });
    const confined = known.get(inner) ?? confine(inner);
    known.set(inner, confined);
    confined.grantSecrets?.(granted());
    return confined;
  };
  return {
    grep: async (root, query) => grepBackend(await at(query.signal), root, query),
    find: async (root, query) => findBackend(await at(query.signal), root, query),
    findFiles: async (root, query) => findFilesBackend(await at(query.signal), root, query),
    listTree: async (root, request) => walkedTree(await at(request.signal), root, request),
    listPage: async (path, options) => listPageVia(await at(undefined), path, options),
  };
}
