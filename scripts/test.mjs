// Builds what is missing or stale, runs the test suites, and prints one line with the sum of their
// results. Without options it runs the suites that take seconds, in TypeScript and in Rust.
//
//   --all       every suite of CI; also with CI=true
//   --check     also the checks of `npm run check`, each counted as a test (CI does this)
//   --coverage  a failure if tests run too few lines of js/ or of crates/core. The fast tests take
//               twice as long then, so only the scheduled workflow does this
//   --nightly   all cases of which other runs take a share (test/support/share.ts); with --all or CI=true
//               also the project `nightly`: all recorded answers (test/differential), and planted faults
//               that the comparison of packages must find. Only the scheduled workflow does this
//   --fuzz      the fuzz targets as well. Their inputs differ from run to run, so CI does not run
//               them: a failure need not be caused by the change that is tested
import { existsSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { coreCoverage, cargoTestArguments } from "./coverage-core.mjs";
import { sharedKinds } from "./deep.mjs";
import { runFuzzTargets } from "./fuzz.mjs";
import { checkFilters } from "./miri.mjs";
import { testEnvironment } from "./lib/cargo-profile.mjs";
import { mountMemory } from "./lib/memory.mjs";
import { npmProgram, BuildError, isInstalled, runScript, root } from "./lib/run.mjs";
import {
  cargoResults,
  otherSkippedTests,
  resultsOfLastLine,
  slowestFiles,
  sumResults,
  vitestResults,
} from "./lib/results.mjs";
import { newSecondsOfChildren, runLogged, runStages } from "./lib/stages.mjs";
import { NoWasmToolchain } from "./lib/wasm-toolchain.mjs";

/**
 * The options of vitest that measure coverage as a summary, of all suites but the slow ones. `npm run
 * coverage` also writes pages.
 */
const COVERAGE_OPTIONS = [
  ...["--project=processes", "--project=published"],
  "--coverage",
  "--coverage.reporter=text-summary",
  "--coverage.reporter=json-summary",
];
const hasFlag = (name) => process.argv.includes(name);
const inCi = process.env.CI === "true";
// By night the tests run all generated cases (test/support/share.ts).
if (hasFlag("--nightly")) process.env.FILEWRIGHT_NIGHT = "1";
// vitest.config.ts
if (inCi && !hasFlag("--coverage")) process.env.FILEWRIGHT_TEST_BUILT = "1";
const REPORTS_FOLDER = ".cache/test";
/**
 * The environment of the tests that flush the most: by day CI keeps their temporary files in memory. By night, and in all
 * other stages but the fast tests (test/support/temporary-files.ts), they are on the disk.
 */
const memoryFolder = inCi && !hasFlag("--nightly") ? mountMemory() : undefined;
const IN_MEMORY = memoryFolder === undefined ? {} : { TMPDIR: memoryFolder };
/** The number of files of a run of vitest that are printed with their time: the slowest. */
const SHOWN_FILES = 10;
const processorCount = availableParallelism();

/** The programs that tests need and are skipped without. In CI all must be installed. */
const REQUIRED_PROGRAMS = ["bwrap", "diff", "fish", "git", "patch", "python3", "rg", "strace", "zsh"];

/** The files of which CI may skip a test, with the reason; in CI a skip in any other file is a failure. */
const PERMITTED_SKIPS = {
  "test/access/folding.test.ts": "a disk that ignores letter case: needs FUSE and its module for Python",
  "test/backends/odd-files.test.ts": "file systems of FUSE: a machine that may not mount them",
  "test/engine/reading-cases.test.ts":
    "a file that this user may not read: CI runs as root, who may read all",
  "test/runtimes/next.slow.test.ts": "applications of Next.js: tried when a release is rehearsed",
  "test/tools/overwrite.test.ts": "a directory in which this user may not write: as above",
  "test/workspace/sandbox-choice.test.ts": "the sandbox of macOS",
};

/** Returns a failure for each program that is missing in CI, as the result of a stage. */
async function checkRequiredPrograms() {
  const missing = inCi ? REQUIRED_PROGRAMS.filter((name) => !isInstalled(name)) : [];
  const why = missing.map((name) => `${name} is missing; .ci/run has to install it`);
  return { passed: 0, failed: missing.length, skipped: 0, why };
}

/**
 * Runs a program of a stage. Prints its output when it has ended, so that the outputs of stages
 * that run at once do not mix.
 */
async function runAndPrint(name, command, args, env) {
  const result = await runLogged(command, args, { log: `${REPORTS_FOLDER}/${name}.log`, env });
  process.stdout.write(result.output);
  return result;
}

/** Runs one of our scripts that builds something, as a stage. */
async function runBuildScript(name, ...args) {
  const { status, output } = await runAndPrint(name, process.execPath, args);
  const why = [output.slice(-2_000)];
  return status === 0 ? sumResults([]) : { passed: 0, failed: 1, skipped: 0, why, status };
}

/**
 * Builds the WebAssembly modules. If this machine has no toolchain for them, sets an environment
 * variable by which the tests skip them, except in CI.
 */
async function buildWasm() {
  const result = await runBuildScript("wasm", "scripts/build-wasm.mjs");
  if (result.status !== NoWasmToolchain.STATUS || inCi) return result;
  console.error("note: the WebAssembly half is skipped");
  process.env.FILEWRIGHT_PARITY = "skip";
  return sumResults([]);
}

/** Runs one of our scripts that prints `N passed, N failed` at its end, as a stage. */
async function runCountingScript(name, args, env) {
  const { status, output } = await runAndPrint(name, process.execPath, args, env);
  return resultsOfLastLine(output, status);
}

const TESTED_CRATES = ["core", "fs", "index", "sandbox"];
const lineCounting = hasFlag("--coverage") ? coreCoverage(TESTED_CRATES) : undefined;
const cargoEnvironment = { ...testEnvironment, ...lineCounting?.env };

/**
 * Compiles the tests of cargo, while other stages leave a processor idle. A failure is reported by
 * the stage that runs them.
 */
async function compileCargoTests() {
  await runAndPrint(
    "cargo-compile",
    "cargo",
    [...cargoTestArguments(TESTED_CRATES), "--no-run"],
    cargoEnvironment,
  );
  return sumResults([]);
}

async function runCargoTests() {
  const { status, output } = await runAndPrint(
    "cargo",
    "cargo",
    cargoTestArguments(TESTED_CRATES),
    cargoEnvironment,
  );
  const results = cargoResults(output, status);
  if (!hasFlag("--coverage") || status !== 0) return results;
  if (lineCounting === undefined)
    return {
      ...results,
      failed: 1,
      why: ["the LLVM tools of this compiler are missing: no lines are counted"],
    };
  return lineCounting.isEnough()
    ? results
    : { ...results, failed: 1, why: ["too few lines of crates/core are run"] };
}

/** Compares the filters of Miri, which does not run here, with the tests of the core. */
function checkMiriFilters() {
  const why = checkFilters(TESTED_CRATES, cargoEnvironment);
  return { passed: why.length === 0 ? 1 : 0, failed: why.length, skipped: 0, why };
}

/**
 * Runs the tests of one project of vitest. A test that fails is not run again, because one that
 * passes only the second time has a fault too.
 * @param {string[]} more options of this run
 * @param {Record<string, string>} env is added to its environment
 */
async function runVitest(project, more, env) {
  const shard = more.find((option) => option.startsWith("--shard="))?.replace(/\D+/gu, "-") ?? "";
  const json = `${REPORTS_FOLDER}/${project}${shard}.json`;
  rmSync(join(root, json), { force: true });
  const told = ["--reporter=default", "--reporter=json", `--outputFile.json=${json}`];
  const args = ["run", "--project", project, "--passWithNoTests", ...told, ...more];
  const { status } = await runAndPrint(`${project}${shard}`, npmProgram("vitest"), args, env);
  if (!existsSync(join(root, json))) return { passed: 0, failed: status === 0 ? 0 : 1, skipped: 0 };
  const report = JSON.parse(readFileSync(join(root, json), "utf8"));
  for (const { seconds, file } of slowestFiles(report, SHOWN_FILES))
    console.log(`${seconds.toFixed(1).padStart(7)} s  ${relative(root, file)}`);
  const results = vitestResults(report, status);
  const skipped = inCi ? otherSkippedTests(report, Object.keys(PERMITTED_SKIPS)) : [];
  const why = skipped.map((test) => `${test}\nskipped, which CI permits only in PERMITTED_SKIPS`);
  return { ...results, failed: results.failed + why.length, why: [...results.why, ...why] };
}

const BUILD_STAGES = [
  { name: "programs for the tests", body: checkRequiredPrograms },
  { name: "native addon", body: () => runBuildScript("addon", "scripts/build.mjs", "--native-only") },
  { name: "TypeScript", body: () => runBuildScript("typescript", "scripts/build.mjs", "--ts-only") },
  { name: "WebAssembly", body: buildWasm },
  { name: "versitygw", body: () => runBuildScript("versitygw", "scripts/versitygw.mjs") },
  // Waits for the addon, with which it shares the folder that cargo locks.
  {
    name: "compiling the cargo tests",
    needsRust: true,
    needs: ["native addon"],
    body: compileCargoTests,
  },
];
/**
 * Translates the modules that the fast tests import, while other stages compile. Without their cache the workers of the
 * fast tests wait for the one process that translates. A failure is reported by the fast tests.
 */
const TRANSLATION_STAGE = {
  name: "translating the fast tests",
  needs: ["native addon", "TypeScript"],
  async body() {
    await runLogged(npmProgram("vitest"), ["list", "--project", "fast"], {
      log: `${REPORTS_FOLDER}/translating.log`,
    });
    return sumResults([]);
  },
};
const CHECK_STAGES = [
  {
    name: "checks",
    needs: ["TypeScript"],
    body: () => runCountingScript("checks", ["scripts/check.mjs", "--built"]),
  },
];
/** What tests need by default. */
const BUILDS = ["native addon", "TypeScript", "WebAssembly", "versitygw", TRANSLATION_STAGE.name];
const PUBLISHED_STAGE = {
  name: "checks of what is published",
  body: () => runVitest("published", ["--maxWorkers=1"]),
};
const FAST_STAGES = [
  // Others run beside them, since nobody waits for the checks then, nor for the last of the fast tests. With
  // --coverage, vitest also fails if they run too few lines of js/. With one process less they end after all others.
  {
    name: "fast tests",
    places: processorCount,
    body: () =>
      runVitest("fast", [
        `--maxWorkers=${processorCount}`,
        ...(hasFlag("--coverage") ? COVERAGE_OPTIONS : []),
      ]),
  },
];
const CARGO_TEST_STAGE = {
  name: "cargo tests",
  needsRust: true,
  needs: ["compiling the cargo tests"],
  body: runCargoTests,
};
/** Returns several stages for a project, because one process would go on when all other stages have ended. */
const partsOf = (name, project, count) =>
  Array.from({ length: count }, (_, index) => `${index + 1}/${count}`).map((shard) => ({
    name: `${name} ${shard}`,
    body: () => runVitest(project, ["--maxWorkers=1", `--shard=${shard}`], IN_MEMORY),
  }));
const deepStageOf = (kind) => ({
  name: `share of the deep check ${kind}`,
  body: () => runCountingScript(`deep-${kind}`, ["scripts/deep.mjs", kind, "--share"]),
});
/** It compiles an earlier addon where the Rust has changed, so it does not wait until all other stages have ended. */
const LONG_KIND = "versus";
const SLOW_STAGES = [
  { name: "slow tests of packed packages", body: () => runVitest("packed", ["--maxWorkers=1"]) },
  ...partsOf("slow tests", "slow", 2),
  { name: "slow tests with other packages", body: () => runVitest("foreign", ["--maxWorkers=1"]) },
  ...partsOf("tests of processes", "processes", 3),
  ...(hasFlag("--nightly")
    ? [{ name: "tests of each night", body: () => runVitest("nightly", ["--maxWorkers=1"]) }]
    : []),
  deepStageOf(LONG_KIND),
  CARGO_TEST_STAGE,
  { name: "filters of Miri", needsRust: true, needs: ["cargo tests"], body: async () => checkMiriFilters() },
  { name: "acceptance", body: () => runCountingScript("acceptance", ["test/acceptance/run.mjs"]) },
  { name: "scenarios", body: () => runCountingScript("scenarios", ["test/scenarios/run.mjs"], IN_MEMORY) },
  ...sharedKinds()
    .filter((kind) => kind !== LONG_KIND)
    .map(deepStageOf),
  ...(hasFlag("--fuzz") ? [{ name: "fuzz targets", alone: true, body: async () => runFuzzTargets(5) }] : []),
  // Tests of races, and tests that measure memory or time.
  { name: "slow tests by themselves", alone: true, body: () => runVitest("alone", ["--maxWorkers=1"]) },
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
  const times = {
    begun: started / 1000,
    seconds: (performance.now() - started) / 1000,
    used: newSecondsOfChildren(),
  };
  const counts =
    passed + failed + skipped > 0 ? `${passed} passed, ${failed} failed, ${skipped} skipped` : "done";
  console.log(`${name}: ${counts} (${times.seconds.toFixed(1)} s)\n`);
  return { name, ...times, ...result };
}

/**
 * Prints when each stage began, how long it took, and its seconds of the processor, which are 0 outside Linux. Where the
 * sum is less than the processors had, one of them was idle.
 */
function printTimes(results) {
  const line = (name, ...columns) =>
    console.log([...columns.map((text) => text.padStart(7)), name].join("  "));
  console.log();
  line("stage", "begun", "seconds", "used");
  for (const { name, begun, seconds, used } of results.toSorted((a, b) => a.begun - b.begun))
    line(name, begun.toFixed(0), seconds.toFixed(1), used.toFixed(1));
  const used = results.reduce((sum, stage) => sum + stage.used, 0);
  line(`all, of ${processorCount} processors`, "", (performance.now() / 1000).toFixed(1), used.toFixed(1));
}

/** Prints the failures again at the end, because they were printed thousands of lines above. */
function printFailures(results) {
  for (const { name, failed, why = [] } of results) {
    if (failed > 0) console.log(`\nFAILED in ${name}: ${failed}\n${why.join("\n\n")}`);
  }
}

await runScript(async () => {
  const results = [];
  const tests = [
    ...FAST_STAGES,
    ...(hasFlag("--check") ? [PUBLISHED_STAGE] : []),
    ...(hasFlag("--all") || inCi ? SLOW_STAGES : [CARGO_TEST_STAGE]),
  ];
  const wanted = [
    ...BUILD_STAGES,
    ...(hasFlag("--check") ? CHECK_STAGES : []),
    ...(inCi ? [TRANSLATION_STAGE] : []),
    ...tests.map((stage) => ({ needs: BUILDS, ...stage })),
  ];
  const withoutRust = !inCi && !isInstalled("cargo");
  if (withoutRust) console.log("note: the tests in Rust are skipped, since cargo is missing");
  const stages = wanted.filter(({ needsRust }) => !(needsRust && withoutRust));
  // Two more than processors, because stages wait for servers, browsers, registries and each other's builds: 25 of the
  // longest files of slow tests and of processes took 185 s of the processor in 415 s. With three more a run of two
  // processors took no less time, and a server under test answered too late.
  await runStages(stages, processorCount + 2, async (stage) => {
    results.push(await runStage(stage));
  });
  const { passed, failed, skipped } = sumResults(results);
  if (failed > 0 || passed === 0) process.exitCode = 1;
  printFailures(results);
  printTimes(results);
  console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
});
