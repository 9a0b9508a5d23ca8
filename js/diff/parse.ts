/** Parses patches without interpreting them: names and headers stay as written. */
import { type StructuredPatch, type StructuredPatchHunk, parseQuotedName, unquoteName } from "./patch.ts";

type PatchDraft = { -readonly [Key in keyof Omit<StructuredPatch, "hunks">]?: StructuredPatch[Key] } & {
  hunks: StructuredPatchHunk[];
};

const GIT_FIRST_LINE = /^diff --git /u;
/** Matches the first line of a file's section, as git, Mercurial or Subversion writes it. */
const FILE_START = /^(?:diff --git |Index:\s|diff(?: -r \w+)+\s)/u;
const NAME_LINE = /^(?:---|\+\+\+)\s/u;
const HUNK_START = /^@@\s/u;
/**
 * Matches the header of a hunk: start and number of the old lines, then of the new ones. A missing number
 * means 1.
 */
export const HUNK_NUMBERS: RegExp = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/u;

/**
 * Returns the patches in a unified diff, one for each file. @throws Error for a hunk whose lines contradict
 * its header
 */
export function parsePatch(uniDiff: string): StructuredPatch[] {
  const lines = uniDiff.split("\n");
  // An empty text is one patch without hunks, as in jsdiff.
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  const patches: StructuredPatch[] = [];
  for (let at = 0; at < lines.length; ) {
    const { draft, next } = parsePatchAt(lines, at);
    patches.push(draft as StructuredPatch);
    at = next;
  }
  return patches;
}

/** Parses the patch of one file that begins at line `from`. `next` is the line after it. */
function parsePatchAt(
  lines: readonly string[],
  from: number,
): { readonly draft: PatchDraft; readonly next: number } {
  // Names that the patch does not contain are absent properties, as in jsdiff.
  const draft: PatchDraft = { hunks: [] };
  let at = from;
  let isOpen = false;
  for (; at < lines.length; at++) {
    const line = lines[at] as string;
    if (NAME_LINE.test(line) || HUNK_START.test(line)) break;
    if (!FILE_START.test(line)) {
      if (draft.isGit === true) addGitLine(draft, line);
      continue;
    }
    // Another first line of a section belongs to the next file.
    if (isOpen) return { draft, next: at };
    isOpen = true;
    if (GIT_FIRST_LINE.test(line))
      Object.assign(draft, { isGit: true }, parseGitNames(line.slice("diff --git ".length)));
    else draft.index = line.replace(/^(?:Index:|diff(?: -r \w+)+)\s+/u, "").trim();
  }
  for (let names = 0; names < 2 && NAME_LINE.test(lines[at] ?? ""); names++)
    addNameLine(draft, lines[at++] as string);
  const { oldFileName, newFileName } = draft;
  if ((oldFileName === undefined) !== (newFileName === undefined)) {
    const missing = oldFileName === undefined ? '"--- ..."' : '"+++ ..."';
    throw new Error(`Missing ${missing} file header for ${oldFileName ?? newFileName}`);
  }
  while (at < lines.length) {
    const line = lines[at] as string;
    if (FILE_START.test(line) || NAME_LINE.test(line) || line.startsWith("=".repeat(67))) break;
    // Patches may contain other text, such as notes about properties or the signature of a mail.
    if (!HUNK_START.test(line)) at++;
    else {
      const { hunk, next } = parseHunkAt(lines, at);
      draft.hunks.push(hunk);
      at = next;
    }
  }
  return { draft, next: at };
}

/** Parses one of the lines that git writes between `diff --git` and the names. */
function addGitLine(draft: PatchDraft, line: string): void {
  const [, key, value = ""] =
    /^(rename from|rename to|copy from|copy to|new file mode|deleted file mode|old mode|new mode|Binary files) (.*)/u.exec(
      line,
    ) ?? [];
  if (key === undefined) return;
  // In these lines names have no prefix `a/` or `b/`, elsewhere they have. It is added, so that all names
  // have it.
  if (key.endsWith(" from")) draft.oldFileName = `a/${unquoteName(value)}`;
  if (key.endsWith(" to")) draft.newFileName = `b/${unquoteName(value)}`;
  if (key.startsWith("rename")) draft.isRename = true;
  if (key.startsWith("copy")) draft.isCopy = true;
  if (key.startsWith("new file")) draft.isCreate = true;
  if (key.startsWith("deleted")) draft.isDelete = true;
  if (key.startsWith("Binary")) draft.isBinary = true;
  const [mode] = /^\d+/u.exec(value) ?? [];
  if (mode === undefined) return;
  if (key === "new file mode" || key === "new mode") draft.newMode = mode;
  if (key === "deleted file mode" || key === "old mode") draft.oldMode = mode;
}

/** Returns the names in the line `diff --git`; empty when it cannot be told where the first one ends. */
function parseGitNames(text: string): Pick<PatchDraft, "oldFileName" | "newFileName"> {
  const at = text.indexOf('"');
  if (at === 0) {
    const old = parseQuotedName(text);
    if (old === undefined) return {};
    const rest = text.slice(old.length + 1);
    const made = rest.startsWith('"') ? parseQuotedName(rest)?.name : rest;
    return made === undefined ? {} : { oldFileName: old.name, newFileName: made };
  }
  if (at > 0) {
    const made = parseQuotedName(text.slice(at));
    return made === undefined ? {} : { oldFileName: text.slice(0, at - 1), newFileName: made.name };
  }
  if (!text.startsWith("a/")) return {};
  // If names contain ` b/`, the line can be divided in several places. If both names are equal, it is the
  // middle one; otherwise other lines contain the names.
  const parts = [...text.matchAll(/ b\//gu)].map(({ index }) => index).filter((index) => index > 0);
  const middle = parts[Math.floor(parts.length / 2)];
  return middle === undefined
    ? {}
    : { oldFileName: text.slice(0, middle), newFileName: text.slice(middle + 1) };
}

/** Parses a `---` or `+++` line: the name, and the text after the tab. */
function addNameLine(draft: PatchDraft, line: string): void {
  const [text = "", header = ""] = line.slice(3).trim().split("\t", 2);
  const name = text.startsWith('"') ? unquoteName(text) : text.replaceAll("\\\\", "\\");
  if (line.startsWith("---")) Object.assign(draft, { oldFileName: name, oldHeader: header.trim() });
  else Object.assign(draft, { newFileName: name, newHeader: header.trim() });
}

function parseHunkAt(
  lines: readonly string[],
  at: number,
): { readonly hunk: StructuredPatchHunk; readonly next: number } {
  const header = HUNK_NUMBERS.exec(lines[at] as string);
  if (header === null) throw new Error(`Unknown line ${at + 1} ${JSON.stringify(lines[at])}`);
  let [oldStart, oldLines, newStart, newLines] = header.slice(1).map((digits) => Number(digits ?? 1)) as [
    number,
    number,
    number,
    number,
  ];
  // In the data, a side without lines has the number of the line after it.
  if (oldLines === 0) oldStart++;
  if (newLines === 0) newStart++;
  const body: string[] = [];
  let [removed, added] = [0, 0];
  let next = at + 1;
  for (; next < lines.length; next++) {
    const line = lines[next] as string;
    if (removed >= oldLines && added >= newLines && !line.startsWith("\\")) break;
    // An empty line may be a context line whose leading space was lost.
    const mark = line === "" ? " " : line[0];
    if (mark !== " " && mark !== "+" && mark !== "-" && mark !== "\\") {
      throw new Error(`Hunk at line ${at + 1} contained invalid line ${line}`);
    }
    removed += mark === " " || mark === "-" ? 1 : 0;
    added += mark === " " || mark === "+" ? 1 : 0;
    body.push(line);
  }
  // jsdiff accepts a missing number, which means one line, for a side that has none.
  if (added === 0 && newLines === 1) newLines = 0;
  if (removed === 0 && oldLines === 1) oldLines = 0;
  const counts = [
    ["New", newLines, added],
    ["Old", oldLines, removed],
  ] as const;
  for (const [side, expected, got] of counts) {
    if (expected === got) continue;
    const what = `${side} line count did not match for hunk at line ${at + 1}`;
    throw new Error(`${what}; expected ${expected} but got ${got}`);
  }
  const after = lines[next] ?? "";
  if (/^[+ -]/u.test(after) && !NAME_LINE.test(after)) {
    const sides = `expected ${oldLines} old lines and ${newLines} new lines`;
    throw new Error(`Hunk at line ${at + 1} has more lines than expected (${sides})`);
  }
  return { hunk: { oldStart, oldLines, newStart, newLines, lines: body }, next };
}
