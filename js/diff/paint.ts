/** Paints the lines of a diff for a terminal: one view for questions, results and the history. */
import { type DiffLine, classifyDiffLines } from "./diff-lines.ts";

/** The kinds of texts in a diff. `addedWord` and `removedWord`: the words by which a replaced line differs. */
export type DiffStyle = "file" | "hunk" | "added" | "addedWord" | "removed" | "removedWord" | "note";

/** Returns a text in a style; the style is undefined for text that stands unchanged, or around a diff. */
export type PaintDiffText = (style: DiffStyle | undefined, text: string) => string;

/** Returns the painted lines of a text that may contain unified diffs. */
export function paintDiff(lines: readonly string[], paint: PaintDiffText): readonly string[] {
  return classifyDiffLines(lines).map(({ text, kind, parts }) => {
    const [line, word] = STYLES_BY_LINE_KIND[kind] ?? [];
    if (parts === undefined) return paint(line, text);
    return parts.map((one) => paint(one.changed ? word : line, one.text)).join("");
  });
}

/** The styles of the kinds of lines, and of the changed words in them. */
const STYLES_BY_LINE_KIND: Readonly<
  Partial<Record<DiffLine["kind"], readonly [line: DiffStyle, word: DiffStyle]>>
> = {
  file: ["file", "file"],
  hunk: ["hunk", "hunk"],
  added: ["added", "addedWord"],
  removed: ["removed", "removedWord"],
  note: ["note", "note"],
};
