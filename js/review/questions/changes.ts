/** The changes of a question as the page shows them: one for each path, with the hunks of its file. */
import {
  changedBytesOf,
  type ConfirmedChange,
  type ConfirmedPart,
  type HunkRow,
  partsProblem,
} from "../../hooks/changed-files.ts";
import { hideSecrets } from "../secrets/secret-text.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { ConfirmedContent } from "../../hooks/confirm.ts";
import type { PlainDetails } from "../../hooks/notebook.ts";
import { binaryLines, shownImagesOf } from "./binary.ts";
import { onlyChanged } from "./only-changed.ts";
import { questionLines } from "../../hooks/question.ts";
import type {
  ChangeContent,
  ChangeRows,
  ChangeSummary,
  ChosenHunks,
  EditedContent,
  PackedHunk,
} from "../protocol.ts";

/** One path of a question, with everything that is shown about it. */
export interface ShownChange {
  readonly summary: ChangeSummary;
  readonly hunks: readonly PackedHunk[];
  /** Lines about what has no hunks. */
  readonly details: readonly string[];
}

/** The number of characters after which a page of hunks ends. */
export const MAX_PAGE_CHARS: number = 4 * 1024 * 1024;

/** Returns the changes of a question, in its order. */
export function shownChangesOf(details: PlainDetails): readonly ShownChange[] {
  // The lines that name the paths are left out: each change has a head of its own.
  const lines = questionLines({ ...details, changes: [] });
  const other = lines.filter(({ part }) => part === "detail").map(({ text }) => text);
  const { changes, path, title } = details;
  if (changes.length === 0) {
    // A question of another package has arguments instead of changes.
    const summary = {
      path: path === "" ? hideSecrets(title).text : path,
      kind: "edit",
      type: "other",
      added: 0,
      removed: 0,
      hunks: 0,
      whole: true,
      hasText: false,
    };
    // A title without its secrets does not say what is asked; they can be shown in a detail.
    const whole = hideSecrets(title).hidden > 0 ? [title] : [];
    return [{ summary: summary as ChangeSummary, hunks: [], details: [...whole, ...other] }];
  }
  return changes.map((change, index) =>
    shownChange(change, [
      ...binaryLines(change.binary, changedBytesOf(change)),
      ...(index === 0 ? other : []),
    ]),
  );
}

/** Returns a change as it is shown, with lines about what has no hunks. */
export function shownChange(change: ConfirmedChange, details: readonly string[]): ShownChange {
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
  const counts = { added, removed, hunks: shown.length, whole: change.whole, hasText: change.after !== null };
  const only = onlyChanged(change, changedBytesOf(change));
  const images = shownImagesOf(change);
  return {
    summary: {
      path,
      kind,
      type,
      ...(from === undefined ? {} : { from }),
      ...(mode === undefined ? {} : { mode }),
      ...counts,
      ...(only === undefined ? {} : { only }),
      ...(images.length === 0 ? {} : { images }),
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

/** Returns the chosen parts of changes as an answer or an undo takes them; undefined for a choice that does not fit. */
export function confirmedParts(
  { changes }: Pick<PlainDetails, "changes">,
  chosen: readonly ChosenHunks[],
): readonly ConfirmedPart[] | undefined {
  const parts: ConfirmedPart[] = [];
  for (const { change: number, hunks: given, lines = [] } of chosen) {
    const change = changes[number];
    if (change === undefined) return undefined;
    const { path, whole } = change;
    // A change without text has one hunk that is not shown.
    const hunks = whole ? change.hunks.map((_, hunk) => hunk) : given;
    if (given.some((hunk) => !hunks.includes(hunk))) return undefined;
    if (hunks.length + lines.length === 0) return undefined;
    parts.push({ path, hunks, ...(lines.length === 0 ? {} : { lines }) });
  }
  return partsProblem(changes, parts) === undefined ? parts : undefined;
}

/** The maximum length of a text that is edited at the page, in UTF-16 units; an answer holds twice as many. */
const MAX_EDITED_CHARS = 256 * 1024;

/**
 * Returns the text of a change, to be edited; undefined where it writes none.
 * @throws FilewrightError INVALID_ARGUMENT for a text that is too long
 */
export function contentOf({ changes }: PlainDetails, number: number): ChangeContent | undefined {
  const { before, after } = changes[number] ?? { before: null, after: null };
  if (after === null) return undefined;
  if (Math.max(after.length, before?.length ?? 0) > MAX_EDITED_CHARS)
    throw new FilewrightError(
      "INVALID_ARGUMENT",
      `it has more than ${MAX_EDITED_CHARS} characters, which this page does not edit`,
    );
  return { before: before ?? "", text: after };
}

/** Returns the contents that a person has written; undefined for those that the question does not offer. */
export function editedContents(
  { changes, scopes }: PlainDetails,
  edits: readonly EditedContent[],
): readonly ConfirmedContent[] | undefined {
  if (edits.length === 0 || !scopes.some(({ outcome }) => outcome === "modify_with_editor")) return undefined;
  const contents: ConfirmedContent[] = [];
  for (const { change, text } of edits) {
    const { path, after } = changes[change] ?? { path: "", after: null };
    if (after === null || contents.some((one) => one.path === path)) return undefined;
    contents.push({ path, content: text });
  }
  return contents;
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
