// Measures the calls and tokens until an agent has seen the place of a change: with ranked search and
// outlines beside grep and reads, and with grep and reads alone.
//
// The tasks are commits of one source file from `--repositories FOLDER`, with at most three changes of at
// most 30 lines each; the place is the largest. The agents are scripts (`bench/lib/replay.mjs`). A
// place that is not found counts with all calls and tokens that were spent on it.
import { checkedOut, chooseCommits, repositoriesIn } from "../lib/history-commits.mjs";
import { treeReader } from "../lib/history-texts.mjs";
import { byFiles, byLines, bySearch, MAX_CALLS, rareWords, replay, TOKEN_BYTES } from "../lib/replay.mjs";

/** The tasks, of all repositories together. */
const MAX_TASKS = 100;
/** The calls within which a place is found soon. */
const FEW_CALLS = 5;
/** The aim for ranked search: its share of the peer's calls and tokens. */
const MAX_SHARE = 0.5;

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
  const share = Math.ceil(MAX_TASKS / repositories.length);
  for (const repository of repositories) {
    const most = Math.min(share, MAX_TASKS - done.length);
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

/** The tools that know the repository. */
const KNOWING = ["search_code", "find_symbol", "outline", "changes_since", "find_files"];

/** Yields the tokens of the definitions of these tools, which are part of every request, beside all others. */
async function* definitionRows(openWorkspace, root) {
  const workspace = await openWorkspace({ root, knows: true, history: false });
  const tokens = ({ name, description, inputSchema }) =>
    Math.round(JSON.stringify({ name, description, inputSchema }).length / TOKEN_BYTES);
  const [knowing, others] = [[], []];
  for (const tool of workspace.tools) (KNOWING.includes(tool.name) ? knowing : others).push(tool);
  const peer_count = others.reduce((sum, tool) => sum + tokens(tool), 0);
  const peer = `the other ${others.length} tools`;
  for (const tool of knowing)
    yield { name: `definition of ${tool.name}`, peer, ours_count: tokens(tool), peer_count };
  await workspace.close();
}

export async function* rows({ load, root, repositories }) {
  const found = repositoriesIn(repositories);
  const { openWorkspace } = await load("index.node.js");
  yield* definitionRows(openWorkspace, root);
  const done = await runTasks(openWorkspace, found);
  const halves = {
    all: done,
    dev: done.filter(({ half }) => half === "dev"),
    held: done.filter(({ half }) => half === "held"),
  };
  for (const [half, tasks] of Object.entries(halves))
    for (const peer of Object.keys(PEERS)) {
      yield* spentRows(half, tasks, peer);
      yield* foundRows(half, tasks, peer);
    }
}

/** Yields the medians and means of the calls and tokens of both agents. */
function* spentRows(half, tasks, peer) {
  for (const unit of ["calls", "tokens"])
    for (const [how, average] of Object.entries({ median, mean })) {
      const of = (who) => Math.round(10 * average(tasks.map((task) => task[who][unit]))) / 10;
      yield {
        name: `${half}: ${unit}, ${how}`,
        peer,
        unit: unit === "tokens" ? "tok" : unit,
        ours_count: of("ours"),
        peer_count: of(peer),
        most: MAX_SHARE,
      };
    }
}

/** Yields the shares of the tasks whose places both agents found, at all and soon. */
function* foundRows(half, tasks, peer) {
  for (const [name, maxCalls] of Object.entries({
    found: MAX_CALLS,
    [`found in ${FEW_CALLS} calls`]: FEW_CALLS,
  })) {
    const share = (who) =>
      mean(tasks.map((task) => Number(task[who].isFound && task[who].calls <= maxCalls)));
    yield {
      name: `${half}: ${name}`,
      peer,
      note: `${tasks.length} tasks`,
      ours_score: share("ours"),
      peer_score: share(peer),
    };
  }
}
