/** The preview of an undo or a rewind: the paths that it puts back, as a person sees them before it is made. */
import type { Files } from "../../backends/files.ts";
import { escapeControls } from "../../engine/escape.ts";
import type { RewindPlan, RewoundPath } from "../../log/past.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { ActedPath } from "../../tools/change/change.ts";
import { contentsOf, type HistoryChange, historyChange, readSide, sideOf } from "./file-change.ts";

/** Returns the changes that a plan makes, with the contents before and after. */
export async function changesOfPlan(
  fs: Files,
  { paths }: Pick<RewindPlan, "paths">,
  display: (path: string) => string,
): Promise<readonly HistoryChange[]> {
  const changes: HistoryChange[] = [];
  for (const path of paths) changes.push(await changeOf(fs, path, display));
  return changes;
}

async function changeOf(
  fs: Files,
  { path, now, image, from, contentAt }: RewoundPath,
  display: (path: string) => string,
): Promise<HistoryChange> {
  const at = { path, display: display(path), from };
  if (from !== undefined && contentAt !== undefined) {
    const side = sideOf(image);
    return historyChange(at, side, side);
  }
  const before = await readSide(fs, path, now);
  const after = sideOf(image);
  // Only the permission bits change: the content stays.
  if (contentAt === path && after !== null && before !== null)
    return historyChange(at, before, { ...before, mode: after.mode });
  return historyChange(at, before, after);
}

/** Returns a path that is put back as a reviewer sees it: by a diff, or by a line in words where there is none. */
export function putBackPath(change: HistoryChange): ActedPath {
  const { path, kind, type, from, hash, mode } = change;
  return {
    change: withoutUndefined({ path, contents: contentsOf(change), kind, type, from, hash, mode }),
    text: textOfChange(change),
  };
}

function textOfChange({ kind, type, display, from, diff, mode }: HistoryChange): string {
  const name = escapeControls(display);
  const bits = mode === undefined ? "" : ` with mode ${mode}`;
  if (kind === "move") return `moves ${escapeControls(from ?? "")} back to ${name}${bits}\n${diff}`;
  if (diff !== "") return mode === undefined ? diff : `${diff}sets the mode of ${name} to ${mode}\n`;
  const noun = type === "dir" ? "directory " : type === "symlink" ? "link " : "";
  return `${kind === "delete" ? "removes" : "puts back"} ${noun}${name}${bits}\n`;
}
