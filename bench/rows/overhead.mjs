// Measures what a call costs in addition to the work of the backend: checking arguments, hooks,
// locations and rules, rendering. The processor time of this process is measured, on which other
// load has little influence, against fixed goals: 30 µs more than the backend, 20,000 calls per
// second.
import { median } from "../lib/measure.mjs";

export const title = "overhead: small calls through ws.call, in processor time, against the goals";

const GOAL_OVERHEAD_US = 30;
const GOAL_CALL_US = 1e6 / 20_000;
const ROUND_COUNT = 9;

export async function* rows({ load }) {
  const { MemoryBackend, openWorkspace, usageCounter } = await load("index.node.js");
  const backend = new MemoryBackend({ "/w/a.txt": "hello\nworld\n" });
  const ws = await openWorkspace({ backend, root: "/w" });
  const calls = [
    ["stat", { path: "a.txt" }, () => ws.fs.stat("/w/a.txt")],
    ["read_file", { path: "a.txt" }, () => ws.fs.read("/w/a.txt", {})],
    ["list_directory", { path: "." }, () => ws.fs.listDir("/w")],
    ["mkdir", { path: "." }, () => ws.fs.stat("/w")],
  ];
  for (const [tool, args, below] of calls) {
    const [ours, theirs] = await measureAlternately(() => ws.call(tool, args), below);
    yield goalRow(`${tool}, above the backend`, Math.max(ours - theirs, 0.01), GOAL_OVERHEAD_US, "30 µs");
    yield goalRow(
      `${tool}, all of it`,
      ours,
      GOAL_CALL_US,
      "20,000 calls/s",
      `${callsPerSecond(ours)} calls/s`,
    );
  }

  const preset = await openWorkspace({ backend, root: "/w", preset: "claude" });
  const [spoken, own] = await measureAlternately(
    () => preset.call("Read", { file_path: "a.txt" }),
    () => ws.call("read_file", { path: "a.txt" }),
  );
  yield comparisonRow("read_file under a preset", "without", spoken, own);

  const watched = await openWorkspace({ backend, root: "/w", observers: [usageCounter()] });
  const [seen, unseen] = await measureAlternately(
    () => watched.call("stat", { path: "a.txt" }),
    () => ws.call("stat", { path: "a.txt" }),
  );
  yield comparisonRow("stat with counters", "without", seen, unseen);
  await Promise.all([ws, preset, watched].map((one) => one.close()));
}

/**
 * Returns the processor time in microseconds of each of two calls, which are measured alternately.
 */
async function measureAlternately(ours, theirs) {
  const samples = { ours: [], theirs: [] };
  for (const run of [ours, theirs]) await processorTimePerRun(run, 3000);
  for (let round = 0; round < ROUND_COUNT; round++) {
    samples.ours.push(await processorTimePerRun(ours, 2000));
    samples.theirs.push(await processorTimePerRun(theirs, 2000));
  }
  return [median(samples.ours), median(samples.theirs)];
}

async function processorTimePerRun(run, times) {
  const before = process.cpuUsage();
  for (let count = 0; count < times; count++) await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}

const callsPerSecond = (us) => Math.round(1e6 / us).toLocaleString("en");

const goalRow = (name, us, goalUs, peer, note) => ({
  name,
  peer,
  goal: 1,
  ours_ms: us / 1000,
  peer_ms: goalUs / 1000,
  faster: goalUs / us,
  rounds: ROUND_COUNT,
  ...(note === undefined ? {} : { note }),
});

const comparisonRow = (name, peer, us, otherUs) => ({
  name,
  peer,
  ours_ms: us / 1000,
  peer_ms: otherUs / 1000,
  faster: otherUs / us,
  rounds: ROUND_COUNT,
});
