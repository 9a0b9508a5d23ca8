// Runs every check that must pass before a commit: format, lint, directions of imports, unused
// exports, dependencies, workflows, types, clippy.
//
//   --built   omits the type check of js/, which the build of the TypeScript has just done
import { npmProgram, isInstalled, runScript, runAndWait } from "./lib/run.mjs";

const packageFlags = (...names) => names.flatMap((name) => ["-p", `filewright-${name}`]);
const DENY_WARNINGS = ["--", "-D", "warnings"];

/** The name of the step that `--built` omits. */
const TYPE_CHECK_STEP = "types";

const CHECK_STEPS = [
  ["format and lint", npmProgram("biome"), "check", "--error-on-warnings", "."],
  ["arrows", process.execPath, "scripts/arrows.mjs"],
  ["unused files and exports", npmProgram("knip"), "--no-progress"],
  ["dependencies", process.execPath, "scripts/deny.mjs"],
  ["workflows and shell scripts", process.execPath, "scripts/lint-workflows.mjs"],
  ["versions", process.execPath, "scripts/release.mjs", "--check"],
  ["records of the engine", process.execPath, "scripts/wire.mjs", "--check"],
  [TYPE_CHECK_STEP, npmProgram("tsc"), "--noEmit", "-p", "."],
  ["types of the tests", npmProgram("tsc"), "-p", "tsconfig.test.json"],
  ["types of the review page", npmProgram("tsc"), "-p", "js/review/page"],
  ["rust format", "cargo", "fmt", "--all", "--check"],
  // Not `--all-targets`, which would also build the addon as a test: napi then generates no
  // exports, which clippy reports as unused.
  [
    "clippy",
    "cargo",
    "clippy",
    "--quiet",
    ...packageFlags("core", "fs", "index", "sandbox", "node"),
    ...["--lib", "--bins", "--tests", "--benches", "--examples"],
    ...DENY_WARNINGS,
  ],
  // In a run of its own, because together with the others it would be checked with the features of
  // the core that they need.
  [
    "clippy of the module",
    "cargo",
    "clippy",
    "--quiet",
    ...packageFlags("wasm"),
    "--all-targets",
    ...DENY_WARNINGS,
  ],
];

/** Runs every check, also after one has failed, and prints the result of each. */
function runChecks() {
  const wanted = process.argv.includes("--built")
    ? CHECK_STEPS.filter(([name]) => name !== TYPE_CHECK_STEP)
    : CHECK_STEPS;
  const failed = wanted.filter(([name, command, ...args]) => {
    const started = performance.now();
    const ok = runStep(command, args);
    console.log(`${ok ? "ok  " : "FAIL"} ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
    return !ok;
  });
  if (failed.length > 0) process.exitCode = 1;
  console.log(`${wanted.length - failed.length} passed, ${failed.length} failed`);
}

/** Runs one check. Returns whether it passed. */
function runStep(command, args) {
  if (command === "cargo" && !isInstalled(`cargo-${args[0]}`)) {
    const component = args[0] === "fmt" ? "rustfmt" : args[0];
    console.error(`error: cargo ${args[0]} is missing; run: rustup component add ${component}`);
    return false;
  }
  return runAndWait(command, args, { check: false }).status === 0;
}

await runScript(runChecks);
