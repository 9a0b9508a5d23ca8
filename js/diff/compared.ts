/** Matches hunks to a text by the caller's comparison function. */
import type { StructuredPatchHunk } from "./patch.ts";

/** Returns true when a line of the text equals the one of the patch. `lineNumber` is 1-based. */
export type CompareLine = (
  lineNumber: number,
  line: string,
  operation: string,
  patchContent: string,
) => boolean;

/**
 * Returns the hunks with the lines of the text, at the matching positions: the one in the header,
 * shifted as the hunk before, or else the only match after that hunk. Undefined for none or
 * several.
 */
export function asInText(
  source: string,
  hunks: readonly StructuredPatchHunk[],
  isSame: CompareLine,
): StructuredPatchHunk[] | undefined {
  const lines = source.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const found: StructuredPatchHunk[] = [];
  let [done, moved] = [0, 0];
  for (const hunk of hunks) {
    const olds = hunk.lines.filter((line) => line === "" || /^[ -]/u.test(line));
    const fits = (at: number): boolean =>
      at >= done &&
      at + olds.length <= lines.length &&
      olds.every((line, n) => isSame(at + n + 1, lines[at + n] as string, line[0] ?? " ", line.slice(1)));
    const expected = hunk.oldStart - 1 + moved;
    const isThere = fits(expected);
    const places: number[] = isThere ? [expected] : [];
    for (let at = done; !isThere && places.length < 2 && at < lines.length; at++) {
      if (fits(at)) places.push(at);
    }
    const [place] = places;
    if (place === undefined || places.length > 1) return undefined;
    let at = place;
    const own = (line: string): string =>
      line === "" || /^[ -]/u.test(line) ? `${line[0] ?? " "}${lines[at++]}` : line;
    found.push({ ...hunk, oldStart: place + 1, lines: hunk.lines.map(own) });
    moved = place - (hunk.oldStart - 1);
    done = place + olds.length;
  }
  return found;
}
