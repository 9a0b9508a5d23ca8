/** The changes of a question as the page shows them: one for each path, with the hunks of its file. */
import type { ConfirmedChange, ConfirmedPart, HunkRow } from "../hooks/changed-files.ts";
import type { PlainDetails } from "../hooks/notebook.ts";
import { questionLines } from "../hooks/question.ts";
import type { ChangeRows, ChangeSummary, ChosenHunks, PackedHunk } from "./protocol.ts";

/** One path of a question, with everything that is shown about it. */
export interface ShownChange {
  readonly summary: ChangeSummary;
  readonly hunks: readonly PackedHunk[];
  /** Lines about what has no hunks. */
  readonly details: readonly string[];
}

/** The number of characters after which a page of hunks ends. */
const MAX_PAGE_CHARS = 4 * 1024 * 1024;

/** Returns the changes of a question, in its order. */
export function shownChangesOf(details: PlainDetails): readonly ShownChange[] {
  // The lines that name the paths are left out: each change has a head of its own.
  const lines = questionLines({ ...details, changes: [] });
  const other = lines.filter(({ part }) => part === "detail").map(({ text }) => text);
  const { changes, path, title } = details;
  if (changes.length === 0) {
    // A question of another package has arguments instead of changes.
    const summary = {
      path: path === "" ? title : path,
      kind: "edit",
      type: "other",
      added: 0,
      removed: 0,
      hunks: 0,
    };
    return [{ summary: summary as ChangeSummary, hunks: [], details: other }];
  }
  return changes.map((change, index) => shownChange(change, index === 0 ? other : []));
}

function shownChange(change: ConfirmedChange, details: readonly string[]): ShownChange {
  const { path, kind, type, from, mode } = change;
  let [added, removed] = [0, 0];
  const hunks: PackedHunk[] = [];
  for (const { oldStart, oldLines, newStart, newLines, rows } of change.hunks) {
    for (const row of rows) {
      if (row.kind === "added") added += 1;
      else if (row.kind === "removed") removed += 1;
    }
    hunks.push({ oldStart, oldLines, newStart, newLines, lines: packRows(rows) });
  }
  // Of a change without text the only hunk has no rows, and nothing to show.
  const shown = hunks.filter(({ lines }) => lines !== "");
  const counts = { added, removed, hunks: shown.length };
  return {
    summary: {
      path,
      kind,
      type,
      ...(from === undefined ? {} : { from }),
      ...(mode === undefined ? {} : { mode }),
      ...counts,
    },
    hunks: shown,
    details,
  };
}

const MARK_BY_KIND = { same: " ", removed: "-", added: "+" } as const;

/** Returns the lines of a hunk in one text. A line that ends with CR LF keeps its CR, and one without an end says so. */
function packRows(rows: readonly HunkRow[]): string {
  const lines: string[] = [];
  for (const { kind, text, end } of rows) {
    lines.push(MARK_BY_KIND[kind] + text + (end === "\r\n" ? "\r" : ""));
    if (end === "") lines.push("\\ No newline at end of file");
  }
  return lines.join("\n");
}

/**
 * Returns the chosen hunks of a question as its answer takes them; undefined for a choice that does not fit. Changes
 * that can only be accepted as one, and have no hunks to choose, are accepted.
 */
export function confirmedParts(
  { changes }: PlainDetails,
  shown: readonly ShownChange[],
  chosen: readonly ChosenHunks[],
): readonly ConfirmedPart[] | undefined {
  if (chosen.some(({ change }) => changes[change] === undefined)) return undefined;
  const parts: ConfirmedPart[] = [];
  for (const [index, { path, hunks, whole }] of changes.entries()) {
    const all = hunks.map((_, hunk) => hunk);
    const taken = chosen.filter(({ change }) => change === index).flatMap((one) => one.hunks);
    if (taken.some((hunk) => hunks[hunk] === undefined)) return undefined;
    const isWhole = whole && (taken.length > 0 || shown[index]?.hunks.length === 0);
    if (whole && taken.length > 0 && taken.length < all.length) return undefined;
    if (isWhole) parts.push({ path, hunks: all });
    else if (taken.length > 0) parts.push({ path, hunks: taken });
  }
  return parts;
}

/** Returns a page of the rows of a change, from the hunk with the number `from` on. */
export function rowsOfChange(change: ShownChange, digest: string, from: number): ChangeRows {
  let end = from;
  for (let chars = 0; end < change.hunks.length && (end === from || chars < MAX_PAGE_CHARS); end++)
    chars += change.hunks[end]?.lines.length ?? 0;
  return {
    digest,
    change: change.summary,
    from,
    hunks: change.hunks.slice(from, end),
    ...(end < change.hunks.length ? { next: end } : {}),
    details: from === 0 ? change.details : [],
  };
}
