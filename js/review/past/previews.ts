/** The previews of what would be taken back, so that the rows can be read and the question about it answered. */
import type { HistoryChange } from "../../pipeline/past/file-change.ts";
import type { Workspace } from "../../workspace/types.ts";

/** The changes that a rewind, or an undo of some hunks, would make. */
export interface Preview {
  readonly digest: string;
  readonly changes: readonly HistoryChange[];
}

/** The number of previews that are kept for one workspace, with the contents that they show. */
const MAX_KEPT_PREVIEWS = 4;
const keptPreviews = new WeakMap<Workspace, Map<string, Preview>>();

/** Keeps a preview for a while. */
export function keepPreview(ws: Workspace, preview: Preview): void {
  const kept = keptPreviews.get(ws) ?? new Map<string, Preview>();
  keptPreviews.set(ws, kept);
  kept.delete(preview.digest);
  kept.set(preview.digest, preview);
  if (kept.size > MAX_KEPT_PREVIEWS) kept.delete(kept.keys().next().value as string);
}

/** Returns a preview by its digest; undefined when it is not kept any more. */
export function keptPreview(ws: Workspace, digest: string): Preview | undefined {
  return keptPreviews.get(ws)?.get(digest);
}
