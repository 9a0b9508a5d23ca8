// Runs some tests of the core under Miri, an interpreter that detects undefined behaviour: reads
// past the end, invalid aliasing, uninitialised bytes. They are those of the modules of the core
// with `unsafe`, and of modules that pass raw bytes to crates with `unsafe`. Miri is thousands of
// times slower than the compiled tests, so only these few run, and not in CI. Prints a note and
// skips them if Miri is not installed.
//
//   node scripts/miri.mjs [FILTER ...]
//   node scripts/miri.mjs --check   checks the filters only, without Miri: each matches a test, and
//                                   they run a test of every module with `unsafe`
//
// Needs: rustup component add --toolchain nightly miri rust-src
import { join } from "node:path";
import { coreTestPrograms } from "./coverage-core.mjs";
import { runScript, root, runAndWait } from "./lib/run.mjs";
import { modulePath, modulesOfCrate } from "./lib/rust-modules.mjs";

const CORE_TESTS = ["-p", "filewright-core", "--lib"];

/**
 * The test filters of the modules with `unsafe`, and of those that handle raw bytes and whose tests
 * are short.
 */
export const TEST_FILTERS = [
  "diff::newlines",
  "search::gram_extractor",
  "text::path",
  "text::windows_names",
  "pattern::policy::fold",
  "patch::quoted",
];

/**
 * Returns the paths of the modules of a crate whose code contains `unsafe`, without `crate::`. Tests
 * are left out.
 *
 * @param {string} checkout
 * @param {string} crateRoot the file of the crate's root, relative to the checkout
 */
export function unsafeModules(checkout, crateRoot = "crates/core/src/lib.rs") {
  return modulesOfCrate(checkout, crateRoot)
    .filter(({ mentions }) => mentions.has("unsafe"))
    .map((module) => modulePath(module).replace("crate::", ""));
}

/**
 * Returns a line of text for each filter that matches no test, and for each module with `unsafe` of
 * which no filter matches a test.
 *
 * @param {{ filters: readonly string[], tests: readonly string[], modules: readonly string[] }} run
 *   `tests` are the paths of all tests, as cargo lists them
 */
export function faultsOfFilters({ filters, tests, modules }) {
  const matched = tests.filter((test) => filters.some((filter) => test.includes(filter)));
  const unmatched = filters.filter((filter) => !tests.some((test) => test.includes(filter)));
  const missing = modules.filter((module) => !matched.some((test) => test.startsWith(`${module}::`)));
  return [
    ...unmatched.map((filter) => `the filter ${filter} of scripts/miri.mjs matches no test`),
    ...missing.map(
      (module) => `no filter of scripts/miri.mjs runs a test of ${module}, which has unsafe code`,
    ),
  ];
}

/**
 * Checks the filters against the tests of the core, and returns a line of text for each fault.
 *
 * @param {readonly string[]} [crates] those whose tests were compiled together, and `env` the
 *   environment in which they were, so that the core is not compiled again
 * @param {Record<string, string>} [env]
 */
export function checkFilters(crates = ["core"], env = undefined) {
  const tests = coreTestPrograms(crates, env).flatMap((program) => {
    const { stdout } = runAndWait(program, ["--list"], { capture: "stdout" });
    return Array.from(stdout.matchAll(/^(\S+): test$/gmu), ([, test]) => test);
  });
  const modules = unsafeModules(root);
  return faultsOfFilters({ filters: TEST_FILTERS, tests, modules });
}

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
    // Otherwise Miri is a processor without them, and does not run the code that is for them.
    ...(process.arch === "x64" ? { RUSTFLAGS: "-Ctarget-feature=+avx2,+bmi1,+bmi2" } : {}),
  };
  const args = ["+nightly", "miri", "test", ...CORE_TESTS, "--", ...filters];
  const { status } = runAndWait("cargo", args, { env, check: false });
  return { passed: status === 0 ? filters.length : 0, failed: status === 0 ? 0 : 1, skipped: 0 };
}

/** Prints the faults of the filters. */
function runCheck() {
  const faults = checkFilters();
  for (const line of faults) console.error(`error: ${line}`);
  if (faults.length > 0) process.exitCode = 1;
}

if (process.argv[1] === join(root, "scripts/miri.mjs")) {
  await runScript(() => {
    const named = process.argv.slice(2);
    if (named.includes("--check")) runCheck();
    else if (runMiri(named.length > 0 ? named : TEST_FILTERS).failed > 0) process.exitCode = 1;
  });
}
