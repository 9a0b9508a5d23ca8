// Measures the time of ranked search on a large tree, beside ripgrep with the rarest word of the same
// question; with `--full` the Linux sources. The questions are the words in the paths of files, every
// so many of them, so that they ask for all parts of the tree.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { makeLinuxTree, makeSmallTree } from "../lib/corpora.mjs";
import { runRipgrep } from "../lib/ripgrep.mjs";

/** The number of questions; each is asked in every round. */
const QUESTIONS = 100;
/** The rounds after the first one, in which the files of a question may be read for the first time. */
const ROUNDS = 4;
/** The most runs of ripgrep. */
const RIPGREP_RUNS = 20;

export const title =
  "knows-tree: milliseconds of search_code for 100 questions, by the state of what it keeps";

function* sourcesBelow(folder, prefix = "") {
  for (const entry of readdirSync(join(folder, prefix), { withFileTypes: true })) {
    const path = `${prefix}${entry.name}`;
    if (entry.isDirectory() && !entry.name.startsWith(".")) yield* sourcesBelow(folder, `${path}/`);
    else if (entry.isFile() && /\.(?:c|h|js|ts|py|rs|go)$/u.test(entry.name)) yield path;
  }
}

/** Returns questions: the words in the paths of files, at most five, the last ones. */
function questionsAbout(tree) {
  const paths = [...sourcesBelow(tree)].sort();
  const every = Math.max(1, Math.floor(paths.length / QUESTIONS));
  const chosen = paths.filter((_, at) => at % every === 0).slice(0, QUESTIONS);
  return chosen.map((path) =>
    [...new Set(path.replace(/\.\w+$/u, "").match(/[a-z]{3,}/gu))].slice(-5).join(" "),
  );
}

const at = (times, share) => times.toSorted((a, b) => a - b)[Math.floor((times.length - 1) * share)];

async function timed(run) {
  const begin = performance.now();
  const result = await run();
  return [performance.now() - begin, result];
}

/** Returns the milliseconds of ripgrep to name the files with the last word of some questions. */
async function timeRipgrep(tree, questions) {
  const every = Math.max(1, Math.floor(questions.length / RIPGREP_RUNS));
  const times = [];
  for (const question of questions.filter((_, index) => index % every === 0)) {
    const args = [
      "--files-with-matches",
      "--ignore-case",
      "--fixed-strings",
      "--",
      question.split(" ").at(-1),
      ".",
    ];
    times.push((await timed(() => runRipgrep(tree, args)))[0]);
  }
  return times;
}

export async function* rows({ load, full }) {
  const tree = process.env.FILEWRIGHT_BENCH_TREE ?? (full ? makeLinuxTree() : makeSmallTree());
  const questions = questionsAbout(tree);
  const { openWorkspace } = await load("filewright.node.js");
  const workspace = await openWorkspace({ root: tree, knows: true, history: false });
  try {
    const ask = async (query) => {
      const [time, result] = await timed(() => workspace.call("search_code", { query, timeout_ms: 600_000 }));
      if (!result.ok || !result.data.complete) throw new Error(result.text);
      return [time, result.data.files_searched];
    };
    const memory = process.memoryUsage.rss();
    const processor = process.cpuUsage();
    const [first, files] = await ask(questions[0]);
    const { user, system } = process.cpuUsage(processor);
    const grown = Math.round((process.memoryUsage.rss() - memory) / 1e6);
    const cost = `${Math.round((user + system) / 1000)} ms of processor time, ${grown} MB of memory`;
    yield { name: "the first question", note: `${Math.round(first)} ms; ${files} files, ${cost}` };
    const rounds = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const times = [];
      for (const question of questions) times.push((await ask(question))[0]);
      rounds.push(times);
    }
    const ripgrep = await timeRipgrep(tree, questions);
    const peer = "ripgrep: files with the last word";
    const note = (times) =>
      [0.5, 0.99].map((share) => `p${share * 100} ${at(times, share).toFixed(1)}`).join(", ");
    for (const [name, times] of [
      ["a question of which the files may be new", rounds[0]],
      ["a question asked before", rounds.slice(1).flat()],
    ])
      yield { name, peer, note: `${note(times)} ms against ${note(ripgrep)} ms` };
  } finally {
    await workspace.close();
  }
}
