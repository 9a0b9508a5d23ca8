// A part of the core's tests under Miri, which sees undefined behaviour that tests
// do not: reads past an end, aliasing, uninitialised bytes. First the one module of
// the core with `unsafe`, the line feeds of a block, then what goes by raw bytes and
// uses the crates that have it. Thousands of times slower than the tests (half a
// minute in all; one test that compiles a regular expression takes longer), hence
// the few of them, and no part of CI. Says so where it cannot be had.
//
//   node scripts/miri.mjs [FILTER ...]
//
// Needs: rustup component add --toolchain nightly miri rust-src
import { join } from "node:path";
import { main, root, run } from "./lib/run.mjs";

/** Modules with `unsafe`, and those whose tests go through raw bytes and end soon. */
export const FILTERS = ["diff::newlines", "path::", "windows::", "access::fold", "patch::quoted"];

/** Runs them. @returns counts as of tests */
export function miri(filters = FILTERS) {
  const found = run("cargo", ["+nightly", "miri", "--version"], { capture: true, check: false });
  if (found.status !== 0) {
    console.log("miri: skipped, there is none (rustup component add --toolchain nightly miri rust-src)");
    return { passed: 0, failed: 0, skipped: filters.length };
  }
  const env = {
    CARGO_TARGET_DIR: join(root, "target/miri"),
    // Few cases of each property, the same in every run, and no file to remember failures in.
    PROPTEST_CASES: "4",
    PROPTEST_DISABLE_FAILURE_PERSISTENCE: "true",
    MIRIFLAGS: "-Zmiri-disable-isolation",
  };
  const args = ["+nightly", "miri", "test", "-p", "filewright-core", "--lib", "--", ...filters];
  const { status } = run("cargo", args, { env, check: false });
  return { passed: status === 0 ? filters.length : 0, failed: status === 0 ? 0 : 1, skipped: 0 };
}

if (process.argv[1] === join(root, "scripts/miri.mjs")) {
  await main(() => {
    const named = process.argv.slice(2);
    if (miri(named.length > 0 ? named : FILTERS).failed > 0) process.exitCode = 1;
  });
}
