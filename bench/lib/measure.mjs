// Measures the ratio of the times of two functions. They run alternately, and the ratio is the
// median of several rounds, so that other load on the machine slows both, and a single slow run has
// no effect.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Bench } from "tinybench";

setFlagsFromString("--expose-gc");
/**
 * Collects garbage before each measurement, so that neither function pays for the garbage of the
 * other.
 */
export const collectGarbage = runInNewContext("gc");

/** Returns the median of some numbers. */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Returns the mean of the middle eight tenths of some numbers, which a few disturbed ones do not change. */
export function meanOfMiddle(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const cut = Math.floor(sorted.length / 10);
  const middle = sorted.slice(cut, sorted.length - cut);
  return middle.reduce((sum, each) => sum + each, 0) / middle.length;
}

/** Returns some items in a random order. */
export function shuffled(items) {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** Returns the interval that has the true median of such numbers in 95 of 100 cases, by the bootstrap. */
export function medianInterval(numbers, resamples = 2000) {
  const medians = Array.from({ length: resamples }, () =>
    median(numbers.map(() => numbers[Math.floor(Math.random() * numbers.length)])),
  ).sort((a, b) => a - b);
  return [medians[Math.floor(resamples * 0.025)], medians[Math.floor(resamples * 0.975)]];
}

/** Returns the time of one run in milliseconds. */
export async function timeRun(run) {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

/**
 * Returns the median time of a short call in milliseconds, measured by tinybench for this number of
 * milliseconds.
 */
async function medianLatency(run, milliseconds) {
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

/**
 * Runs both functions in each round, measured by `one`, and returns the medians of their times and
 * of the ratio, and the interval of the median ratio.
 */
async function measureAlternately(ours, peer, rounds, one) {
  const samples = [];
  for (let round = 0; round < rounds; round++) {
    // Each side goes first in every other round, so that neither always finds the caches warm.
    const first = round % 2 === 0;
    const turn = async (run) => {
      collectGarbage();
      return one(run);
    };
    const a = first ? await turn(ours) : undefined;
    const b = await turn(peer);
    samples.push({ ours: a ?? (await turn(ours)), peer: b });
  }
  const ratios = samples.map(({ ours, peer }) => peer / ours);
  return {
    ours_ms: median(samples.map(({ ours }) => ours)),
    peer_ms: median(samples.map(({ peer }) => peer)),
    faster: median(ratios),
    faster_interval: medianInterval(ratios),
    rounds,
  };
}

/**
 * Measures two calls that take microseconds to milliseconds. Each is called many times in each
 * round.
 */
export const compareShortCalls = (ours, peer, { rounds = 5, milliseconds = 100 } = {}) =>
  measureAlternately(ours, peer, rounds, (run) => medianLatency(run, milliseconds));

/**
 * Measures two calls that take tens of milliseconds or more. Each is called once in each round, and
 * with `warm` once before.
 */
export async function compareLongRuns(ours, peer, { rounds = 5, warm = true } = {}) {
  if (warm) {
    await ours();
    await peer();
  }
  return measureAlternately(ours, peer, rounds, timeRun);
}

/** Throws an error, which fails the row, if the two sides have different results. */
export function assertSameResult(what, ours, peer) {
  const [a, b] = [JSON.stringify(ours), JSON.stringify(peer)];
  if (a !== b) throw new Error(`${what} differ: ours ${shortenText(a)}, theirs ${shortenText(b)}`);
}

const shortenText = (text = "undefined") => (text.length > 300 ? `${text.slice(0, 300)}…` : text);
