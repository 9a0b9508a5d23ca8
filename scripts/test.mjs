// Builds what is missing or stale, runs the test suites, and prints one line with the sum of their
// results. Without options it runs the suites that take seconds, in TypeScript and in Rust.
//
//   --all     every suite; also with CI=true
//   --check   also the checks of `npm run check`, each counted as a test, and a failure if tests run
//             too few lines of js/ or of crates/core (CI does this)
//   --fuzz    the fuzz targets as well. Their inputs differ from run to run, so CI does not run
//             them: a failure need not be caused by the change that is tested
import { existsSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { coreCoverage, testsOf } from "./coverage-core.mjs";
import { sharedKinds } from "./deep.mjs";
import { fuzz } from "./fuzz.mjs";
import { bin, BuildError, isInstalled, main, root, run } from "./lib/run.mjs";
import { cargoResults, lastResults, sum, vitestResults } from "./lib/results.mjs";
import { runLogged, runStages } from "./lib/stages.mjs";
import { NoWasmToolchain } from "./lib/wasm-toolchain.mjs";

/**
 * The options of vitest that measure coverage as a summary. `npm run coverage` also writes pages.
 */
const COVERAGE_OPTIONS = [
  "--coverage",
  "--coverage.reporter=text-summary",
  "--coverage.reporter=json-summary",
];
const flag = (name) => process.argv.includes(name);
const inCi = process.env.CI === "true";
const reports = ".cache/test";
const processors = availableParallelism();

/** The programs that tests need and are skipped without. In CI all must be installed. */
const REQUIRED_PROGRAMS = ["bwrap", "diff", "fish", "git", "patch", "python3", "rg", "strace", "zsh"];

/** Returns a failure for each program that is missing in CI, as the result of a stage. */
async function checkPrograms() {
  const missing = inCi ? REQUIRED_PROGRAMS.filter((name) => !isInstalled(name)) : [];
  const why = missing.map((name) => `${name} is missing; .ci/run has to install it`);
  return { passed: 0, failed: missing.length, skipped: 0, why };
}

/**
 * Runs a program of a stage. Prints its output when it has ended, so that the outputs of stages
 * that run at once do not mix.
 */
async function runShown(name, command, args, env) {
  const result = await runLogged(command, args, { log: `${reports}/${name}.log`, env });
  process.stdout.write(result.output);
  return result;
}

/** Runs one of our scripts that builds something, as a stage. */
async function runBuild(name, ...args) {
  const { status, output } = await runShown(name, process.execPath, args);
  const why = [output.slice(-2_000)];
  return status === 0 ? sum([]) : { passed: 0, failed: 1, skipped: 0, why, status };
}

/**
 * Builds the WebAssembly modules. If this machine has no toolchain for them, sets an environment
 * variable by which the tests skip them, except in CI.
 */
async function buildWasm() {
  const result = await runBuild("wasm", "scripts/build-wasm.mjs");
  if (result.status !== NoWasmToolchain.STATUS || inCi) return result;
  console.error("note: the WebAssembly half is skipped");
  process.env.FILEWRIGHT_PARITY = "skip";
  return sum([]);
}

/** Runs one of our scripts that prints `N passed, N failed` at its end, as a stage. */
async function runCounted(name, ...args) {
  const { status, output } = await runShown(name, process.execPath, args);
  return lastResults(output, status);
}

const crates = ["core", "fs", "index", "sandbox"];
const counting = coreCoverage(crates);

/**
 * Compiles the tests of cargo, while other stages leave a processor idle. A failure is reported by
 * the stage that runs them.
 */
async function compileCargo() {
  await runShown("cargo-compile", "cargo", [...testsOf(crates), "--no-run"], counting?.env);
  return sum([]);
}

async function runCargoTests() {
  const { status, output } = await runShown("cargo", "cargo", testsOf(crates), counting?.env);
  const results = cargoResults(output, status);
  if (counting === undefined)
    console.log("note: the core's lines are not counted: this compiler's LLVM tools are missing");
  if (counting === undefined || status !== 0 || !flag("--check")) return results;
  return counting.isEnough()
    ? results
    : { ...results, failed: 1, why: ["too few lines of crates/core are run"] };
}

/**
 * Runs the state machines of threads and locks in every order of their threads, with the model
 * checker loom. Skipped if loom cannot be downloaded.
 */
async function runLoom() {
  const manifest = ["--quiet", "--manifest-path", "crates/fs/loom/Cargo.toml"];
  const env = { CARGO_TARGET_DIR: join(root, "target/loom") };
  if (run("cargo", ["fetch", ...manifest], { env, capture: true, check: false }).status !== 0) {
    console.log("orders of threads: skipped, loom cannot be had here");
    return { passed: 0, failed: 0, skipped: 1 };
  }
  const { status, output } = await runShown("loom", "cargo", ["test", ...manifest], env);
  return cargoResults(output, status);
}

/**
 * Runs the tests of one project of vitest. A test that fails is not run again, because one that
 * passes only the second time has a fault too.
 * @param {string[]} more options of this run
 */
async function runVitest(project, ...more) {
  const json = `${reports}/${project}.json`;
  rmSync(join(root, json), { force: true });
  const told = ["--reporter=default", "--reporter=json", `--outputFile.json=${json}`];
  const args = ["run", "--project", project, "--passWithNoTests", ...told, ...more];
  const { status } = await runShown(project, bin("vitest"), args);
  if (!existsSync(join(root, json))) return { passed: 0, failed: status === 0 ? 0 : 1, skipped: 0 };
  return vitestResults(JSON.parse(readFileSync(join(root, json), "utf8")), status);
}

const builds = [
  { name: "programs for the tests", body: checkPrograms },
  { name: "native addon", body: () => runBuild("addon", "scripts/build.mjs", "--native-only") },
  { name: "TypeScript", body: () => runBuild("typescript", "scripts/build.mjs", "--ts-only") },
  { name: "WebAssembly", body: buildWasm },
  { name: "compiling the cargo tests", body: compileCargo },
];
const checks = {
  name: "checks",
  needs: ["TypeScript"],
  body: () => runCounted("checks", "scripts/check.mjs", "--runBuild"),
};
const fast = [
  // One worker more than processors, because tests of servers and terminals spend much time
  // waiting. With coverage, vitest also fails if tests run too few lines of js/.
  {
    name: "fast tests",
    alone: true,
    body: () =>
      runVitest("fast", `--maxWorkers=${processors + 1}`, ...(flag("--check") ? COVERAGE_OPTIONS : [])),
  },
];
const cargoTests = { name: "cargo tests", body: runCargoTests };
const slow = [
  { name: "slow tests", body: () => runVitest("slow", "--maxWorkers=1") },
  cargoTests,
  { name: "orders of threads", body: runLoom },
  { name: "acceptance", body: () => runCounted("acceptance", "test/acceptance/run.mjs") },
  { name: "scenarios", body: () => runCounted("scenarios", "test/scenarios/run.mjs") },
  ...sharedKinds().map((kind) => ({
    name: `share of the deep check ${kind}`,
    body: () => runCounted(`deep-${kind}`, "scripts/deep.mjs", kind, "--share"),
  })),
  ...(flag("--fuzz") ? [{ name: "fuzz targets", alone: true, body: async () => fuzz(5) }] : []),
  // Tests of races, and tests that measure memory or time.
  { name: "slow tests by themselves", alone: true, body: () => runVitest("alone", "--maxWorkers=1") },
];

/**
 * Runs a stage and prints its result. A stage that throws counts as one failure, and the others
 * still run.
 */
async function runStage({ name, body }) {
  console.log(`begun: ${name}`);
  const started = performance.now();
  let result;
  try {
    result = await body();
  } catch (error) {
    const why = [error instanceof BuildError ? error.message : String(error?.stack ?? error)];
    console.error(`error: ${why}`);
    result = { passed: 0, failed: 1, skipped: 0, why };
  }
  const { passed, failed, skipped } = result;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const counts =
    passed + failed + skipped > 0 ? `${passed} passed, ${failed} failed, ${skipped} skipped` : "done";
  console.log(`${name}: ${counts} (${seconds} s)\n`);
  return { name, ...result };
}

/** Prints the failures again at the end, because they were printed thousands of lines above. */
function printFailures(results) {
  for (const { name, failed, why = [] } of results) {
    if (failed > 0) console.log(`\nFAILED in ${name}: ${failed}\n${why.join("\n\n")}`);
  }
}

await main(async () => {
  const results = [];
  const wanted = [
    ...builds,
    ...(flag("--check") ? [checks] : []),
    ...fast,
    ...(flag("--all") || inCi ? slow : [cargoTests]),
  ];
  await runStages(wanted, processors, async (stage) => {
    results.push(await runStage(stage));
  });
  const { passed, failed, skipped } = sum(results);
  if (failed > 0 || passed === 0) process.exitCode = 1;
  printFailures(results);
  console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
});
