// Reading how many tests passed out of what a test runner printed.

/** @typedef {{ passed: number, failed: number, skipped: number }} Results */

/** @param {Results[]} results @returns {Results} */
export function sum(results) {
  const add = (key) => results.reduce((total, one) => total + one[key], 0);
  return { passed: add("passed"), failed: add("failed"), skipped: add("skipped") };
}

/**
 * `cargo test` prints one line for each test binary; one that does not compile
 * or dies prints none, so a bad status alone is a failure.
 * @returns {Results}
 */
export function cargoResults(output, status) {
  const lines = output.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/gm);
  const all = [...lines]
    .map(([, ...n]) => n.map(Number))
    .map(([passed, failed, skipped]) => ({ passed, failed, skipped }));
  return honest(sum(all), status);
}

/** The last line of the form `N passed, N failed[, N skipped]`. @returns {Results} */
export function lastResults(output, status) {
  const line = [...output.matchAll(/^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm)].at(-1) ?? [];
  const [passed = 0, failed = 0, skipped = 0] = line.slice(1).map((n) => Number(n ?? 0));
  return honest({ passed, failed, skipped }, status);
}

const honest = (results, status) =>
  status !== 0 && results.failed === 0 ? { ...results, failed: 1 } : results;
