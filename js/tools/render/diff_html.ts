/** Converts a diff to an HTML table that needs no other file. All content is escaped. */
import { escapeControls } from "../../engine/escape.ts";
import type { HunkData } from "../generated/types.ts";
import { utf8Length } from "../lib/text.ts";

const HTML_ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes the characters that have a meaning in HTML. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/gu, (c) => HTML_ENTITIES[c] as string);
}

/**
 * Returns the diff as an HTML table with one row for each line and the line numbers of both sides. At
 * `maxBytes` the table ends with a row that says so, because a table is many times as long as its diff.
 */
export function renderDiffAsHtml(
  oldName: string,
  newName: string,
  hunks: readonly HunkData[],
  { maxBytes, cut }: { readonly maxBytes: number; readonly cut: boolean },
): string {
  const [a, b] = [escapeHtml(escapeControls(oldName)), escapeHtml(escapeControls(newName))];
  const head = `<table class="diff"><caption>${a} → ${b}</caption>\n`;
  const { rows, whole } = htmlRowsOf(hunks, maxBytes - utf8Length(head) - MAX_FOOTER_BYTES);
  const note = cut || !whole ? `\n<p class="note">${TRUNCATED_DIFF_NOTE}</p>` : "";
  return `${head}${rows.join("\n")}\n</table>${note}`;
}

/** The text of the last row of a truncated table. */
export const TRUNCATED_DIFF_NOTE = "[the rest of the diff is left out]";

/** The maximum size in bytes of what follows the rows of the table. */
const MAX_FOOTER_BYTES = 200;

function htmlRowsOf(
  hunks: readonly HunkData[],
  maxBytes: number,
): { readonly rows: string[]; readonly whole: boolean } {
  const rows: string[] = [];
  let left = maxBytes;
  for (const hunk of hunks) {
    rows.push(
      `<tr class="hunk"><td colspan="3">@@ -${hunk.old_start},${hunk.old_lines} +${hunk.new_start},${hunk.new_lines} @@</td></tr>`,
    );
    for (const row of rowsOfHunk(hunk)) {
      left -= utf8Length(row) + 1;
      if (left < 0) return { rows, whole: false };
      rows.push(row);
    }
  }
  return { rows, whole: true };
}

/** The kinds of the lines of a hunk, by the mark with which they begin; all others are the same on both sides. */
const KIND_BY_MARK: Readonly<Record<string, string>> = { "+": "added", "-": "removed", "\\": "note" };

function* rowsOfHunk({ old_start, new_start, lines }: HunkData): Generator<string> {
  let [before, after] = [old_start, new_start];
  for (const line of lines) {
    const kind = KIND_BY_MARK[line.slice(0, 1)] ?? "same";
    const old = kind === "removed" || kind === "same" ? String(before++) : "";
    const now = kind === "added" || kind === "same" ? String(after++) : "";
    yield `<tr class="${kind}"><td>${old}</td><td>${now}</td><td><code>${escapeHtml(line)}</code></td></tr>`;
  }
}
