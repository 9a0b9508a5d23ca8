/** A diff as a small, self-contained HTML table; every byte of content is escaped. */
import type { HunkData } from "./diff.ts";
import { escapeControls } from "./text.ts";

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

/** The diff as HTML: one row a line, with the line numbers of both sides. */
export function diffHtml(oldName: string, newName: string, hunks: readonly HunkData[]): string {
  const rows: string[] = [];
  for (const hunk of hunks) {
    let [before, after] = [hunk.old_start, hunk.new_start];
    rows.push(
      `<tr class="hunk"><td colspan="3">@@ -${hunk.old_start},${hunk.old_lines} +${hunk.new_start},${hunk.new_lines} @@</td></tr>`,
    );
    for (const line of hunk.lines) {
      const mark = line[0] ?? " ";
      const kind = mark === "+" ? "added" : mark === "-" ? "removed" : mark === "\\" ? "note" : "same";
      const left = kind === "removed" || kind === "same" ? String(before++) : "";
      const right = kind === "added" || kind === "same" ? String(after++) : "";
      rows.push(
        `<tr class="${kind}"><td>${left}</td><td>${right}</td><td><code>${escapeHtml(line)}</code></td></tr>`,
      );
    }
  }
  const [a, b] = [escapeHtml(escapeControls(oldName)), escapeHtml(escapeControls(newName))];
  return `<table class="diff"><caption>${a} → ${b}</caption>\n${rows.join("\n")}\n</table>`;
}
