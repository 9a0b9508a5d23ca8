// Collects hunks (a few lines of a file and what they become) from which edit cases are made: real
// ones from the diff between two versions of a directory, or small invented changes.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const SOURCE_FILE_NAME = /\.(?:[cm]?[jt]sx?|py|rs|go|c|h|java|md|css|scss|rb|lua|sh)$/;
/** The maximum size of a file that hunks are taken from, in bytes. */
const MAX_FILE_BYTES = 120_000;
/** The maximum number of old lines of a hunk. */
const MAX_OLD_LINES = 24;

function* filesBelow(dir, prefix = "") {
  for (const entry of readdirSync(join(dir, prefix), { withFileTypes: true })) {
    const path = join(prefix, entry.name);
    if (entry.isDirectory()) yield* filesBelow(dir, path);
    else if (SOURCE_FILE_NAME.test(entry.name) && !/\.min\./.test(entry.name)) yield path;
  }
}

/**
 * Returns the lines of a file; undefined if it is too large, too short, or unsuitable for cases.
 */
function linesOfUsableFile(path) {
  if (statSync(path).size > MAX_FILE_BYTES) return undefined;
  const text = readFileSync(path, "utf8");
  if (text.includes("\r") || text.includes("\ufffd") || text.startsWith("\ufeff")) return undefined;
  const lines = text.split("\n");
  return lines.length < 12 || lines.some((line) => line.length > 240) ? undefined : lines;
}

/** Returns the hunks of the diffs between the files that exist in both directories. */
export function hunksBetween(oldDir, newDir) {
  const hunks = [];
  for (const path of filesBelow(newDir)) {
    const [from, to] = [join(oldDir, path), join(newDir, path)];
    if (!existsSync(from)) continue;
    const [old, made] = [linesOfUsableFile(from), linesOfUsableFile(to)];
    if (old === undefined || made === undefined) continue;
    for (const context of [1, 2, 3]) hunks.push(...gitHunks(from, to, context, old, made));
  }
  return hunks.filter(isFairTest);
}

/** Returns the hunks of `git diff` between two files, with this number of context lines. */
function gitHunks(from, to, context, old, made) {
  let text = "";
  try {
    execFileSync("git", ["diff", "--no-index", "--no-color", `-U${context}`, "--", from, to], {
      encoding: "utf8",
    });
  } catch (error) {
    text = error.stdout ?? "";
  }
  return [...text.matchAll(/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/gm)].map((match) => {
    const [start, lines, newStart, newLines] = match.slice(1).map((number) => Number(number ?? 1));
    return {
      src: from.split("/").slice(-3).join("/"),
      before: old.slice(0, start - 1),
      old: old.slice(start - 1, start - 1 + lines),
      after: old.slice(start - 1 + lines),
      made: made.slice(newStart - 1, newStart - 1 + newLines),
    };
  });
}

/**
 * Returns whether a hunk is a fair test: its old lines have at least 20 characters besides white
 * space, occur once in the file, and do not change in white space only.
 */
function isFairTest({ before, old, after, made }) {
  const words = (lines) => lines.join("").replace(/\s/g, "");
  if (old.length < 2 || old.length > MAX_OLD_LINES || made.length > 2 * MAX_OLD_LINES) return false;
  if (words(old) === words(made) || words(old).length < 20) return false;
  // A change of white space at the end of a line is not visible in the text that is sent.
  const isTwin = (line) => made.some((other) => other !== line && other.trimEnd() === line.trimEnd());
  if (old.some(isTwin)) return false;
  const key = old.map((line) => line.trim()).join("\n");
  const all = [...before, ...old, ...after].map((line) => line.trim()).join("\n");
  return all.indexOf(key) === all.lastIndexOf(key);
}

/** Returns about `wanted` small invented changes in files below the directories. */
export function madeUpHunks(dirs, random, wanted) {
  const files = random.shuffle(dirs.flatMap((dir) => [...filesBelow(dir)].map((path) => join(dir, path))));
  const hunks = [];
  for (const path of files) {
    if (hunks.length >= wanted) break;
    const lines = linesOfUsableFile(path);
    for (let tries = 0; lines !== undefined && tries < 6; tries++) {
      const size = 3 + random.below(8);
      const start = random.below(Math.max(1, lines.length - size));
      const old = lines.slice(start, start + size);
      const made = randomChange(old, lines, random);
      const hunk = {
        src: path.split("/").slice(-3).join("/"),
        before: lines.slice(0, start),
        old,
        after: lines.slice(start + size),
        made,
      };
      if (isFairTest(hunk)) hunks.push(hunk);
    }
  }
  return hunks;
}

/**
 * Returns the lines with a random change that a programmer might make. The first and the last line
 * stay.
 */
function randomChange(old, lines, random) {
  const made = [...old];
  const at = 1 + random.below(old.length - 2);
  const word = /[A-Za-z_]{4,}/.exec(made[at])?.[0];
  switch (random.below(5)) {
    case 0:
      if (word !== undefined) made[at] = made[at].replaceAll(word, `${word}Next`);
      break;
    case 1:
      made.splice(at, 1);
      break;
    case 2:
      made.splice(at, 0, `${/^\s*/.exec(made[at])[0]}${random.pick(lines).trim() || "pass"}`);
      break;
    case 3:
      made[at] = made[at].replace(/\d+/, (number) => String(Number(number) + 1));
      break;
    default: {
      const blanks = /^\s*/.exec(made[at])[0];
      if (/^\s*(?:\*|\/[/*]|#|$)/.test(made[at])) break;
      const deep = lines.filter((line) => /^[ \t]+\S/.test(line));
      const unit = 2 * deep.filter((line) => line.startsWith("\t")).length > deep.length ? "\t" : "  ";
      made.splice(at, 1, `${blanks}if (enabled) {`, `${blanks}${unit}${made[at].trim()}`, `${blanks}}`);
    }
  }
  return made;
}
