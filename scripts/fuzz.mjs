// Runs the fuzz targets of the core, a few seconds each. Coverage is measured with flags of the
// stable compiler, so neither a nightly compiler nor cargo-fuzz is needed. Prints the reason and
// skips them if this machine cannot build them.
//
//   node scripts/fuzz.mjs [--seconds N] [TARGET ...]
//
// Inputs that reach new code are kept in crates/core/fuzz/corpus for the next run, and inputs that
// fail in crates/core/fuzz/artifacts.
import { mkdirSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isInstalled, runScript, root, runAndWait } from "./lib/run.mjs";

const FUZZ_FOLDER = "crates/core/fuzz";
const FUZZ_TARGETS = readdirSync(join(root, FUZZ_FOLDER, "fuzz_targets")).map((file) =>
  basename(file, ".rs"),
);

/**
 * The compiler flags that cargo-fuzz passes, except for the sanitizers, which need a nightly
 * compiler.
 */
const COVERAGE_FLAGS = [
  "--cfg fuzzing",
  "-Cpasses=sancov-module",
  ...["level=4", "inline-8bit-counters", "pc-table", "trace-compares"].map(
    (feature) => `-Cllvm-args=-sanitizer-coverage-${feature}`,
  ),
  "-Ccodegen-units=1",
  "-Cdebug-assertions",
].join(" ");

/**
 * Runs each of the targets for this number of seconds.
 * @returns the numbers of targets that passed, failed and were skipped
 */
export function runFuzzTargets(seconds, wanted = FUZZ_TARGETS) {
  const skip = (reason) => {
    console.log(`fuzz targets: skipped, ${reason}`);
    return { passed: 0, failed: 0, skipped: wanted.length };
  };
  if (process.platform === "win32") return skip("libFuzzer is not for this platform");
  if (!isInstalled("c++")) return skip("there is no C++ compiler to build libFuzzer with");
  // With `--target`, cargo does not apply the flags to build scripts.
  const host = /^host: (.+)$/m.exec(runAndWait("rustc", ["-vV"], { capture: true }).stdout)?.[1];
  if (host === undefined) return skip("rustc does not say what it builds for");
  const env = { CARGO_TARGET_DIR: join(root, "target/fuzz"), RUSTFLAGS: COVERAGE_FLAGS };
  const cargo = (...args) => {
    const manifest = [
      "--manifest-path",
      `${FUZZ_FOLDER}/Cargo.toml`,
      "--release",
      "--quiet",
      "--target",
      host,
    ];
    return runAndWait("cargo", [args[0], ...manifest, ...args.slice(1)], {
      env,
      capture: true,
      check: false,
    });
  };
  const fetched = runAndWait("cargo", ["fetch", "--manifest-path", `${FUZZ_FOLDER}/Cargo.toml`, "--quiet"], {
    env,
    capture: true,
    check: false,
  });
  if (fetched.status !== 0) return skip("the crates cannot be had here");
  const built = cargo("build", "--bins");
  if (built.status !== 0) {
    console.error(built.stderr.slice(-4_000));
    return skip("the targets cannot be built here");
  }
  let failed = 0;
  for (const target of wanted) {
    const corpus = `${FUZZ_FOLDER}/corpus/${target}`;
    const artifacts = `${FUZZ_FOLDER}/artifacts/${target}/`;
    for (const folder of [corpus, artifacts]) mkdirSync(join(root, folder), { recursive: true });
    const limits = [`-max_total_time=${seconds}`, "-timeout=10", "-rss_limit_mb=2048", "-max_len=4096"];
    const { status, stderr } = cargo(
      "run",
      "--bin",
      target,
      "--",
      corpus,
      ...limits,
      `-artifact_prefix=${artifacts}`,
    );
    const runs = /Done (\d+) runs/.exec(stderr)?.[1];
    if (status === 0) console.log(`fuzz ${target}: ${runs} runs in ${seconds} s`);
    else {
      failed += 1;
      console.error(`fuzz ${target}: FAILED\n${stderr.slice(-4_000)}`);
    }
  }
  return { passed: wanted.length - failed, failed, skipped: 0 };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const at = process.argv.indexOf("--seconds");
  const seconds = at < 0 ? 60 : Number(process.argv[at + 1]);
  const named = process.argv.slice(2).filter((arg) => FUZZ_TARGETS.includes(arg));
  await runScript(async () => {
    const { failed } = runFuzzTargets(seconds, named.length > 0 ? named : FUZZ_TARGETS);
    if (failed > 0) process.exitCode = 1;
  });
}
