// Compares the content after some hunks of a change with what git makes of the same hunks.
//
// A case is a file in some encoding, before and after a change, and a choice of hunks or of lines in
// them. The chosen hunks are written as a patch, which `git apply` applies to the file. Git knows no
// UTF-16: it gets that file in UTF-8, and its result is encoded again.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { composeHunks, diff, encodeText, hunksBetween } from "../../dist/engine/index.node.js";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";

const MAX_FAILURES = 20;
/** The number of cases that one run of git applies. */
const CASES_PER_PATCH = 250;

const COMMON_LINES = [
  "a",
  "b",
  "c",
  "}",
  "  return x;",
  "\tif (x) {",
  "",
  "",
  " ",
  "trailing  ",
  "lone\rCR",
  "x\r",
];
const PATCH_LINES = ["-- a/f", "++ b/f", "--- a/f", "+++ b/f", "@@ -1 +1 @@", "- x", "+ x", "\\ No newline"];
/** The encodings, each with lines that only it and Unicode have. In UTF-16 some have the byte LF in a character. */
export const ENCODINGS = [
  { name: "utf-8", lines: ["é漢", "😀", "\u010a\u0a0a"] },
  { name: "utf-8", bom: true, lines: ["é漢", "😀"] },
  { name: "windows-1252", lines: ["café", "– €", "ÿ"] },
  { name: "shift_jis", lines: ["表示", "ソース", "漢字"] },
  { name: "gb18030", lines: ["汉字", "𠀀", "é"] },
  { name: "utf-16le", bom: true, lines: ["\u010a\u0a0a", "\u0a0d", "😀", "漢字"] },
  { name: "utf-16be", bom: true, lines: ["\u010a\u0a0a", "\u0d0a", "😀", "漢字"] },
  { name: "utf-16le", lines: ["\u010a", "漢字"] },
];

export function makeText(random, encoding) {
  const eol = random.pick(["\n", "\n", "\r\n", "mixed"]);
  const lines = [...COMMON_LINES, ...PATCH_LINES, ...encoding.lines];
  let text = "";
  for (let left = random.chance(0.1) ? random.below(3) : random.below(60); left > 0; left--) {
    // Lines that are there once, and lines that stand in many places.
    text += random.chance(0.5) ? random.pick(lines) : `line ${random.below(1_000)}`;
    text += eol === "mixed" ? random.pick(["\n", "\r\n"]) : eol;
  }
  return random.chance(0.25) ? text.replace(/\r?\n$/u, "") : text;
}

export function changeText(random, encoding, text) {
  const roll = random.below(25);
  if (roll === 0)
    return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text.replaceAll("\n", "\r\n");
  if (roll === 1) return text.endsWith("\n") ? text.replace(/\r?\n$/u, "") : `${text}\n`;
  if (roll === 2) return makeText(random, encoding);
  if (roll === 3) return "";
  const lines = text.split(/(?<=\n)/u);
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const known = [...COMMON_LINES, ...PATCH_LINES, ...encoding.lines];
  for (let left = 1 + random.below(6); left > 0; left--) {
    const at = random.below(lines.length + 1);
    const made = Array.from({ length: random.below(4) }, () => random.pick(known) + eol);
    if (at === lines.length && at > 0 && !/\n$/u.test(lines[at - 1])) lines[at - 1] += eol;
    lines.splice(at, random.below(4), ...made);
  }
  const changed = lines.join("");
  return random.chance(0.15) ? changed.replace(/\r?\n$/u, "") : changed;
}

export const encoded = (text, { name, bom = false }) => Buffer.from(encodeText(text, name, { bom }));

/** Returns what git is given for a content, one character for each byte. */
export function forGit(content, { name }) {
  if (!name.startsWith("utf-16")) return content.toString("latin1");
  const units = name === "utf-16be" ? Buffer.from(content).swap16() : content;
  return Buffer.from(units.toString("utf16le"), "utf8").toString("latin1");
}

/** Returns the content that git has made, in the encoding of the file. */
export function fromGit(content, { name }) {
  if (!name.startsWith("utf-16")) return content;
  const units = Buffer.from(content.toString("utf8"), "utf16le");
  return name === "utf-16be" ? units.swap16() : units;
}

export const splitLines = (text) => text.match(/[^\n]*\n|[^\n]+$/gu) ?? [];

/** Returns the rows of a hunk: a mark and the line, in the order of a diff. */
export function rowsOf(hunk, old, now) {
  const rows = [];
  let line = hunk.oldStart;
  const keepUntil = (end) => {
    while (line < end) rows.push({ mark: " ", text: old[line++] });
  };
  for (const { oldStart, oldLines, newStart, newLines } of hunk.changes) {
    keepUntil(oldStart);
    while (line < oldStart + oldLines) rows.push({ mark: "-", text: old[line++] });
    for (let at = newStart; at < newStart + newLines; at++) rows.push({ mark: "+", text: now[at] });
  }
  keepUntil(hunk.oldStart + hunk.oldLines);
  return rows;
}

/** Returns true when no line without a line ending precedes another one, on either side. */
const isPatch = (rows) =>
  ["-", "+"].every((mark) =>
    rows
      .filter((row) => row.mark === " " || row.mark === mark)
      .slice(0, -1)
      .every(({ text }) => text.endsWith("\n")),
  );

/** Chooses nothing of a hunk, the hunk, or some of its changed lines; returns the rows that a patch of that has. */
function choose(random, index, rows) {
  const roll = random.below(10);
  if (roll < 4) return undefined;
  const changed = rows.flatMap(({ mark }, row) => (mark === " " ? [] : [row]));
  if (roll < 8 || changed.length < 2) return { choice: { hunk: index }, rows };
  const taken = random.shuffle(changed).slice(0, 1 + random.below(changed.length));
  const kept = rows.flatMap(({ mark, text }, row) => {
    if (mark === " " || taken.includes(row)) return [{ mark, text }];
    return mark === "-" ? [{ mark: " ", text }] : [];
  });
  // Git has no way to say that a line gets a line ending because another one follows it.
  return isPatch(kept)
    ? { choice: { hunk: index, rows: taken }, rows: kept }
    : { choice: { hunk: index }, rows };
}

/** Returns a hunk of a patch, which moves later hunks by `moved` lines. */
export function printHunk({ oldStart }, rows, moved) {
  const count = (mark) => rows.filter((row) => row.mark === " " || row.mark === mark).length;
  const side = (start, lines) => `${start + (lines > 0 ? 1 : 0)},${lines}`;
  const [old, now] = [count("-"), count("+")];
  const body = rows.map(({ mark, text }) =>
    text.endsWith("\n") ? mark + text : `${mark}${text}\n\\ No newline at end of file\n`,
  );
  return {
    text: `@@ -${side(oldStart, old)} +${side(oldStart + moved, now)} @@\n${body.join("")}`,
    moved: moved + now - old,
  };
}

/** Makes a case, with the patch of its choice and what is wrong without git's answer. */
function makeCase(random, name) {
  const encoding = random.pick(ENCODINGS);
  const text = makeText(random, encoding);
  const before = encoded(text, encoding);
  const after = encoded(changeText(random, encoding, text), encoding);
  const hunks = hunksBetween(before, after, encoding.name);
  const [old, now] = [splitLines(forGit(before, encoding)), splitLines(forGit(after, encoding))];
  const chosen = hunks.flatMap((hunk, index) => {
    const one = choose(random, index, rowsOf(hunk, old, now));
    return one === undefined ? [] : [{ ...one, hunk }];
  });
  let [patch, moved] = ["", 0];
  for (const { hunk, rows } of chosen) {
    const printed = printHunk(hunk, rows, moved);
    [patch, moved] = [patch + printed.text, printed.moved];
  }
  if (patch !== "") patch = `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n${patch}`;
  const problems = [];
  const all = composeHunks(
    before,
    after,
    hunks.map((_, hunk) => ({ hunk })),
    encoding.name,
  );
  if (!after.equals(all)) problems.push("all hunks are not the new content");
  if (!before.equals(composeHunks(before, after, [], encoding.name)))
    problems.push("no hunk is not the old content");
  if (encoding.name === "utf-8") {
    const printed = diff(before, after).hunks.map(({ oldLines, newLines }) => [oldLines, newLines]);
    const found = hunks.map(({ oldLines, newLines }) => [oldLines, newLines]);
    if (JSON.stringify(printed) !== JSON.stringify(found))
      problems.push("the hunks are not those of the diff");
  }
  const choice = chosen.map((one) => one.choice);
  const composed = Buffer.from(composeHunks(before, after, random.shuffle(choice), encoding.name));
  return { name, encoding, before, after, choice, patch, composed, problems };
}

/** Applies the patches of cases in a directory. @returns {string | undefined} what git says against it */
function applyByGit(directory, cases) {
  for (const { name, before, encoding } of cases)
    writeFileSync(join(directory, name), Buffer.from(forGit(before, encoding), "latin1"));
  const input = Buffer.from(cases.map(({ patch }) => patch).join(""), "latin1");
  if (input.length === 0) return undefined;
  const { status, stderr } = spawnSync("git", ["apply", "--whitespace=nowarn", "-"], {
    cwd: directory,
    input,
    env: { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir(), GIT_CONFIG_NOSYSTEM: "1", HOME: directory },
  });
  return status === 0 ? undefined : `git apply: ${stderr}`.trim();
}

/** @returns {string[]} what is wrong with cases */
function checkCases(cases) {
  const directory = mkdtempSync(join(tmpdir(), "filewright-parts-"));
  try {
    const refused = applyByGit(directory, cases);
    if (refused !== undefined && cases.length > 1) return cases.flatMap((one) => checkCases([one]));
    return cases.flatMap((one) => {
      const { name, encoding, before, after, choice, composed, problems, patch } = one;
      const path = join(directory, name);
      const made = existsSync(path) ? fromGit(readFileSync(path), encoding) : Buffer.alloc(0);
      const all = [
        ...problems,
        ...(refused === undefined ? [] : [refused]),
        ...(refused !== undefined || made.equals(composed)
          ? []
          : [`git makes ${JSON.stringify(made.toString("latin1"))}`]),
      ];
      if (all.length === 0) return [];
      const shown = {
        encoding: encoding.name,
        before: before.toString("latin1"),
        after: after.toString("latin1"),
      };
      const facts = { ...shown, choice, composed: composed.toString("latin1"), patch };
      return [`${all.join("; ")}: ${JSON.stringify(facts)}`];
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "contents after some hunks of a change against git apply, in all encodings and line endings",
  count: 20_000,
  share: 1_000,
  async run({ seed, count, isOver }) {
    if (spawnSync("git", ["--version"]).status !== 0) return { cases: 0, failures: ["git is not installed"] };
    const random = seededRandom(seed);
    const failures = [];
    let cases = 0;
    while (cases < count && !isOver() && failures.length < MAX_FAILURES) {
      const size = Math.min(CASES_PER_PATCH, count - cases);
      failures.push(
        ...checkCases(Array.from({ length: size }, (_, at) => makeCase(random, `f${cases + at}`))),
      );
      cases += size;
    }
    return { cases, failures };
  },
};
