// Measuring two things side by side. Everything reported is a ratio: both run
// alternately in the same minute, and the ratio is the median of the rounds, so
// that a busy machine slows both and a single odd run counts for nothing.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Bench } from "tinybench";

setFlagsFromString("--expose-gc");
/** Collects what was left: each side pays for its own garbage, and not for the other's. */
const collect = runInNewContext("gc");

/** The middle of some numbers. */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Milliseconds that one run takes. */
export async function time(run) {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

/** The middle latency of a short call in milliseconds, by tinybench. */
async function latency(run, milliseconds) {
  const bench = new Bench({
    time: milliseconds,
    warmupTime: milliseconds / 5,
    iterations: 3,
    warmupIterations: 1,
  });
  bench.add("call", run);
  await bench.run();
  const { result } = bench.tasks[0];
  if (result.latency === undefined) throw result.error ?? new Error(`the benchmark ${result.state}`);
  return result.latency.p50;
}

async function alternate(ours, peer, rounds, one) {
  const samples = [];
  for (let round = 0; round < rounds; round++) {
    // Turns about who goes first, so that neither always finds the caches warm.
    const first = round % 2 === 0;
    const turn = async (run) => {
      collect();
      return one(run);
    };
    const a = first ? await turn(ours) : undefined;
    const b = await turn(peer);
    samples.push({ ours: a ?? (await turn(ours)), peer: b });
  }
  return {
    ours_ms: median(samples.map(({ ours }) => ours)),
    peer_ms: median(samples.map(({ peer }) => peer)),
    faster: median(samples.map(({ ours, peer }) => peer / ours)),
    rounds,
  };
}

/** Calls of microseconds to milliseconds. */
export const calls = (ours, peer, { rounds = 5, milliseconds = 100 } = {}) =>
  alternate(ours, peer, rounds, (run) => latency(run, milliseconds));

/** Runs of tens of milliseconds and more; each is made once before it is timed. */
export async function runs(ours, peer, { rounds = 5, warm = true } = {}) {
  if (warm) {
    await ours();
    await peer();
  }
  return alternate(ours, peer, rounds, time);
}

/** Fails a row whose sides do not give the same answer: a wrong result has no speed. */
export function same(what, ours, peer) {
  const [a, b] = [JSON.stringify(ours), JSON.stringify(peer)];
  if (a !== b) throw new Error(`${what} differ: ours ${cut(a)}, theirs ${cut(b)}`);
}

const cut = (text = "undefined") => (text.length > 300 ? `${text.slice(0, 300)}…` : text);
