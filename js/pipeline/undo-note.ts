/** What is said about a change that the history cannot take back: in the question about it, and with its answer. */
import type { FsBackend } from "../backends/backend.ts";
import { lstatOrNull } from "../backends/fallback/fallback.ts";
import { type Kept, LARGEST_UNDO } from "../journal/index.ts";
import type { Preview } from "../tools/lib/tool.ts";

/** The number of entries whose sizes are read concurrently. */
const CONCURRENT_SIZES = 32;

/** Returns a sentence for the model and its user about a change that was made and cannot be undone. */
export function warningsOf(kept: Kept): readonly string[] {
  return kept === "too_large" ? [`this cannot be undone: of one call the history keeps ${LARGEST_UNDO}`] : [];
}

/** Returns the preview with a remark in its title if the change replaces or removes more than `maxUndoneBytes`. */
export async function withUndoNote(
  preview: Preview,
  maxUndoneBytes: number | undefined,
  fs: FsBackend,
): Promise<Preview> {
  if (maxUndoneBytes === undefined) return preview;
  const replaced = preview.changes.filter(({ kind }) => kind !== "create").map(({ path }) => path);
  return (await isAbove(maxUndoneBytes, replaced, fs))
    ? { ...preview, title: `${preview.title} (too large to be undone)` }
    : preview;
}

/** Returns true if the files at the paths have more bytes together. Links count nothing. */
async function isAbove(maxBytes: number, paths: readonly string[], fs: FsBackend): Promise<boolean> {
  let bytes = 0;
  for (let at = 0; at < paths.length && bytes <= maxBytes; at += CONCURRENT_SIZES) {
    const some = paths.slice(at, at + CONCURRENT_SIZES);
    const found = await Promise.all(some.map((path) => lstatOrNull(fs, path)));
    for (const stat of found) if (stat?.isFile === true) bytes += stat.size;
  }
  return bytes > maxBytes;
}
