// Measures searches of a process that has just started: the first query, loading an index that an
// earlier process saved, and finding names in an indexed tree; with `--full` in the Linux sources
// and a large node_modules.
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeLinuxTree, makeModulesTree, makeSmallTree } from "../lib/corpora.mjs";
import { median, compareLongRuns, assertSameResult, timeRun } from "../lib/measure.mjs";
import { runRipgrep } from "../lib/ripgrep.mjs";

export const title =
  "beginning: the first query, a warm start, names; peers are ripgrep 15 processes or what the goal allows";

export async function* rows({ load, full }) {
  const { LocalBackend, SandboxPolicy } = await load("index.node.js");
  const trees = full ? [makeLinuxTree(), makeModulesTree()] : [makeSmallTree()];
  for (const tree of trees) {
    const policy = SandboxPolicy.readOnly(tree);
    const name = tree.split("/").at(-1);
    for (const part of [firstQueryRows, savedIndexRows, nameSearchRows])
      for await (const row of part({ LocalBackend, policy, tree }))
        yield { ...row, name: `${name}: ${row.name}` };
  }
}

/** Measures the first query, without an index. It starts building one in the background. */
async function* firstQueryRows({ LocalBackend, policy, tree }) {
  const query = { pattern: "tryGetModuleNameFromFile", regex: false, respectIgnore: false };
  const peer = () =>
    runRipgrep(tree, ["--no-ignore", "--no-heading", "-n", "--fixed-strings", "-e", query.pattern, "."]);
  let backend;
  const ours = async () => {
    backend?.dispose();
    backend = new LocalBackend({ policy });
    return backend.grep(tree, query);
  };
  assertSameResult("lines", (await ours()).totalMatches, (await peer()).split("\n").length - 1);
  // Discards the index of the previous round, so that building it does not disturb ripgrep.
  const theirs = () => {
    backend?.dispose();
    return peer();
  };
  const measured = await compareLongRuns(ours, theirs, { rounds: 7 });
  backend?.dispose();
  yield { name: "the first query", peer: "ripgrep", goal: 0.9, ...measured };
}

/**
 * Measures loading a saved index against the time to check the metadata of every file once, plus
 * 100 ms.
 */
async function* savedIndexRows({ LocalBackend, policy, tree }) {
  const stateDir = mkdtempSync(join(tmpdir(), "filewright-bench-"));
  try {
    const made = new LocalBackend({ policy, stateDir });
    const rss = process.memoryUsage().rss;
    const took = await timeRun(() => made.warm(tree));
    const status = await made.indexStatus(tree);
    const grown = process.memoryUsage().rss - rss;
    const kept = await savedIndexBytes(join(stateDir, "indexes"));
    const ratio = (status.memoryBytes / status.corpusBytes).toFixed(3);
    console.log(
      `${tree.split("/").at(-1)}: ${status.files} files made in ${took.toFixed(0)} ms, ${ratio} bytes a byte, RSS +${(grown / 1e6).toFixed(0)} MB, kept in ${(kept / 1e6).toFixed(0)} MB`,
    );
    const absent = { pattern: "zqxj_absent_everywhere", regex: false };
    const scan = () => runRipgrep(tree, ["--no-require-git", "--fixed-strings", "-e", absent.pattern, "."]);
    const scanned = median([await timeRun(scan), await timeRun(scan), await timeRun(scan)]);
    yield { name: "making an index", peer: "six ripgreps", ...resultWithEqualGoal(took, 6 * scanned) };
    const samples = [];
    for (let round = 0; round < 5; round++) {
      const sweep = await timeRun(() => made.grep(tree, { ...absent, strict: true }));
      const backend = new LocalBackend({ policy, stateDir });
      const start = await timeRun(() => backend.warm(tree));
      assertSameResult("files", (await backend.indexStatus(tree)).unsigned, 0);
      backend.dispose();
      samples.push({ start, allowed: sweep + 100 });
    }
    made.dispose();
    const [start, allowed] = ["start", "allowed"].map((side) => median(samples.map((one) => one[side])));
    yield { name: "a warm start", peer: "one sweep and 100 ms", ...resultWithEqualGoal(start, allowed) };
  } finally {
    rmSync(stateDir, { recursive: true, force: true });
  }
}

/** Measures finding names in the tree of an index. */
async function* nameSearchRows({ LocalBackend, policy, tree }) {
  const backend = new LocalBackend({ policy });
  await backend.warm(tree);
  const asked = [
    ["names by an ending", 3, () => backend.find(tree, { pattern: "**/*.h" })],
    ["names by both ends", 3, () => backend.find(tree, { pattern: "**/ext4*.c" })],
    ["files by letters", 1, () => backend.findFiles(tree, { query: "ext4ino", typos: 0 })],
    ["files by letters, one wrong", 4, () => backend.findFiles(tree, { query: "kmallloc.h" })],
  ];
  for (const [name, allowed, ours] of asked) {
    const took = [];
    for (let round = 0; round < 30; round++) took.push(await timeRun(ours));
    yield { name, peer: "what the goal allows", ...resultWithEqualGoal(median(took), allowed) };
  }
  backend.dispose();
}

/** Returns the result of a row whose goal is that ours takes at most as long as the peer. */
const resultWithEqualGoal = (ours_ms, peer_ms) => ({ ours_ms, peer_ms, faster: peer_ms / ours_ms, goal: 1 });

/** Waits until the saved index in a folder is complete, and returns its size in bytes. */
async function savedIndexBytes(folder) {
  for (;;) {
    const [name] = namesInFolder(folder).filter((entry) => !entry.endsWith(".new"));
    if (name !== undefined) return statSync(join(folder, name)).size;
    await new Promise((done) => setTimeout(done, 20));
  }
}

function namesInFolder(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
