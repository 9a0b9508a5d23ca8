/** The rows of a diff, from the packed hunks of the server. All rows are equally high, so only visible ones are drawn. */
import type { ChangeRows, ChangeSummary } from "../../protocol.ts";

/** One row of a diff. */
export type DiffRow =
  /** The head of a change. `index` is its number among the marked places if it has no hunks, `key` its number. */
  | {
      readonly kind: "file";
      readonly change: ChangeSummary;
      readonly number: number;
      readonly key: string;
      readonly index: number | undefined;
    }
  /** The head of a hunk. `key` is that of its choice, `index` its number among the marked places of the question. */
  | {
      readonly kind: "hunk";
      readonly text: string;
      readonly key: string;
      /** `CHANGE:HUNK`. */
      readonly hunkKey: string;
      readonly index: number;
      readonly isWhole: boolean;
    }
  /** A line. One that is very long takes several rows; all but the first are `isRest`, without a number. */
  | {
      readonly kind: "added" | "removed" | "same";
      readonly text: string;
      readonly old: number | undefined;
      readonly new: number | undefined;
      readonly isRest: boolean;
      readonly key: string;
      /** The number of its hunk among the marked places of the question. */
      readonly index: number;
      /** Its number in the hunk, from 0. */
      readonly line: number;
    }
  /** A row that is no line: an argument, or bytes. */
  | { readonly kind: "detail"; readonly text: string };

/** The rows of a question. */
export interface DiffRows {
  readonly rows: readonly DiffRow[];
  /** The numbers of the rows that can be marked: the heads of hunks, and of changes without any. */
  readonly hunkRows: readonly number[];
  /** True when every line of a file ends with CR LF. The CR is then not shown in each line. */
  readonly hasCrlf: boolean;
}

/** The number of characters that one row shows. */
export const MAX_ROW_CHARS = 500;

const KIND_BY_MARK: Readonly<Record<string, "added" | "removed" | "same">> = {
  "+": "added",
  "-": "removed",
  " ": "same",
};

/** Returns the rows of the pages of a question. Nothing of a line is left out. */
export function diffRows(pages: readonly ChangeRows[]): DiffRows {
  const rows: DiffRow[] = [];
  const hunkRows: number[] = [];
  const hasCrlf = endsAllInCr(pages);
  let number = -1;
  for (const { change, from, hunks, details } of pages) {
    if (from === 0) {
      number += 1;
      const isEmpty = hunks.length === 0;
      if (isEmpty) hunkRows.push(rows.length);
      const index = isEmpty ? hunkRows.length - 1 : undefined;
      rows.push({ kind: "file", change, number, key: `${number}`, index });
      for (const text of details) for (const part of partsOf(text)) rows.push({ kind: "detail", text: part });
    }
    for (const [at, hunk] of hunks.entries()) {
      const { oldStart, oldLines, newStart, newLines, lines } = hunk;
      const isWhole = change.whole;
      const hunkKey = `${number}:${from + at}`;
      const key = isWhole ? `${number}` : hunkKey;
      hunkRows.push(rows.length);
      const index = hunkRows.length - 1;
      const text = `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`;
      rows.push({ kind: "hunk", text, key, hunkKey, index, isWhole });
      pushLines(rows, lines, { old: oldStart, new: newStart, key, index, hasCrlf });
    }
  }
  return { rows, hunkRows, hasCrlf };
}

/** Where a hunk begins, and how its lines are shown. */
interface HunkStart {
  readonly old: number;
  readonly new: number;
  readonly key: string;
  readonly index: number;
  readonly hasCrlf: boolean;
}

/** Adds the rows of the lines of one hunk. */
function pushLines(rows: DiffRow[], lines: string, { old, new: now, key, index, hasCrlf }: HunkStart): void {
  let [before, after, line] = [old, now, -1];
  for (let from = 0; from <= lines.length; ) {
    const found = lines.indexOf("\n", from);
    const written = lines.slice(from, found < 0 ? undefined : found);
    const kind = KIND_BY_MARK[lines[from] ?? " "];
    from += written.length + 1;
    if (kind === undefined) {
      rows.push({ kind: "detail", text: written });
      continue;
    }
    line += 1;
    const isCr = hasCrlf && written.length > 1 && written.endsWith("\r");
    const text = written.slice(1, isCr ? -1 : undefined);
    const at = {
      old: kind === "added" ? undefined : before++,
      new: kind === "removed" ? undefined : after++,
    };
    const [first = "", ...rest] = text.length <= MAX_ROW_CHARS ? [text] : partsOf(text);
    rows.push({ kind, text: first, ...at, isRest: false, key, index, line });
    for (const part of rest)
      rows.push({ kind, text: part, old: undefined, new: undefined, isRest: true, key, index, line });
  }
}

/** Returns the parts of a text that fit in rows. A pair of surrogates is not divided. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  for (let from = 0; from < text.length || parts.length === 0; ) {
    let end = Math.min(from + MAX_ROW_CHARS, text.length);
    if (end < text.length && (text.codePointAt(end - 1) ?? 0) > 0xffff) end += 1;
    parts.push(text.slice(from, end));
    from = end;
  }
  return parts;
}

/** Returns true when there are lines, and all of them end with a CR. */
function endsAllInCr(pages: readonly ChangeRows[]): boolean {
  let count = 0;
  for (const { hunks } of pages) {
    for (const { lines } of hunks) {
      for (const line of lines.split("\n")) {
        if (line.startsWith("\\")) continue;
        if (!line.endsWith("\r")) return false;
        count += 1;
      }
    }
  }
  return count > 0;
}
