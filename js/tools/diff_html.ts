/** A diff as a small, self-contained HTML table; every byte of content is escaped. */
import type { HunkData } from "./diff.ts";
import { escapeControls, utf8Length } from "./text.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as it stands in HTML. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/gu, (c) => ENTITIES[c] as string);
}

/**
 * The diff as HTML: one row a line, with the line numbers of both sides. It ends where it has `maxBytes`, with a
 * line that says so: nobody is shown more, and a table takes many times as long as its diff.
 */
export function diffHtml(
  oldName: string,
  newName: string,
  hunks: readonly HunkData[],
  { maxBytes, cut }: { readonly maxBytes: number; readonly cut: boolean },
): string {
  const [a, b] = [escapeHtml(escapeControls(oldName)), escapeHtml(escapeControls(newName))];
  const head = `<table class="diff"><caption>${a} → ${b}</caption>\n`;
  const { rows, whole } = rowsOf(hunks, maxBytes - utf8Length(head) - FOOT_BYTES);
  const note = cut || !whole ? `\n<p class="note">${LEFT_OUT}</p>` : "";
  return `${head}${rows.join("\n")}\n</table>${note}`;
}

/** What is said where a diff has no room. */
export const LEFT_OUT = "[the rest of the diff is left out]";

/** What the end takes at most. */
const FOOT_BYTES = 200;

function rowsOf(
  hunks: readonly HunkData[],
  maxBytes: number,
): { readonly rows: string[]; readonly whole: boolean } {
  const rows: string[] = [];
  let left = maxBytes;
  for (const hunk of hunks) {
    let [before, after] = [hunk.old_start, hunk.new_start];
    rows.push(
      `<tr class="hunk"><td colspan="3">@@ -${hunk.old_start},${hunk.old_lines} +${hunk.new_start},${hunk.new_lines} @@</td></tr>`,
    );
    for (const line of hunk.lines) {
      const mark = line[0] ?? " ";
      const kind = mark === "+" ? "added" : mark === "-" ? "removed" : mark === "\\" ? "note" : "same";
      const old = kind === "removed" || kind === "same" ? String(before++) : "";
      const now = kind === "added" || kind === "same" ? String(after++) : "";
      const row = `<tr class="${kind}"><td>${old}</td><td>${now}</td><td><code>${escapeHtml(line)}</code></td></tr>`;
      left -= utf8Length(row) + 1;
      if (left < 0) return { rows, whole: false };
      rows.push(row);
    }
  }
  return { rows, whole: true };
}
