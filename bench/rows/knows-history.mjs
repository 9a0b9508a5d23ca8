// Measures which of the changed source files and lines of a commit ranked search finds by its message,
// beside BM25 over files and a count of keywords, as of a search with ripgrep.
//
// `--repositories FOLDER` has git directories with their whole history. Each commit is searched in
// its parent, whole: code, tests and documents. The shares are those that each method shows within one
// budget of lines, in the order of its blocks or windows, of which the last is cut; the order of the files
// has no budget. `dev` is the half on which constants are chosen.
import { basename } from "node:path";
import { checkedOut, chooseCommits, repositoriesIn } from "../lib/history-commits.mjs";
import { bm25, byKeywords, treeReader } from "../lib/history-texts.mjs";

/** The most commits of a repository. */
const MAX_COMMITS = 60;
/** The lines that an answer may have. */
const BUDGET_LINES = 200;

export const title = `knows-history: messages of commits; what ${BUDGET_LINES} lines of answer show of the change`;

const dcg = (gains) => gains.reduce((sum, gain, at) => sum + gain / Math.log2(at + 2), 0);

/** Returns the quality of an answer: blocks with `path`, `first` and `last`, best first. */
function judge(blocks, hunks) {
  const files = new Set(hunks.map(({ path }) => path));
  const order = [...new Set(blocks.map(({ path }) => path))].slice(0, 10);
  const ideal = dcg(Array(Math.min(10, files.size)).fill(1));
  const shown = withinBudget(blocks);
  const isShown = (path, line) =>
    shown.some((one) => one.path === path && one.first <= line && line <= one.last);
  const lines = hunks.flatMap(({ path, first, last }) =>
    Array.from({ length: last - first + 1 }, (_, at) => isShown(path, first + at)),
  );
  const found = [...files].filter((path) => shown.some((one) => one.path === path));
  return {
    "files, NDCG@10": dcg(order.map((path) => (files.has(path) ? 1 : 0))) / ideal,
    "share of changed files": found.length / files.size,
    "share of changed lines": lines.filter(Boolean).length / lines.length,
  };
}

function withinBudget(blocks) {
  let left = BUDGET_LINES;
  return blocks.flatMap(({ path, first, last }) => {
    const end = Math.min(last, first + left - 1);
    left -= Math.max(0, end - first + 1);
    return end < first ? [] : [{ path, first, last: end }];
  });
}

/** Returns the qualities of each commit by every method. */
async function judgeAll({ LocalBackend, SandboxPolicy, searchCode }, repositories) {
  const judged = [];
  for (const repository of repositories) {
    const read = treeReader();
    let backend;
    const commits = chooseCommits(repository, MAX_COMMITS);
    for (const { tree, query, hunks, half } of checkedOut(repository, commits)) {
      backend ??= new LocalBackend({ policy: SandboxPolicy.readOnly(tree) });
      const texts = read(tree);
      const { blocks } = await searchCode(backend, [tree], { query, limit: 100 });
      judged.push({
        name: basename(repository),
        half,
        ours: judge(blocks, hunks),
        "BM25 of files": judge(bm25(texts, query), hunks),
        "ripgrep by keywords": judge(byKeywords(texts, query), hunks),
      });
    }
    backend?.close();
  }
  return judged;
}

export async function* rows({ load, repositories }) {
  const found = repositoriesIn(repositories);
  const { LocalBackend, SandboxPolicy } = await load("index.node.js");
  const { searchCode } = await load("backends/search/search-code.js");
  const judged = await judgeAll({ LocalBackend, SandboxPolicy, searchCode }, found);
  const parts = [
    ...["dev", "held"].map((half) => [half, judged.filter((one) => one.half === half)]),
    ...[...new Set(judged.map(({ name }) => name))].map((name) => [
      name,
      judged.filter((one) => one.name === name),
    ]),
  ];
  for (const [part, commits] of parts) {
    const mean = (method, what) => commits.reduce((sum, one) => sum + one[method][what], 0) / commits.length;
    for (const what of Object.keys(commits[0]?.ours ?? {}))
      for (const peer of ["BM25 of files", "ripgrep by keywords"])
        yield {
          name: `${part}: ${what}`,
          peer,
          note: `${commits.length} commits`,
          ours_score: mean("ours", what),
          peer_score: mean(peer, what),
        };
  }
}
