// Every test there is, with nothing to set up first: builds what is missing or
// stale, runs the suites one after another, and ends with one line that sums them.
//
//   --check   also the checks of `npm run check`, counted like tests, and enough lines of js/ and
//             of crates/core that a test runs (CI does this)
//   --fast    only the suites that take seconds
//   --fuzz    the fuzz targets as well: what they try differs from run to run, so
//             a find is a task, not a reason to stop somebody else's change
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { buildNative, buildTypeScript } from "./build.mjs";
import { buildWasm } from "./build-wasm.mjs";
import { check } from "./check.mjs";
import { countingCore, testsOf } from "./coverage-core.mjs";
import { deepShares } from "./deep.mjs";
import { fuzz } from "./fuzz.mjs";
import { bin, BuildError, has, main, root, run } from "./lib/run.mjs";
import { cargoResults, lastResults, sum, vitestResults } from "./lib/results.mjs";
import { NoWasmToolchain } from "./lib/wasm-toolchain.mjs";

/** Lines are counted in the run that there is anyway; pages to look at are for `npm run coverage`. */
const COVERED = ["--coverage", "--coverage.reporter=text-summary", "--coverage.reporter=json-summary"];
const flag = (name) => process.argv.includes(name);
const reports = ".cache/test";

/**
 * Begins with the WebAssembly modules while other things are built and checked: what is linked
 * on one processor leaves another idle. Whether it went well is asked when their turn comes.
 */
async function wasmAhead() {
  const log = openSync(join(root, reports, "wasm.log"), "w");
  const script = join(root, "scripts/build-wasm.mjs");
  await once(spawn(process.execPath, [script], { stdio: ["ignore", log, log] }), "exit");
  process.stderr.write(readFileSync(join(root, reports, "wasm.log")));
}

/** The WebAssembly modules, or word for the tests that this machine has nothing to build them with. */
async function wasm() {
  try {
    await begun;
    await buildWasm();
  } catch (error) {
    if (!(error instanceof NoWasmToolchain) || process.env.CI === "true") throw error;
    console.error(`note: the WebAssembly half is skipped: ${error.message}`);
    process.env.FILEWRIGHT_PARITY = "skip";
  }
  return sum([]);
}

/** Programs that tests use where they exist. In CI a test must not be skipped for want of one. */
const PROGRAMS = ["bwrap", "diff", "fish", "git", "patch", "python3", "rg", "strace", "zsh"];

/** In CI, a failure for each program that is missing. */
function programs() {
  const missing = process.env.CI === "true" ? PROGRAMS.filter((name) => !has(name)) : [];
  const why = missing.map((name) => `${name} is missing; .ci/run has to install it`);
  return { passed: 0, failed: missing.length, skipped: 0, why };
}

function cargo() {
  const crates = ["core", "fs", "index", "sandbox"];
  const counting = countingCore(crates);
  const { status, stdout } = run("cargo", testsOf(crates), {
    env: counting?.env,
    capture: "stdout",
    check: false,
  });
  process.stdout.write(stdout);
  const results = cargoResults(stdout, status);
  if (counting === undefined)
    console.log("note: the core's lines are not counted: this compiler's LLVM tools are missing");
  if (counting === undefined || status !== 0 || !flag("--check")) return results;
  return counting.enough()
    ? results
    : { ...results, failed: 1, why: ["too few lines of crates/core are run"] };
}

/** The state machines of the threads and locks in every order; skipped where the model cannot be had. */
function loom() {
  const manifest = ["--quiet", "--manifest-path", "crates/fs/loom/Cargo.toml"];
  const env = { CARGO_TARGET_DIR: join(root, "target/loom") };
  if (run("cargo", ["fetch", ...manifest], { env, capture: true, check: false }).status !== 0) {
    console.log("orders of threads: skipped, loom cannot be had here");
    return { passed: 0, failed: 0, skipped: 1 };
  }
  const { status, stdout } = run("cargo", ["test", ...manifest], { env, capture: "stdout", check: false });
  process.stdout.write(stdout);
  return cargoResults(stdout, status);
}

/**
 * A test that fails has failed: there is no second run, because what passes only then is a fault too.
 * @param {string[]} more options of this run
 */
function vitest(project, ...more) {
  const json = `${reports}/${project}.json`;
  rmSync(join(root, json), { force: true });
  const told = ["--reporter=default", "--reporter=json", `--outputFile.json=${json}`];
  const args = ["run", "--project", project, "--passWithNoTests", ...told, ...more];
  const { status } = run(bin("vitest"), args, { check: false });
  if (!existsSync(join(root, json))) return { passed: 0, failed: status === 0 ? 0 : 1, skipped: 0 };
  return vitestResults(JSON.parse(readFileSync(join(root, json), "utf8")), status);
}

/** A kit of cases with a runner of its own: test/acceptance and test/scenarios. */
function kit(name) {
  const { status, stdout } = run(process.execPath, [`test/${name}/run.mjs`], {
    capture: "stdout",
    check: false,
  });
  process.stdout.write(stdout);
  return lastResults(stdout, status);
}

const fast = [
  ["programs for the tests", programs],
  ...(flag("--check") ? [["checks", check]] : []),
  ["native addon", () => built(buildNative())],
  ["TypeScript", () => built(buildTypeScript())],
  ["WebAssembly", wasm],
  // Too few lines of js/ that are run are a failure as well.
  // On every processor: vitest alone would leave one idle, half of a small machine. The slow
  // tests have the machine to themselves, because races and memory are what they look at.
  [
    "fast tests",
    () => vitest("fast", `--maxWorkers=${availableParallelism()}`, ...(flag("--check") ? COVERED : [])),
  ],
];
const slow = [
  ["cargo tests", cargo],
  ["orders of threads", loom],
  ...(flag("--fuzz") ? [["fuzz targets", () => fuzz(5)]] : []),
  ["acceptance", () => kit("acceptance")],
  ["scenarios", () => kit("scenarios")],
  ["slow tests", () => vitest("slow", "--maxWorkers=1")],
  ["shares of the deep checks, with new seeds", deepShares],
];

const built = async (building) => {
  await building;
  return sum([]);
};

/** A suite that could not even run counts as one failure; the others still run. */
async function suite([name, body]) {
  const started = performance.now();
  let result;
  try {
    result = await body();
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(`error: ${error.message}`);
    result = { passed: 0, failed: 1, skipped: 0, why: [error.message] };
  }
  const { passed, failed, skipped } = result;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (passed + failed + skipped > 0)
    console.log(`${name}: ${passed} passed, ${failed} failed, ${skipped} skipped (${seconds} s)\n`);
  return { name, ...result };
}

/** Repeats at the end what failed: the place where it did is thousands of lines above. */
function tell(results) {
  for (const { name, failed, why = [] } of results) {
    if (failed > 0) console.log(`\nFAILED in ${name}: ${failed}\n${why.join("\n\n")}`);
  }
}

mkdirSync(join(root, reports), { recursive: true });
const begun = wasmAhead();
await main(async () => {
  const results = [];
  for (const entry of flag("--fast") ? fast : [...fast, ...slow]) results.push(await suite(entry));
  const { passed, failed, skipped } = sum(results);
  if (failed > 0 || passed === 0) process.exitCode = 1;
  tell(results);
  console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
});
