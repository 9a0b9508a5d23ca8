/** The changes of a question as the page shows them: one for each path, with the hunks of its file. */
import { parsePatch } from "../diff/parse.ts";
import type { StructuredPatch } from "../diff/patch.ts";
import type { PlainDetails } from "../hooks/notebook.ts";
import { questionLines } from "../hooks/question.ts";
import type { ChangeRows, ChangeSummary, PackedHunk } from "./protocol.ts";

/** One path of a question, with everything that is shown about it. */
export interface ShownChange {
  readonly summary: ChangeSummary;
  readonly hunks: readonly PackedHunk[];
  /** Lines about what has no hunks. */
  readonly details: readonly string[];
}

/** The number of characters after which a page of hunks ends. */
const MAX_PAGE_CHARS = 4 * 1024 * 1024;

/** Returns the changes of a question, in its order. Each line of its diff is in exactly one of them. */
export function shownChangesOf(details: PlainDetails): readonly ShownChange[] {
  // The lines that name the paths are left out: each change has a head of its own.
  const lines = questionLines({ ...details, changes: [] });
  const other = lines.filter(({ part }) => part === "detail").map(({ text }) => text);
  // Where the question shows arguments or bytes, its diff is not shown at all.
  const sections = lines.some(({ part }) => part === "diff") ? parsePatch(details.fileDiff) : [];
  const left = new Set(sections);
  const files = details.changes.length === 0 ? [fileOfQuestion(details)] : details.changes;
  const shown = files.map((change) => {
    const section = files.length === 1 ? sections[0] : [...left].find((one) => isSectionOf(one, change.path));
    if (section !== undefined) left.delete(section);
    return shownChange(change, section);
  });
  // A section that belongs to no path is shown all the same, under the name that it has.
  for (const section of left) {
    const path = section.newFileName ?? section.oldFileName ?? "";
    shown.push(shownChange({ path, kind: "edit", type: "file" }, section));
  }
  return shown.map((one, index) => (index === 0 ? { ...one, details: other } : one));
}

type ChangedPath = Pick<ChangeSummary, "path" | "kind" | "type" | "from" | "mode">;

function fileOfQuestion({ path, originalContent }: PlainDetails): ChangedPath {
  return { path, kind: originalContent === null ? "create" : "edit", type: "file" };
}

/** Returns true when a section of a diff is about a path. Its names are relative, and may begin with `a/` or `b/`. */
function isSectionOf({ oldFileName, newFileName }: StructuredPatch, path: string): boolean {
  return [newFileName, oldFileName].some((name) => {
    if (name === undefined || name === "/dev/null") return false;
    return [name, name.replace(/^[ab]\//u, "")].some((one) => path === one || path.endsWith(`/${one}`));
  });
}

function shownChange(
  { path, kind, type, from, mode }: ChangedPath,
  section: StructuredPatch | undefined,
): ShownChange {
  let [added, removed] = [0, 0];
  const hunks = (section?.hunks ?? []).map(({ oldStart, oldLines, newStart, newLines, lines }) => {
    for (const line of lines) {
      if (line.startsWith("+")) added += 1;
      else if (line.startsWith("-")) removed += 1;
    }
    return { oldStart, oldLines, newStart, newLines, lines: lines.join("\n") };
  });
  return {
    summary: {
      path,
      kind,
      type,
      ...(from === undefined ? {} : { from }),
      ...(mode === undefined ? {} : { mode }),
      added,
      removed,
      hunks: hunks.length,
    },
    hunks,
    details: [],
  };
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
