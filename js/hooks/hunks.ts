/** Splits a change into its hunks, of which a reviewer may accept some. */
import { HUNK_NUMBERS } from "../diff/parse.ts";

/** The hunks of a change, in their order. */
export interface SelectableHunks {
  /** The lines of each hunk, beginning with its header, for display. */
  readonly shown: readonly (readonly string[])[];
  /** Returns the content after the accepted hunks only. `taken` has one value for each hunk. */
  take(taken: readonly boolean[]): string;
}

/**
 * Returns the hunks of a change of text; undefined when there is only one, or when the diff does not contain the
 * whole change.
 */
export function selectableHunksOf({
  fileDiff,
  originalContent,
  newContent,
}: {
  readonly fileDiff: string;
  readonly originalContent: string | null;
  readonly newContent: string | null;
}): SelectableHunks | undefined {
  if (originalContent === null || newContent === null) return undefined;
  const [before, after] = [linesWithEnds(originalContent), linesWithEnds(newContent)];
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
  // Without this check a diff that omits lines, or splits lines otherwise, would give a wrong content.
  if (all(false) !== originalContent || all(true) !== newContent) return undefined;
  return { shown: hunks.map(({ shown }) => shown), take };
}

/** A range of lines of one content, counted from 0; `end` is excluded. */
interface LineSpan {
  readonly start: number;
  readonly end: number;
}

/** Returns the lines of one side of a hunk. In a header, an empty side names the line before it. */
function lineSpanOf(line: string, count: string): LineSpan {
  const start = Number(line) - (Number(count) === 0 ? 0 : 1);
  return { start, end: start + Number(count) };
}

/** Returns the lines of a text, each with its line end. */
const linesWithEnds = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/gu) ?? [];
