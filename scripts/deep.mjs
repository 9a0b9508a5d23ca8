// Checks that take tools of their own: licences and sources of the crates, and the
// core under Miri. A tool that is not there is said to be missing, and the check
// skipped; with --require that is a failure.
import { spawnSync } from "node:child_process";
import { has, main, run } from "./lib/run.mjs";
import { FILTERS } from "./miri.mjs";

const nightly = () => spawnSync("cargo", ["+nightly", "miri", "--version"], { stdio: "ignore" }).status === 0;

const jobs = [
  [
    "licences, bans and sources",
    "cargo-deny",
    () => has("cargo-deny"),
    ["deny", "check", "licenses", "bans", "sources"],
  ],
  // What reads no file and takes no clock; of properties a few cases, the many are for the native run.
  [
    "the core under Miri",
    "miri on the nightly toolchain",
    nightly,
    ["+nightly", "miri", "test", "-p", "filewright-core", "--lib", "--", ...FILTERS],
    // Isolated from the clock and the disk, property tests could not begin.
    { MIRIFLAGS: "-Zmiri-disable-isolation", PROPTEST_CASES: "4", CARGO_TARGET_DIR: "target/miri" },
  ],
];

await main(() => {
  for (const [name, tool, there, args, env] of jobs) {
    if (!there()) {
      console.log(`skip ${name}: ${tool} is not installed`);
      if (process.argv.includes("--require")) process.exitCode = 1;
    } else {
      const ok = run("cargo", args, { check: false, env }).status === 0;
      console.log(`${ok ? "ok  " : "FAIL"} ${name}`);
      if (!ok) process.exitCode = 1;
    }
  }
});
