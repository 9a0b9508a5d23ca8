// Measures the calls and tokens until an agent has seen the place of a change: with ranked search and
// outlines, and with grep, glob and read_file alone.
//
// The tasks are commits of one source file from `--repositories FOLDER`; the place is the largest of at
// most three changes, and has at most 30 lines. The agents are scripts (`bench/lib/replay.mjs`). A
// place that is not found counts with all calls and tokens that were spent on it.
import { checkedOut, chooseCommits, repositoriesIn } from "../lib/history-commits.mjs";
import { treeReader } from "../lib/history-texts.mjs";
import { byFiles, byLines, bySearch, rareWords, replay } from "../lib/replay.mjs";

/** The tasks, of all repositories together. */
const MOST_TASKS = 100;
/** The share of the peer's calls and tokens that ranked search may need. */
const MOST_SHARE = 0.5;

export const title = "knows-tasks: calls and tokens until the place of a change has been shown";

/** The agents that do without ranked search. */
const PEERS = { "grep for files, then read": byFiles, "grep for lines, then read": byLines };

/** Returns the place of a task; undefined for a commit that is none. */
function placeOf({ paths, hunks }) {
  const lines = ({ first, last }) => last - first + 1;
  if (paths.length > 1 || hunks.length > 3 || hunks.some((hunk) => lines(hunk) > 30)) return undefined;
  return hunks.reduce((best, hunk) => (lines(hunk) > lines(best) ? hunk : best));
}

/** Returns what each agent spent on each task. */
async function runTasks(openWorkspace, repositories) {
  const done = [];
  const share = Math.ceil(MOST_TASKS / repositories.length);
  for (const repository of repositories) {
    const most = Math.min(share, MOST_TASKS - done.length);
    const commits = chooseCommits(repository, most, (commit) => placeOf(commit) !== undefined);
    const read = treeReader();
    let workspace;
    for (const { tree, query, half, id, ...commit } of checkedOut(repository, commits)) {
      workspace ??= await openWorkspace({ root: tree, knows: true, history: false });
      const task = { query, words: rareWords(query, read(tree)), place: placeOf(commit) };
      const result = { id, half, ...task, ours: await replay(workspace, bySearch, task) };
      for (const [peer, strategy] of Object.entries(PEERS))
        result[peer] = await replay(workspace, strategy, task);
      done.push(result);
    }
    await workspace?.close();
  }
  return done;
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

export async function* rows({ load, repositories }) {
  const found = repositoriesIn(repositories);
  const { openWorkspace } = await load("index.node.js");
  const done = await runTasks(openWorkspace, found);
  const halves = {
    all: done,
    dev: done.filter(({ half }) => half === "dev"),
    held: done.filter(({ half }) => half === "held"),
  };
  for (const [half, tasks] of Object.entries(halves))
    for (const peer of Object.keys(PEERS)) {
      const of = (who, what) => tasks.map((task) => task[who][what]);
      for (const unit of ["calls", "tokens"])
        for (const [how, average] of Object.entries({ median, mean }))
          yield {
            name: `${half}: ${unit}, ${how}`,
            peer,
            unit: unit === "tokens" ? "tok" : unit,
            ours_count: Math.round(10 * average(of("ours", unit))) / 10,
            peer_count: Math.round(10 * average(of(peer, unit))) / 10,
            most: MOST_SHARE,
          };
      const share = (who) => mean(of(who, "isFound").map(Number));
      yield {
        name: `${half}: found`,
        peer,
        note: `${tasks.length} tasks`,
        ours_score: share("ours"),
        peer_score: share(peer),
      };
    }
}
