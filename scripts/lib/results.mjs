// Reads from the output of test runners how many tests passed, and which failed.

/**
 * `why` says of each failure what its runner said, so that it can be told again at the end.
 * @typedef {{ passed: number, failed: number, skipped: number, why?: string[] }} Results
 */

/**
 * The maximum number of lines and of characters that are repeated of one failure. The rest is in
 * the output above.
 */
const [MAX_LINES, MAX_CHARACTERS] = [40, 4_000];

/** @param {Results[]} results @returns {Results} the counts alone */
export function sumResults(results) {
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
  const parts = output.split(/^failures:$/m).slice(1);
  return withRunFailure(
    { ...sumResults(all), why: parts.map((part) => shortenFailure(part.trim())) },
    status,
  );
}

/**
 * What vitest's JSON reporter wrote. A file that cannot be loaded has no test that could fail,
 * and counts as one; so does a run that ends badly for a reason of its own, as too few lines run.
 * @returns {Results}
 */
export function vitestResults(report, status) {
  const why = report.testResults.flatMap((file) => {
    const tests = file.assertionResults.filter((test) => test.status === "failed");
    if (tests.length === 0 && file.status === "failed") return [`${file.name}\n${file.message}`];
    return tests.map((test) => [file.name, test.fullName, ...test.failureMessages].join("\n"));
  });
  const { numPassedTests: passed, numPendingTests: pending, numTodoTests: todo } = report;
  return withRunFailure(
    { passed, failed: why.length, skipped: pending + todo, why: why.map(shortenFailure) },
    status,
  );
}

/**
 * Returns the test files of a report of vitest that took longest, and their seconds.
 * @returns {{ file: string, seconds: number }[]}
 */
export function slowestFiles(report, count) {
  const files = report.testResults.map(({ name, startTime, endTime }) => ({
    file: name,
    seconds: (endTime - startTime) / 1000,
  }));
  return files.sort((a, b) => b.seconds - a.seconds).slice(0, count);
}

/**
 * Returns the tests of a report of vitest that were skipped and are not in files of which that is permitted.
 *
 * @param {readonly string[]} permitted the ends of the paths of files
 * @returns {string[]} the file and the title of each
 */
export const otherSkippedTests = (report, permitted) =>
  report.testResults
    .filter(({ name }) => !permitted.some((file) => name.endsWith(`/${file}`)))
    .flatMap(({ name, assertionResults }) =>
      assertionResults
        .filter(({ status }) => status === "skipped" || status === "pending")
        .map(({ fullName }) => `${name}\n${fullName}`),
    );

const shortenFailure = (text) => text.split("\n").slice(0, MAX_LINES).join("\n").slice(0, MAX_CHARACTERS);

/** Reads the last line of the form `N passed, N failed[, N skipped]`. @returns {Results} */
export function resultsOfLastLine(output, status) {
  const line = [...output.matchAll(/^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm)].at(-1) ?? [];
  const [passed = 0, failed = 0, skipped = 0] = line.slice(1).map((n) => Number(n ?? 0));
  const why = [...output.matchAll(/^FAIL .*(?:\n +.*)*/gm)].map(([text]) => shortenFailure(text));
  return withRunFailure({ passed, failed, skipped, why }, status);
}

const withRunFailure = (results, status) =>
  status !== 0 && results.failed === 0
    ? { ...results, failed: 1, why: ["no test failed, and yet the run did: see what it printed last"] }
    : results;
