// The texts of a tree that is checked out again and again, and two plain ways to search them: BM25
// over files, and ripgrep by keywords. Both answer with windows of lines, as many as fit a budget.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { STOP, stem, words } from "./knows-queries.mjs";

/** The lines of one window. */
const WINDOW_LINES = 20;
/** The files of an answer. */
const MAX_FILES = 10;
/** The most bytes of a file that is searched, as in search_code. */
const MOST_BYTES = 1 << 20;

const identifiers = (text) => text.match(/[A-Za-z0-9_$]+/gu) ?? [];
/** The terms of identifiers that were seen: most of a text are. */
const known = new Map();
const terms = (text) => identifiers(text).flatMap(termsOf);

function termsOf(identifier) {
  if (!known.has(identifier)) known.set(identifier, words(identifier).map(stem));
  return known.get(identifier);
}

/** Returns the words of a question that say something, as they are searched with ripgrep. */
export const keywords = (query) => {
  const all = query.match(/[A-Za-z0-9_$][\w$.-]*[\w$]/gu) ?? [];
  return [...new Set(all.map((word) => word.toLowerCase()))].filter(
    (word) => !STOP.has(word) && word.length > 2,
  );
};

function* filesBelow(folder, prefix = "") {
  for (const entry of readdirSync(join(folder, prefix), { withFileTypes: true })) {
    const path = `${prefix}${entry.name}`;
    if (entry.isDirectory()) yield* filesBelow(folder, `${path}/`);
    else if (entry.isFile()) yield path;
  }
}

function textOf(path, file, stamp) {
  const text = readFileSync(file, "utf8");
  return text.includes("\0") ? { stamp } : { path, stamp, text, lower: text.toLowerCase() };
}

/** Returns a text with its number of terms and how often it has each, counted when they are first needed. */
function counted(one) {
  if (one.counts === undefined) {
    one.counts = new Map();
    const all = terms(one.text);
    for (const term of all) one.counts.set(term, (one.counts.get(term) ?? 0) + 1);
    one.length = all.length;
  }
  return one;
}

/** A reader of trees, which reads a file again only when its facts have changed. Binary files are left out. */
export function treeReader() {
  let before = new Map();
  return (tree) => {
    const now = new Map();
    for (const path of filesBelow(tree)) {
      const file = join(tree, path);
      const { size, mtimeMs, ino } = lstatSync(file);
      const stamp = `${size} ${mtimeMs} ${ino}`;
      const same = before.get(path)?.stamp === stamp;
      if (size <= MOST_BYTES) now.set(path, same ? before.get(path) : textOf(path, file, stamp));
    }
    before = now;
    const texts = [...now.values()].filter(({ text }) => text !== undefined);
    return texts.sort((a, b) => (a.path < b.path ? -1 : 1));
  };
}

const best = (scored) => {
  const found = scored.filter(({ score }) => score > 0);
  return found.sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1)).slice(0, MAX_FILES);
};

/** Returns the windows of the best files: the best of each, then the second best of each, and so on. */
function windows(files, scoreOf) {
  const ofFiles = files.map(({ path, text }) => {
    const lines = text.split("\n");
    const all = [];
    for (let at = 0; at < lines.length; at += WINDOW_LINES) {
      const score = scoreOf(lines.slice(at, at + WINDOW_LINES).join("\n"));
      all.push({ path, first: at + 1, last: Math.min(lines.length, at + WINDOW_LINES), score });
    }
    return all.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score || a.first - b.first);
  });
  const rounds = Math.max(0, ...ofFiles.map((all) => all.length));
  return Array.from({ length: rounds }, (_, round) => ofFiles.flatMap((all) => all[round] ?? [])).flat();
}

/** Files by BM25 (k1 1.2, b 0.75) over the parts of their words without endings, and their best windows. */
export function bm25(all, query) {
  const texts = all.map(counted);
  const asked = [...new Set(terms(query))].filter((word) => !STOP.has(word) && word.length > 1);
  const mean = texts.reduce((sum, { length }) => sum + length, 0) / texts.length;
  const rarity = new Map();
  for (const word of asked) {
    const having = texts.filter(({ counts }) => counts.has(word)).length;
    rarity.set(word, Math.log(1 + (texts.length - having + 0.5) / (having + 0.5)));
  }
  const scored = texts.map(({ path, text, counts, length }) => {
    const long = 1.2 * (0.25 + (0.75 * length) / mean);
    const part = (word, count) => (rarity.get(word) * 2.2 * count) / (count + long);
    return { path, text, score: asked.reduce((sum, word) => sum + part(word, counts.get(word) ?? 0), 0) };
  });
  return windows(best(scored), (text) => {
    const found = new Set(terms(text));
    return asked.reduce((sum, word) => sum + (found.has(word) ? rarity.get(word) : 0), 0);
  });
}

/** Files by the number of keywords in them, and their windows with most of them, as `rg -i` finds them. */
export function byKeywords(texts, query) {
  const asked = keywords(query);
  const count = (lower) => asked.reduce((sum, word) => sum + (lower.includes(word) ? 1 : 0), 0);
  const scored = texts.map(({ path, text, lower }) => ({ path, text, score: count(lower) }));
  return windows(best(scored), (text) => count(text.toLowerCase()));
}
