// Runs the contract of storages outside of a test runner.

/** The optional methods that the storages of other machines have. */
const REQUIRED = ["statMany", "snapshot", "fork", "merge", "drop", "history", "records"];

/**
 * Runs the contract of storages, and returns the number of its cases and one line for each failure.
 * @param {string} name of the server
 * @param {() => Promise<{ storage: import("../../../dist/cli/library.js").Storage, second: import("../../../dist/cli/library.js").Storage }>} make
 */
export async function contractFailures(name, make) {
  const { storageContract } = await import("../../../dist/cli/library.js");
  const cases = [];
  storageContract(make, { test: (title, run) => cases.push({ title, run }), requires: REQUIRED });
  const failures = [];
  for (const { title, run } of cases) {
    await run().catch((error) => failures.push(`${name}: ${title}: ${error.message}`));
  }
  console.log(`${name}: ${cases.length} cases of the contract, ${failures.length} failures`);
  return { cases: cases.length, failures };
}
