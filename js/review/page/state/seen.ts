/** Finds the hunks of a change that was planned again which the person has not seen before. */
import type { ChangeRows } from "../../protocol.ts";

/** The difference of a hunk from the seen ones. `new`: it was not there. `around`: only the lines around it differ. */
export type HunkNews = "new" | "around";

/** The differences of a change from what was seen before. */
export interface Comparison {
  /** The hunks that differ, by their keys `CHANGE:HUNK`. */
  readonly news: ReadonlyMap<string, HunkNews>;
  /** The number of hunks that were seen and are not there any more. */
  readonly gone: number;
}

interface SeenHunk {
  /** The hunk with the lines around the change. */
  readonly text: string;
  /** Its removed and added lines. */
  readonly changed: string;
}

/** Compares the hunks of a change with those that were seen. Their positions in the file do not matter. */
export function compareWithSeen(pages: readonly ChangeRows[], seen: readonly ChangeRows[]): Comparison {
  const left = new Map<string, SeenHunk[]>();
  for (const { hunk } of hunksOf(seen)) left.set(hunk.changed, [...(left.get(hunk.changed) ?? []), hunk]);
  const news = new Map<string, HunkNews>();
  for (const { key, hunk } of hunksOf(pages)) {
    const same = left.get(hunk.changed) ?? [];
    // Of several equal hunks, one with the same lines around it is taken first.
    const at = same.findIndex(({ text }) => text === hunk.text);
    if (same.length === 0) news.set(key, "new");
    else if (at < 0) news.set(key, "around");
    same.splice(Math.max(at, 0), 1);
  }
  return { news, gone: [...left.values()].reduce((sum, hunks) => sum + hunks.length, 0) };
}

/** Returns the hunks of all changes, with the path before the text. */
function hunksOf(pages: readonly ChangeRows[]): readonly { readonly key: string; readonly hunk: SeenHunk }[] {
  let number = -1;
  return pages.flatMap(({ change: { path }, from, hunks }) => {
    if (from === 0) number += 1;
    return hunks.map(({ lines, tag }, at) => ({
      key: `${number}:${from + at}`,
      hunk: {
        // Secrets may be hidden in one of the texts only; the tag tells lines with others apart.
        text: `${path}\n${tag ?? lines}`,
        changed: `${path}\n${
          tag ??
          lines
            .split("\n")
            .filter((line) => line[0] === "+" || line[0] === "-")
            .join("\n")
        }`,
      },
    }));
  });
}
