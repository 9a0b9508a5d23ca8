/** Formats the results of a search for a person: grouped by file, with highlighted matches. */
import { escapeControls } from "../../engine/escape.ts";
import type { GrepData } from "../../tools/grep/types.ts";
import { rowsOf } from "../../tools/grep/text.ts";
import { type Pattern, type Range, rangesOf } from "./highlight.ts";
import { styled } from "./style.ts";
import { harmless } from "./text.ts";

/** Returns the lines of the results. `heading`: a file's name is printed once, above its lines. */
export function grepLines(data: GrepData, wanted: Pattern, heading: boolean): readonly string[] {
  if (data.files !== undefined) return data.files.map((path) => styled("path", escapeControls(path)));
  if (data.counts !== undefined)
    return data.counts.map(({ path, count }) => `${styled("path", escapeControls(path))}:${count}`);
  const matches = data.matches ?? [];
  const ranges = rangesOf(matches, wanted);
  const lines: string[] = [];
  let file: string | undefined;
  let last = 0;
  for (const [index, rows] of rowsOf(matches).entries()) {
    let offset = 0;
    for (const { path, line, text, hit } of rows) {
      const name = styled("path", escapeControls(path));
      if (path !== file) {
        if (heading) lines.push(...(file === undefined ? [name] : ["", name]));
        file = path;
      } else if (hasContext(data) && line !== last + 1) lines.push(styled("faint", "--"));
      last = line;
      const mark = hit ? ":" : "-";
      const shown = hit ? highlighted(text, offset, ranges[index] ?? []) : harmless(text);
      if (hit) offset += text.length + 1;
      lines.push(`${heading ? "" : `${name}${mark}`}${styled("number", String(line))}${mark}${shown}`);
    }
  }
  return lines;
}

/** Returns true when context lines were requested: then gaps are marked. */
function hasContext({ matches = [] }: GrepData): boolean {
  return matches.some(({ before, after }) => before !== undefined || after !== undefined);
}

/** Returns a line with highlighted matches. `offset` is its start in the lines of its result. */
function highlighted(text: string, offset: number, ranges: readonly Range[]): string {
  let shown = "";
  let at = 0;
  for (const [from, to] of ranges) {
    const [begin, end] = [Math.max(from - offset, at), Math.min(to - offset, text.length)];
    if (end <= begin) continue;
    shown += harmless(text.slice(at, begin)) + styled("match", harmless(text.slice(begin, end)));
    at = end;
  }
  return shown + harmless(text.slice(at));
}
