/** Classifies the lines of a unified diff, and marks the changed words of changed lines. */
import { diffWordsWithSpace } from "./changes.ts";
import { HUNK_NUMBERS } from "./parse.ts";

/** One line of a diff, or of a text around it. */
export interface DiffLine {
  readonly text: string;
  /** `file`: a header outside hunks; `other`: a line that belongs to no diff. */
  readonly kind: "file" | "hunk" | "added" | "removed" | "kept" | "note" | "other";
  /** The line in parts, where a line with most of its words took its place or had it. */
  readonly parts?: readonly LinePart[];
}

/** A part of a changed line. */
interface LinePart {
  readonly text: string;
  readonly changed: boolean;
}

/** Longer lines are not compared by words. */
const MAX_LINE_LENGTH = 1000;
/** Further pairs of lines are not compared by words. */
const MAX_PAIRS = 1000;
/** Lines with a smaller share in common are different lines; their words are not compared. */
const MIN_COMMON = 0.4;

/** Returns the lines of a text that contains unified diffs. */
export function diffLinesOf(lines: readonly string[]): readonly DiffLine[] {
  let [removed, added] = [0, 0];
  const known = lines.map((text): DiffLine => {
    // The counts of a hunk tell its lines: a removed line may read like a header.
    if (removed > 0 || added > 0) {
      if (text.startsWith("+")) added -= 1;
      else if (text.startsWith("-")) removed -= 1;
      else if (!text.startsWith("\\")) {
        removed -= 1;
        added -= 1;
      }
      return { text, kind: KINDS[text[0] ?? " "] ?? "kept" };
    }
    const counts = HUNK_NUMBERS.exec(text);
    if (counts !== null) {
      [removed, added] = [Number(counts[2] ?? 1), Number(counts[4] ?? 1)];
      return { text, kind: "hunk" };
    }
    if (text.startsWith("\\")) return { text, kind: "note" };
    return { text, kind: /^(?:---|\+\+\+|diff) /u.test(text) ? "file" : "other" };
  });
  return withParts(known);
}

const KINDS: Readonly<Record<string, DiffLine["kind"]>> = { "+": "added", "-": "removed", "\\": "note" };

/** Adds the parts of lines that were changed one by one: as many removed as added after them. */
function withParts(lines: readonly DiffLine[]): readonly DiffLine[] {
  const all = [...lines];
  let pairs = 0;
  for (let at = 0; at < all.length && pairs < MAX_PAIRS; ) {
    const removed = runFrom(lines, at, "removed");
    const added = runFrom(lines, at + removed, "added");
    for (let index = 0; removed === added && index < removed && pairs < MAX_PAIRS; index++) {
      const [from, to] = [at + index, at + removed + index];
      const parts = changedParts((lines[from] as DiffLine).text, (lines[to] as DiffLine).text);
      pairs += 1;
      if (parts === undefined) continue;
      all[from] = { ...(lines[from] as DiffLine), parts: parts[0] };
      all[to] = { ...(lines[to] as DiffLine), parts: parts[1] };
    }
    at += Math.max(1, removed + added);
  }
  return all;
}

function runFrom(lines: readonly DiffLine[], start: number, kind: DiffLine["kind"]): number {
  let end = start;
  while (lines[end]?.kind === kind) end += 1;
  return end - start;
}

/** Returns the parts of two lines, each with its sign; undefined where they have too little in common. */
function changedParts(
  before: string,
  after: string,
): readonly [readonly LinePart[], readonly LinePart[]] | undefined {
  if (Math.max(before.length, after.length) > MAX_LINE_LENGTH) return undefined;
  const found = diffWordsWithSpace(before.slice(1), after.slice(1));
  const common = found.reduce((sum, { value, added, removed }) => {
    return added || removed ? sum : sum + value.trim().length;
  }, 0);
  if (common === 0 || common < MIN_COMMON * (Math.max(before.length, after.length) - 1)) return undefined;
  const side = (sign: string, other: "added" | "removed"): readonly LinePart[] => [
    { text: sign, changed: false },
    ...found
      .filter((part) => !part[other])
      .map(({ value, added, removed }) => {
        return { text: value, changed: added || removed };
      }),
  ];
  return [side("-", "added"), side("+", "removed")];
}
