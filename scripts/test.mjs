// The tests, with nothing to set up first: builds what is missing or stale, runs the suites, and
// ends with one line that sums them. By itself those that take seconds, in TypeScript and in Rust.
//
//   --all     every suite there is; so does CI=true
//   --check   also the checks of `npm run check`, counted like tests, and enough lines of js/ and
//             of crates/core that a test runs (CI does this)
//   --fuzz    the fuzz targets as well: what they try differs from run to run, so
//             a find is a task, not a reason to stop somebody else's change
import { existsSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { countingCore, testsOf } from "./coverage-core.mjs";
import { sharedKinds } from "./deep.mjs";
import { fuzz } from "./fuzz.mjs";
import { bin, BuildError, has, main, root, run } from "./lib/run.mjs";
import { cargoResults, lastResults, sum, vitestResults } from "./lib/results.mjs";
import { runLogged, runStages } from "./lib/stages.mjs";
import { NoWasmToolchain } from "./lib/wasm-toolchain.mjs";

/** Lines are counted in the run that there is anyway; pages to look at are for `npm run coverage`. */
const COVERED = ["--coverage", "--coverage.reporter=text-summary", "--coverage.reporter=json-summary"];
const flag = (name) => process.argv.includes(name);
const inCi = process.env.CI === "true";
const reports = ".cache/test";
const processors = availableParallelism();

/** Programs that tests use where they exist. In CI a test must not be skipped for want of one. */
const PROGRAMS = ["bwrap", "diff", "fish", "git", "patch", "python3", "rg", "strace", "zsh"];

/** In CI, a failure for each program that is missing. */
async function programs() {
  const missing = inCi ? PROGRAMS.filter((name) => !has(name)) : [];
  const why = missing.map((name) => `${name} is missing; .ci/run has to install it`);
  return { passed: 0, failed: missing.length, skipped: 0, why };
}

/** A program of a stage: its output is shown when it ends, so that those of two do not mix. */
async function shown(name, command, args, env) {
  const result = await runLogged(command, args, { log: `${reports}/${name}.log`, env });
  process.stdout.write(result.output);
  return result;
}

/** A script of ours that builds something. */
async function built(name, ...args) {
  const { status, output } = await shown(name, process.execPath, args);
  const why = [output.slice(-2_000)];
  return status === 0 ? sum([]) : { passed: 0, failed: 1, skipped: 0, why, status };
}

/** The WebAssembly modules, or word for the tests that this machine has nothing to build them with. */
async function wasm() {
  const result = await built("wasm", "scripts/build-wasm.mjs");
  if (result.status !== NoWasmToolchain.STATUS || inCi) return result;
  console.error("note: the WebAssembly half is skipped");
  process.env.FILEWRIGHT_PARITY = "skip";
  return sum([]);
}

/** A script of ours that ends with `N passed, N failed`. */
async function counted(name, ...args) {
  const { status, output } = await shown(name, process.execPath, args);
  return lastResults(output, status);
}

const crates = ["core", "fs", "index", "sandbox"];
const counting = countingCore(crates);

/** Compiled while other stages leave a processor idle. Whether it went well, the tests say. */
async function compileCargo() {
  await shown("cargo-compile", "cargo", [...testsOf(crates), "--no-run"], counting?.env);
  return sum([]);
}

async function cargo() {
  const { status, output } = await shown("cargo", "cargo", testsOf(crates), counting?.env);
  const results = cargoResults(output, status);
  if (counting === undefined)
    console.log("note: the core's lines are not counted: this compiler's LLVM tools are missing");
  if (counting === undefined || status !== 0 || !flag("--check")) return results;
  return counting.enough()
    ? results
    : { ...results, failed: 1, why: ["too few lines of crates/core are run"] };
}

/** The state machines of the threads and locks in every order; skipped where the model cannot be had. */
async function loom() {
  const manifest = ["--quiet", "--manifest-path", "crates/fs/loom/Cargo.toml"];
  const env = { CARGO_TARGET_DIR: join(root, "target/loom") };
  if (run("cargo", ["fetch", ...manifest], { env, capture: true, check: false }).status !== 0) {
    console.log("orders of threads: skipped, loom cannot be had here");
    return { passed: 0, failed: 0, skipped: 1 };
  }
  const { status, output } = await shown("loom", "cargo", ["test", ...manifest], env);
  return cargoResults(output, status);
}

/**
 * A test that fails has failed: there is no second run, because what passes only then is a fault too.
 * @param {string[]} more options of this run
 */
async function vitest(project, ...more) {
  const json = `${reports}/${project}.json`;
  rmSync(join(root, json), { force: true });
  const told = ["--reporter=default", "--reporter=json", `--outputFile.json=${json}`];
  const args = ["run", "--project", project, "--passWithNoTests", ...told, ...more];
  const { status } = await shown(project, bin("vitest"), args);
  if (!existsSync(join(root, json))) return { passed: 0, failed: status === 0 ? 0 : 1, skipped: 0 };
  return vitestResults(JSON.parse(readFileSync(join(root, json), "utf8")), status);
}

const builds = [
  { name: "programs for the tests", body: programs },
  { name: "native addon", body: () => built("addon", "scripts/build.mjs", "--native-only") },
  { name: "TypeScript", body: () => built("typescript", "scripts/build.mjs", "--ts-only") },
  { name: "WebAssembly", body: wasm },
  { name: "compiling the cargo tests", body: compileCargo },
];
const checks = {
  name: "checks",
  needs: ["TypeScript"],
  body: () => counted("checks", "scripts/check.mjs", "--built"),
};
const fast = [
  // One process more than processors, because tests of servers and terminals wait much of their time.
  // Too few lines of js/ that are run are a failure as well.
  {
    name: "fast tests",
    alone: true,
    body: () => vitest("fast", `--maxWorkers=${processors + 1}`, ...(flag("--check") ? COVERED : [])),
  },
];
const cargoTests = { name: "cargo tests", body: cargo };
const slow = [
  { name: "slow tests", body: () => vitest("slow", "--maxWorkers=1") },
  cargoTests,
  { name: "orders of threads", body: loom },
  { name: "acceptance", body: () => counted("acceptance", "test/acceptance/run.mjs") },
  { name: "scenarios", body: () => counted("scenarios", "test/scenarios/run.mjs") },
  ...sharedKinds().map((kind) => ({
    name: `share of the deep check ${kind}`,
    body: () => counted(`deep-${kind}`, "scripts/deep.mjs", kind, "--share"),
  })),
  ...(flag("--fuzz") ? [{ name: "fuzz targets", alone: true, body: async () => fuzz(5) }] : []),
  // Races, and what is measured of memory and of the time of others.
  { name: "slow tests by themselves", alone: true, body: () => vitest("alone", "--maxWorkers=1") },
];

/** A stage that could not even run counts as one failure; the others still run. */
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

/** Repeats at the end what failed: the place where it did is thousands of lines above. */
function tell(results) {
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
  tell(results);
  console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
});
