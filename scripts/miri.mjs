// Runs some tests of the core under Miri, an interpreter that detects undefined behaviour: reads
// past the end, invalid aliasing, uninitialised bytes. They are those of the only module of the
// core with `unsafe`, which finds line feeds, and of modules that pass raw bytes to crates with
// `unsafe`. Miri is thousands of times slower than the compiled tests, so only these few run (half
// a minute in all), and not in CI. Prints a note and skips them if Miri is not installed.
//
//   node scripts/miri.mjs [FILTER ...]
//
// Needs: rustup component add --toolchain nightly miri rust-src
import { join } from "node:path";
import { runScript, root, runAndWait } from "./lib/run.mjs";

/**
 * The test filters of the modules with `unsafe`, and of those that handle raw bytes and whose tests
 * are short.
 */
export const TEST_FILTERS = ["diff::newlines", "path::", "windows::", "access::fold", "patch::quoted"];

/**
 * Runs the tests that match the filters.
 * @returns the numbers of filters that passed, failed and were skipped
 */
export function runMiri(filters = TEST_FILTERS) {
  const found = runAndWait("cargo", ["+nightly", "miri", "--version"], { capture: true, check: false });
  if (found.status !== 0) {
    console.log("miri: skipped, there is none (rustup component add --toolchain nightly miri rust-src)");
    return { passed: 0, failed: 0, skipped: filters.length };
  }
  const env = {
    CARGO_TARGET_DIR: join(root, "target/miri"),
    // Few cases of each property test, and no file in which failures are recorded.
    PROPTEST_CASES: "4",
    PROPTEST_DISABLE_FAILURE_PERSISTENCE: "true",
    MIRIFLAGS: "-Zmiri-disable-isolation",
  };
  const args = ["+nightly", "miri", "test", "-p", "filewright-core", "--lib", "--", ...filters];
  const { status } = runAndWait("cargo", args, { env, check: false });
  return { passed: status === 0 ? filters.length : 0, failed: status === 0 ? 0 : 1, skipped: 0 };
}

if (process.argv[1] === join(root, "scripts/miri.mjs")) {
  await runScript(() => {
    const named = process.argv.slice(2);
    if (runMiri(named.length > 0 ? named : TEST_FILTERS).failed > 0) process.exitCode = 1;
  });
}
