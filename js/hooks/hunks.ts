/** The hunks of a change, of which a reviewer may take some. */
import { HUNK_NUMBERS } from "../diff/parse.ts";

/** Takes some hunks of a change, in their order. */
export interface Hunks {
  /** The lines of each hunk, its header first. */
  readonly shown: readonly (readonly string[])[];
  /** Returns the content with the hunks that are taken. */
  take(taken: readonly boolean[]): string;
}

/** Returns the hunks of an edit; undefined where there is one alone, or the diff does not tell the contents. */
export function hunksOf({
  fileDiff,
  originalContent,
  newContent,
}: {
  readonly fileDiff: string;
  readonly originalContent: string | null;
  readonly newContent: string | null;
}): Hunks | undefined {
  if (originalContent === null || newContent === null) return undefined;
  const [before, after] = [linesOf(originalContent), linesOf(newContent)];
  const hunks: { readonly old: LineSpan; readonly new: LineSpan; readonly shown: string[] }[] = [];
  let left = 0;
  for (const line of fileDiff.replace(/\n$/u, "").split("\n")) {
    const header = left > 0 ? null : HUNK_NUMBERS.exec(line);
    if (header !== null) {
      const [, oldStart = "", oldCount = "1", newStart = "", newCount = "1"] = header;
      hunks.push({ old: lineSpanOf(oldStart, oldCount), new: lineSpanOf(newStart, newCount), shown: [line] });
      left = Number(oldCount) + Number(newCount);
      continue;
    }
    hunks.at(-1)?.shown.push(line);
    if (!line.startsWith("\\")) left -= /^[+-]/u.test(line) ? 1 : 2;
  }
  if (hunks.length < 2) return undefined;
  const take = (taken: readonly boolean[]): string => {
    const lines: string[] = [];
    let at = 0;
    for (const [index, hunk] of hunks.entries()) {
      const [from, span] = taken[index] === true ? [after, hunk.new] : [before, hunk.old];
      lines.push(...before.slice(at, hunk.old.start), ...from.slice(span.start, span.end));
      at = hunk.old.end;
    }
    return [...lines, ...before.slice(at)].join("");
  };
  const all = (taken: boolean): string => take(hunks.map(() => taken));
  // The diff of another notion of lines, or one that leaves something out.
  if (all(false) !== originalContent || all(true) !== newContent) return undefined;
  return { shown: hunks.map(({ shown }) => shown), take };
}

interface LineSpan {
  readonly start: number;
  readonly end: number;
}

/** The lines of one side of a hunk, from 0; the header of an empty side names the line before it. */
function lineSpanOf(line: string, count: string): LineSpan {
  const start = Number(line) - (Number(count) === 0 ? 0 : 1);
  return { start, end: start + Number(count) };
}

/** The lines of a text with their ends. */
const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/gu) ?? [];
