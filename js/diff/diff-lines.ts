/** Finds out what each line of a unified diff is, and which words of a changed line differ. */
import { diffWordsWithSpace } from "./changes.ts";
import { HUNK_NUMBERS } from "./parse.ts";

/** One line of a diff, or of text around it. */
export interface DiffLine {
  readonly text: string;
  /**
   * `file`: a header before the hunks; `note`: a line that begins with a backslash; `other`: a line that
   * belongs to no diff.
   */
  readonly kind: "file" | "hunk" | "added" | "removed" | "kept" | "note" | "other";
  /**
   * The line in parts, of which some differ. Present when the line was replaced by one with most of the same
   * words, or replaces one.
   */
  readonly parts?: readonly LinePart[];
}

/** A part of a changed line. */
interface LinePart {
  readonly text: string;
  readonly changed: boolean;
}

/** The length in UTF-16 units above which a line is not compared by words. */
const MAX_COMPARED_LINE_LENGTH = 1000;
/** The maximum number of pairs of lines that are compared by words. */
const MAX_COMPARED_PAIRS = 1000;
/**
 * The minimum share of a pair's text that both lines have. Below it they are different lines, whose words are
 * not marked.
 */
const MIN_COMMON_SHARE = 0.4;

/** Returns the lines of a text that may contain unified diffs. */
export function classifyDiffLines(lines: readonly string[]): readonly DiffLine[] {
  let [removed, added] = [0, 0];
  const known = lines.map((text): DiffLine => {
    // The counts in the hunk's header tell how many lines belong to it, because a removed line may look like
    // a header.
    if (removed > 0 || added > 0) {
      if (text.startsWith("+")) added -= 1;
      else if (text.startsWith("-")) removed -= 1;
      else if (!text.startsWith("\\")) {
        removed -= 1;
        added -= 1;
      }
      return { text, kind: LINE_KIND_BY_MARK[text[0] ?? " "] ?? "kept" };
    }
    const counts = HUNK_NUMBERS.exec(text);
    if (counts !== null) {
      [removed, added] = [Number(counts[2] ?? 1), Number(counts[4] ?? 1)];
      return { text, kind: "hunk" };
    }
    if (text.startsWith("\\")) return { text, kind: "note" };
    return { text, kind: /^(?:---|\+\+\+|diff) /u.test(text) ? "file" : "other" };
  });
  return withChangedParts(known);
}

const LINE_KIND_BY_MARK: Readonly<Record<string, DiffLine["kind"]>> = {
  "+": "added",
  "-": "removed",
  "\\": "note",
};

/** Adds the parts of lines that replace each other: where as many lines are added as were removed before them. */
function withChangedParts(lines: readonly DiffLine[]): readonly DiffLine[] {
  const all = [...lines];
  let pairs = 0;
  for (let at = 0; at < all.length && pairs < MAX_COMPARED_PAIRS; ) {
    const removed = endOfRun(lines, at, "removed");
    const added = endOfRun(lines, at + removed, "added");
    for (let index = 0; removed === added && index < removed && pairs < MAX_COMPARED_PAIRS; index++) {
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

function endOfRun(lines: readonly DiffLine[], start: number, kind: DiffLine["kind"]): number {
  let end = start;
  while (lines[end]?.kind === kind) end += 1;
  return end - start;
}

/** Returns the parts of both lines, with their marks; undefined when the lines have too little text in common. */
function changedParts(
  before: string,
  after: string,
): readonly [readonly LinePart[], readonly LinePart[]] | undefined {
  if (Math.max(before.length, after.length) > MAX_COMPARED_LINE_LENGTH) return undefined;
  const found = diffWordsWithSpace(before.slice(1), after.slice(1));
  const common = found.reduce((sum, { value, added, removed }) => {
    return added || removed ? sum : sum + value.trim().length;
  }, 0);
  if (common === 0 || common < MIN_COMMON_SHARE * (Math.max(before.length, after.length) - 1))
    return undefined;
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
