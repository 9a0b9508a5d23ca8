/** Reads a unified diff for drawing. It only draws: a patch that is applied is parsed by the engine. */
import type { ChangeRows, ChangeSummary, PackedHunk } from "../../protocol.ts";

const HUNK_HEAD = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/u;

/** The name of a file that does not exist. */
const NO_FILE = "/dev/null";

/** Returns the rows of each file of a patch. Lines that belong to no hunk are left out. */
export function rowsOfPatch(patch: string): readonly ChangeRows[] {
  const lines = patch.replace(/\n$/u, "").split("\n");
  const files: ChangeRows[] = [];
  for (let at = 0; at < lines.length; at++) {
    const [before, after] = [nameOf(lines[at], "--- "), nameOf(lines[at + 1], "+++ ")];
    if (before === undefined || after === undefined) continue;
    const hunks: PackedHunk[] = [];
    at += 2;
    for (let head = HUNK_HEAD.exec(lines[at] ?? ""); head !== null; head = HUNK_HEAD.exec(lines[at] ?? "")) {
      const [, oldStart, oldLines = "1", newStart, newLines = "1"] = head;
      const end = endOfHunk(lines, at + 1, Number(oldLines), Number(newLines));
      hunks.push({
        oldStart: Number(oldStart),
        newStart: Number(newStart),
        oldLines: Number(oldLines),
        newLines: Number(newLines),
        lines: lines.slice(at + 1, end).join("\n"),
      });
      at = end;
    }
    files.push({ digest: "", change: summaryOf(before, after, hunks), from: 0, hunks, details: [] });
    at -= 1;
  }
  return files;
}

/** Returns the file name of a line `--- name` or `+++ name`, without its time and the prefix that git writes. */
function nameOf(line: string | undefined, mark: string): string | undefined {
  if (line?.startsWith(mark) !== true) return undefined;
  const [name = ""] = line.slice(mark.length).replace(/\r$/u, "").split("\t");
  return name === NO_FILE ? name : name.replace(/^[ab]\//u, "");
}

/** Returns the number of the line after a hunk, by the numbers of lines that its head names. */
function endOfHunk(lines: readonly string[], start: number, oldLines: number, newLines: number): number {
  let [before, after, at] = [oldLines, newLines, start];
  for (; at < lines.length && (before > 0 || after > 0); at++) {
    const mark = lines[at]?.[0] ?? " ";
    if (mark === "\\") continue;
    if (mark !== "+") before -= 1;
    if (mark !== "-") after -= 1;
  }
  return lines[at]?.startsWith("\\") === true ? at + 1 : at;
}

function summaryOf(before: string, after: string, hunks: readonly PackedHunk[]): ChangeSummary {
  let [added, removed] = [0, 0];
  for (const { lines } of hunks) {
    for (const line of lines.split("\n")) {
      if (line.startsWith("+")) added += 1;
      else if (line.startsWith("-")) removed += 1;
    }
  }
  const counts = { added, removed, hunks: hunks.length, whole: false };
  if (before === NO_FILE) return { path: after, kind: "create", type: "file", ...counts };
  if (after === NO_FILE) return { path: before, kind: "delete", type: "file", ...counts };
  if (before === after) return { path: after, kind: "edit", type: "file", ...counts };
  return { path: after, kind: "move", from: before, type: "file", ...counts };
}
