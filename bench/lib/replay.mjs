// Scripted agents without a model that look for the place of a change by a few tools.
//
// A strategy is an async generator: it yields a call, and gets its answer. It knows the question, and
// which words of it are rare in the repository, which an agent can only guess. It does not know the
// place: the driver ends it as soon as answers have shown every line of the place, or after 20 calls.
import { isSource } from "./history-commits.mjs";
import { keywords } from "./history-texts.mjs";

/** The calls after which an agent gives up. */
export const MAX_CALLS = 20;
/** The bytes of a token, about. */
export const TOKEN_BYTES = 3.6;
/** The lines of a page. */
const PAGE_LINES = 200;
/** The lines read around a place that seems right. */
const AROUND_LINES = 60;

const escaped = (word) => word.replace(/[\\^$.*+?()[\]{}|]/gu, "\\$&");
const byScore = (a, b) => b.score - a.score || (a.path < b.path ? -1 : 1);

/** Returns the words of a question with their rarity among texts, rarest first; those of no text are left out. */
export function rareWords(query, texts) {
  const counted = keywords(query).map((word) => {
    const files = texts.filter(({ lower }) => lower.includes(word)).length;
    return { word, files, rarity: Math.log(1 + texts.length / Math.max(1, files)) };
  });
  const found = counted.filter(({ files }) => files > 0);
  return found.sort((a, b) => a.files - b.files || (a.word < b.word ? -1 : 1));
}

/** Returns the lines of which an answer shows the text, as `[path, line]`. */
function shownBy(tool, data) {
  const range = (path, first, last) =>
    Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => [path, first + at]);
  if (tool === "read_file") return range(data.path, data.start_line, data.end_line);
  if (tool === "search_code")
    return data.blocks.flatMap(({ path, lines }) => lines.map(({ line }) => [path, line]));
  if (tool !== "grep") return [];
  return (data.matches ?? []).flatMap(({ path, line, before = [], after = [] }) =>
    range(path, line - before.length, line + after.length),
  );
}

/**
 * Runs a strategy until the place has been shown. Returns the calls, the tokens of arguments and
 * answers, and whether the place was found.
 */
export async function replay(workspace, strategy, { query, words, place }) {
  const missing = new Set();
  for (let line = place.first; line <= place.last; line++) missing.add(`${place.path}:${line}`);
  const spent = { calls: 0, tokens: 0, isFound: false };
  const steps = strategy({ query, words });
  let answer;
  while (spent.calls < MAX_CALLS) {
    const { value, done } = await steps.next(answer);
    if (done) break;
    const [tool, args] = value;
    const result = await workspace.call(tool, args);
    spent.calls++;
    spent.tokens += (Buffer.byteLength(JSON.stringify(args)) + Buffer.byteLength(result.text)) / TOKEN_BYTES;
    for (const [path, line] of result.ok ? shownBy(tool, result.data) : []) missing.delete(`${path}:${line}`);
    if (missing.size === 0) return { ...spent, isFound: true };
    answer = result.ok ? result.data : undefined;
  }
  return spent;
}

/** Yields the pages of files, those of the first file before those of the next. */
async function* pagesOf(paths) {
  for (const path of paths)
    for (let start_line = 1; start_line !== undefined; ) {
      const page = yield ["read_file", { path, start_line, max_lines: PAGE_LINES }];
      start_line = page?.next_start_line;
    }
}

/** Orders files by the rare words that they have; tests, documents and the like come last. */
function orderFiles(scores) {
  const files = [...scores].map(([path, score]) => ({ path, score: isSource(path) ? score : score / 4 }));
  return files.sort(byScore).map(({ path }) => path);
}

/** Returns the middle line of the range whose matches have the rarest words. */
function densest(matches, words) {
  const worth = (text) => {
    const lower = text.toLowerCase();
    return words.reduce((sum, { word, rarity }) => sum + (lower.includes(word) ? rarity : 0), 0);
  };
  const scored = matches.map(({ line, text }) => ({ line, score: worth(text) }));
  const around = scored.map(({ line }) => {
    const near = scored.filter((other) => Math.abs(other.line - line) <= AROUND_LINES / 2);
    return { line, score: near.reduce((sum, { score }) => sum + score, 0) };
  });
  return around.sort((a, b) => b.score - a.score || a.line - b.line)[0]?.line;
}

/** Looks in a file: the lines with words of the question and three around them, and what is around the best. */
async function* lookIn(path, words) {
  const pattern = words.map(({ word }) => escaped(word)).join("|");
  const args = { pattern, path, case: "insensitive", context: 3, max_results: 30 };
  const found = yield ["grep", args];
  const line = densest(found?.matches ?? [], words);
  if (line === undefined) return;
  const start_line = Math.max(1, line - AROUND_LINES / 2);
  yield ["read_file", { path, start_line, max_lines: AROUND_LINES }];
}

/**
 * Asks for the files of each of the four rarest words, looks in the five files that have most of them,
 * and then reads these by pages.
 */
export async function* byFiles({ words }) {
  const scores = new Map();
  for (const { word, rarity } of words.slice(0, 4)) {
    const args = { pattern: word, regex: false, case: "insensitive", output: "files", max_results: 40 };
    const found = yield ["grep", args];
    for (const path of found?.files ?? []) scores.set(path, (scores.get(path) ?? 0) + rarity);
  }
  const files = orderFiles(scores).slice(0, 5);
  for (const path of files) yield* lookIn(path, words);
  yield* pagesOf(files);
}

/**
 * Asks for the lines with each of the three rarest words in the whole repository, reads around the best
 * of them in five files, and then reads these by pages.
 */
export async function* byLines({ words }) {
  const [scores, all] = [new Map(), new Map()];
  for (const { word, rarity } of words.slice(0, 3)) {
    const args = { pattern: word, regex: false, case: "insensitive", context: 2, max_results: 20 };
    const found = yield ["grep", { ...args, max_per_file: 5 }];
    for (const match of found?.matches ?? []) {
      const before = all.get(match.path) ?? [];
      if (!before.some(({ of }) => of === word))
        scores.set(match.path, (scores.get(match.path) ?? 0) + rarity);
      all.set(match.path, [...before, { ...match, of: word }]);
    }
  }
  const files = orderFiles(scores).slice(0, 5);
  for (const path of files) {
    const start_line = Math.max(1, densest(all.get(path), words) - AROUND_LINES / 2);
    yield ["read_file", { path, start_line, max_lines: AROUND_LINES }];
  }
  for (const path of files) yield* lookIn(path, words);
  yield* pagesOf(files);
}

/** Reads blocks that a search has found, each once, and neighbours in one call. */
async function* readBlocks(blocks, seen) {
  const ranges = [];
  for (const { path, first_line: first, last_line: last } of blocks) {
    const near = ranges.find((one) => one.path === path && first <= one.last + 20 && last >= one.first - 20);
    if (near === undefined) ranges.push({ path, first, last });
    else [near.first, near.last] = [Math.min(near.first, first), Math.max(near.last, last)];
  }
  for (const { path, first, last } of ranges) {
    if (seen.some((one) => one.path === path && one.first <= first && last <= one.last)) continue;
    seen.push({ path, first, last });
    yield ["read_file", { path, start_line: first, max_lines: last - first + 1 }];
  }
}

/** Reads the two definitions of a file whose lines in its outline have the rarest words. */
async function* readSymbols(path, words, seen) {
  const outlined = yield ["outline", { path, max_tokens: 1500 }];
  const worth = ({ signature }) => {
    const lower = signature.toLowerCase();
    return words.reduce((sum, { word, rarity }) => sum + (lower.includes(word.slice(0, 6)) ? rarity : 0), 0);
  };
  const definitions = (outlined?.files ?? []).flatMap((file) => file.definitions);
  const isNew = ({ start_line, end_line }) =>
    !seen.some((one) => one.path === path && one.first <= start_line && end_line <= one.last);
  const fitting = definitions.filter(
    (one) => worth(one) > 0 && isNew(one) && one.end_line - one.start_line < PAGE_LINES,
  );
  for (const { name, start_line, end_line } of fitting.sort((a, b) => worth(b) - worth(a)).slice(0, 2)) {
    seen.push({ path, first: start_line, last: end_line });
    yield ["read_file", { path, symbol: name }];
  }
}

/** Orders blocks as {@link orderFiles} does files: tests, documents and the like come last. */
const sourcesFirst = (blocks) => [
  ...blocks.filter(({ path }) => isSource(path)),
  ...blocks.filter(({ path }) => !isSource(path)),
];

/**
 * Asks the question, reads the four best blocks, looks at the outline of the best file, asks again with
 * the rarest words alone, looks in the best files, and then reads these by pages.
 */
export async function* bySearch({ query, words }) {
  const seen = [];
  const first = yield ["search_code", { query }];
  const blocks = sourcesFirst(first?.blocks ?? []);
  yield* readBlocks(blocks.slice(0, 4), seen);
  const best = blocks[0]?.path;
  if (best !== undefined) yield* readSymbols(best, words, seen);
  const rare = words.slice(0, 4).map(({ word }) => word);
  const again = yield ["search_code", { query: rare.join(" ") || query }];
  const others = sourcesFirst(again?.blocks ?? []);
  yield* readBlocks(others.slice(0, 3), seen);
  const files = [...new Set([...blocks, ...others].map(({ path }) => path))].slice(0, 5);
  for (const path of files) yield* lookIn(path, words);
  yield* pagesOf(files);
}
