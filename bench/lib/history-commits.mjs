// Chooses commits with a known answer from repositories that have their whole history.
//
// A question is the message of a commit. The answer is the lines that it changed, by their numbers in
// its parent. The rule is fixed: of the newest commits without a merge, those in the order of a hash
// of their ids whose message has at least four words, none of them a name of a changed file, and
// which change one to five source files and at most 200 lines. Tests, examples and documents of the
// same commit are no part of the answer, as in SWE-bench (Jimenez et al., 2024).
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, extname, join } from "node:path";
import { Skip } from "./skip.mjs";

/** The newest commits of a repository of which some are chosen. */
const NEWEST = 2000;
/** The most changed lines of a commit, as many as an answer may have. */
const MAX_LINES = 200;
/** The most bytes of a question; search_code refuses those above 1,000. */
const MAX_QUERY_BYTES = 900;

/** The languages of source files, by the ending. */
const SOURCE =
  /\.(py|rs|go|[cm]?jsx?|[cm]?tsx?|c|cc|cpp|h|hpp|cs|java|kt|scala|swift|rb|php|ex|lua|sh|zig)$/u;
/** Files that are no source: tests, examples, documents, what others wrote. */
const BESIDE =
  /(^|\/)(tests?|__tests__|specs?|testdata|testing|fixtures|examples?|bench(es|marks?)?|docs?|vendor)(\/|$)|(^|\/)(test_|conftest)|[._-](tests?|spec)\./u;
/** Messages about no behaviour: releases, dependencies, documents, tests, style. */
const EMPTY =
  /\b(releases?|released|bump(s|ed)?|upgrade|reverts?|merged?|changelog|deps|dependenc(y|ies)|docs?|docstrings?|documentation|comments?|tests?|typos?|ci|chore|travis|style|fmt|formatting|whitespace|clippy|lint(s|er)?)\b|\bv?\d+\.\d+\.\d+/iu;
/** Lines at the end of a message that are not about the change. */
const TRAILER = /^([A-Z][\w-]+-(by|Id): |(closes|fixes|resolves|refs?|see|pr)\b:? #?\d|https?:)/iu;

/** Reports whether a path is that of a source file. */
export const isSource = (path) => SOURCE.test(path) && !BESIDE.test(path);

/** Returns the half to which a commit belongs: `dev`, on which constants are chosen, or `held`. */
export const halfOfCommit = (id) => (Number.parseInt(id[0], 16) < 8 ? "dev" : "held");

function git(repository, args) {
  const options = { encoding: "utf8", maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "ignore"] };
  return execFileSync("git", [`--git-dir=${repository}`, ...args], options);
}

/** Returns the folders of the repositories: those with a file HEAD. @throws Skip without one */
export function repositoriesIn(folder) {
  if (folder === undefined)
    throw new Skip("--repositories FOLDER is missing: git directories with their history");
  const entries = existsSync(folder) ? readdirSync(folder).sort() : [];
  const found = entries.map((name) => join(folder, name)).filter((path) => existsSync(join(path, "HEAD")));
  if (found.length === 0) throw new Skip(`${folder} has no git directory`);
  return found;
}

/** Returns the subject of a message with its first paragraph, without trailers and numbers of issues. */
function questionIn(message) {
  const [subject = "", ...paragraphs] = message.trim().split(/\n\s*\n/u);
  const lines = `${subject}\n${paragraphs[0] ?? ""}`.split("\n").filter((line) => !TRAILER.test(line.trim()));
  const text = lines.join(" ").replace(/\(?#\d+\)?|https?:\S+/gu, "");
  const words = text.split(/\s+/u).filter(Boolean);
  while (Buffer.byteLength(words.join(" ")) > MAX_QUERY_BYTES) words.pop();
  return words.join(" ");
}

/** Reports whether a message has the name of a file, with its ending or without. */
function namesOne(message, paths) {
  const words = new Set(
    message
      .toLowerCase()
      .split(/[^\w.-]+/u)
      .flatMap((word) => [word, ...word.split(/[.-]/u)]),
  );
  return paths.some((path) => {
    const name = basename(path).toLowerCase();
    return words.has(name) || words.has(basename(name, extname(name)));
  });
}

/** Yields the commits that may be chosen, newest first, with the source files that they change. */
function* candidates(repository) {
  const format = "--format=%x01%H%x00%P%x00%B%x00";
  const log = git(repository, ["log", "--no-merges", "--no-renames", "--raw", `-n${NEWEST}`, format]);
  for (const [age, text] of log.split("\u0001").slice(1).entries()) {
    const [id, parent, message, changes] = text.split("\0");
    const subject = message.split("\n")[0];
    if (parent === "" || EMPTY.test(subject) || subject.split(/\s+/u).length < 4) continue;
    const changed = [...changes.matchAll(/^:\S+ \S+ \S+ \S+ ([A-Z])\t(.*)$/gmu)].map(([, kind, path]) => ({
      kind,
      path,
    }));
    const sources = changed.filter(({ path }) => isSource(path));
    if (sources.length === 0 || sources.length > 5 || sources.some(({ kind }) => kind !== "M")) continue;
    const paths = sources.map(({ path }) => path);
    if (!namesOne(questionIn(message), paths)) yield { id, parent, age, query: questionIn(message), paths };
  }
}

/**
 * Returns the changed places with the numbers of their lines before the change. Lines that are only
 * added have the place of the line before them.
 */
function hunksOf(repository, { parent, id, paths }) {
  const diff = git(repository, ["diff", "--no-ext-diff", "--no-renames", "-U0", parent, id, "--", ...paths]);
  let path;
  return diff.split("\n").flatMap((line) => {
    if (line.startsWith("--- a/")) path = line.slice(6);
    const hunk = /^@@ -(\d+)(?:,(\d+))? /u.exec(line);
    if (hunk === null) return [];
    const [first, count] = [Math.max(1, Number(hunk[1])), Number(hunk[2] ?? 1)];
    return [{ path, first, last: first + Math.max(1, count) - 1 }];
  });
}

/**
 * Returns at most `most` commits of a repository for which `isWanted` is true, oldest first: `id`, `parent`,
 * `query`, `paths`, `hunks` with `path`, `first` and `last`, and their `half`.
 */
export function chooseCommits(repository, most, isWanted = () => true) {
  const order = ({ id }) => createHash("sha256").update(`filewright-history-1\0${id}`).digest("hex");
  const all = [...candidates(repository)].map((one) => ({ one, order: order(one) }));
  const chosen = [];
  for (const { one } of all.sort((a, b) => (a.order < b.order ? -1 : 1))) {
    if (chosen.length === most) break;
    const hunks = hunksOf(repository, one);
    const lines = hunks.reduce((sum, { first, last }) => sum + last - first + 1, 0);
    const commit = { ...one, hunks, half: halfOfCommit(one.id) };
    if (lines > 0 && lines <= MAX_LINES && isWanted(commit)) chosen.push(commit);
  }
  return chosen.sort((a, b) => b.age - a.age);
}

/** Yields each of some commits of a repository with `tree`: one folder, where its parent is checked out. */
export function* checkedOut(repository, commits) {
  const work = mkdtempSync(join(tmpdir(), "history-"));
  const tree = join(work, "tree");
  mkdirSync(tree);
  try {
    for (const commit of commits) {
      checkOut(repository, { tree, index: join(work, "index") }, commit.parent);
      if (commit.hunks.every(({ path }) => existsSync(join(tree, path)))) yield { tree, ...commit };
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Makes a folder the tree of a commit. Files that the repository lacks, as a partial copy does, stay away. */
function checkOut(repository, { tree, index }, commit) {
  const env = { ...process.env, GIT_INDEX_FILE: index };
  const args = [`--git-dir=${repository}`, `--work-tree=${tree}`, "read-tree", "-u", "--reset", commit];
  try {
    execFileSync("git", args, { env, stdio: "ignore" });
  } catch {
    // Told by the missing files of the answer, if these are among them.
  }
}
