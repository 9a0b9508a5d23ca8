// Measures the quality of ranked search beside BM25 and keywords with ripgrep, and its time.
//
// Quality is NDCG@10: of files, and of blocks, where one counts that has the first line of the
// answer. All packages of a half are one tree. `dev` is the half on which constants are chosen.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { makeKnowsCorpus } from "../lib/knows-corpus.mjs";
import { questionsAbout, STOP } from "../lib/knows-queries.mjs";

export const title = "knows: questions in words over 34 packages; NDCG@10 of files, and of blocks";

const dcg = (gains) => gains.reduce((sum, gain, at) => sum + gain / Math.log2(at + 2), 0);
const ideal = (count) => dcg(Array(Math.min(10, count)).fill(1));

/** Returns the quality of an answer: blocks with `path`, `first` and `last`, best first. */
function judge(blocks, relevant) {
  const files = new Set(relevant.map(({ path }) => path));
  const order = [...new Set(blocks.map(({ path }) => path))].slice(0, 10);
  const left = new Set(relevant);
  const gains = blocks.slice(0, 10).map(({ path, first, last }) => {
    const hit = [...left].find((one) => one.path === path && first <= one.first && one.first <= last);
    if (hit === undefined || last - first > 400) return 0;
    left.delete(hit);
    return 1;
  });
  return {
    file: dcg(order.map((path) => (files.has(path) ? 1 : 0))) / ideal(files.size),
    block: dcg(gains) / ideal(relevant.length),
  };
}

const plainWords = (text) => (text.match(/[A-Za-z_$][A-Za-z0-9_$]*/gu) ?? []).map((one) => one.toLowerCase());
const keywords = (query) => [...new Set(plainWords(query))].filter((one) => !STOP.has(one) && one.length > 2);

/** Files by BM25 over their words as written. */
function bm25(files) {
  const postings = new Map();
  const lengths = files.map(({ text }, file) => {
    const all = plainWords(text);
    const counts = new Map();
    for (const word of all) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const [word, count] of counts) {
      if (!postings.has(word)) postings.set(word, []);
      postings.get(word).push([file, count]);
    }
    return all.length;
  });
  const mean = lengths.reduce((a, b) => a + b, 0) / files.length;
  return (query) => {
    const scores = new Map();
    for (const word of new Set(plainWords(query).filter((one) => !STOP.has(one) && one.length > 1))) {
      const list = postings.get(word) ?? [];
      const rare = Math.log(1 + (files.length - list.length + 0.5) / (list.length + 0.5));
      for (const [file, count] of list) {
        const long = 0.25 + (0.75 * lengths[file]) / mean;
        scores.set(file, (scores.get(file) ?? 0) + (rare * 2.2 * count) / (count + 1.2 * long));
      }
    }
    return [...scores]
      .sort((a, b) => b[1] - a[1] || a[0] - b[0])
      .slice(0, 10)
      .map(([file]) => wholeFile(files[file]));
  };
}

/** Files by the number of keywords in them, as an agent finds them with one call of `rg -il` for each. */
function byKeywords(files) {
  const texts = files.map(({ text }) => text.toLowerCase());
  return (query) => {
    const asked = keywords(query);
    const found = texts.map((text, file) => [asked.filter((one) => text.includes(one)).length, file]);
    return found
      .filter(([count]) => count > 0)
      .sort((a, b) => b[0] - a[0] || a[1] - b[1])
      .slice(0, 10)
      .map(([, file]) => wholeFile(files[file]));
  };
}

const wholeFile = ({ path, text }) => ({ path, first: 1, last: text.split("\n").length });

async function qualityOf(questions, search) {
  const sum = { file: 0, block: 0 };
  const times = [];
  for (const { query, relevant } of questions) {
    const begun = performance.now();
    const blocks = await search(query);
    times.push(performance.now() - begun);
    const { file, block } = judge(blocks, relevant);
    sum.file += file / questions.length;
    sum.block += block / questions.length;
  }
  return { ...sum, median_ms: times.sort((a, b) => a - b)[times.length >> 1] };
}

export async function* rows({ load }) {
  const { LocalBackend, SandboxPolicy } = await load("index.node.js");
  const { searchCode } = await load("backends/search/search-code.js");
  const corpus = makeKnowsCorpus();
  for (const half of ["dev", "held"]) {
    const { files: all, questions } = questionsAbout(corpus, half);
    const files = all.map(({ path, lines }) => ({ path, text: lines.join("\n") }));
    files.sort((a, b) => (a.path < b.path ? -1 : 1));
    const tree = mkdtempSync(join(tmpdir(), "knows-"));
    try {
      for (const { path, text } of files) {
        mkdirSync(dirname(join(tree, path)), { recursive: true });
        writeFileSync(join(tree, path), text);
      }
      const backend = new LocalBackend({ policy: SandboxPolicy.readOnly(tree) });
      const search = async (query) => (await searchCode(backend, [tree], { query, limit: 50 })).blocks;
      const begun = performance.now();
      await search(questions[0].query);
      const first_ms = performance.now() - begun;
      const ours = await qualityOf(questions, search);
      backend.close();
      const note = `${files.length} files, ${questions.length} questions`;
      const peers = {
        "BM25 of files, words as written": bm25(files),
        "ripgrep by keywords": byKeywords(files),
      };
      for (const [peer, ask] of Object.entries(peers)) {
        const theirs = await qualityOf(questions, ask);
        for (const what of ["file", "block"])
          yield { name: `${half}: ${what}s`, peer, note, ours_score: ours[what], peer_score: theirs[what] };
      }
      yield {
        name: `${half}: first question / median of the others`,
        peer: "",
        ours_ms: first_ms,
        peer_ms: ours.median_ms,
      };
    } finally {
      rmSync(tree, { recursive: true, force: true });
    }
  }
}
