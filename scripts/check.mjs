// Runs every check that must pass before a commit: format, lint, directions of imports, the ratchet,
// unused exports, dependencies, workflows, subjects of commits, types, clippy, links in the documentation of
// the crates.
//
//   --built   omits the type check of js/, which the build of the TypeScript has just done
//
// As many checks run at once as there are processors; each prints its output when it has ended.
import { availableParallelism } from "node:os";
import { sharedProfileArguments } from "./lib/cargo-profile.mjs";
import { compilerScript, npmProgram, isInstalled, runScript } from "./lib/run.mjs";
import { newSecondsOfChildren, runLogged, runStages } from "./lib/stages.mjs";

const packageFlags = (...names) => names.flatMap((name) => ["-p", `filewright-${name}`]);
const DENY_WARNINGS = ["--", "-D", "warnings"];
/** The crates that are checked together, with the features that the addon and its tests have. */
const NATIVE_CRATES = packageFlags("core", "fs", "index", "matcher", "sandbox", "node");

/** The name of the step that `--built` omits. */
const TYPE_CHECK_STEP = "types";

/**
 * Returns the command that checks the types of a TypeScript project. It keeps what it has found in a
 * file, so that the next run checks only what has changed since.
 */
const typeCheck = (project) => {
  const state = `.cache/check/${project.replaceAll(/\W+/g, "-")}.tsbuildinfo`;
  return [
    process.execPath,
    compilerScript,
    "--noEmit",
    "-p",
    project,
    "--incremental",
    "--tsBuildInfoFile",
    state,
  ];
};

/**
 * A check: a program that fails if something is wrong. `needs` names the steps that have to end before.
 * `env` is added to its environment.
 * @typedef {{
 *   name: string,
 *   command: readonly string[],
 *   needs?: readonly string[],
 *   env?: Readonly<Record<string, string>>,
 * }} Step
 */

/** The checks. The longest come first, so that none of them is left for the end. @type {Step[]} */
const CHECK_STEPS = [
  // Not `--all-targets`, which would also build the addon as a test: napi then generates no
  // exports, which clippy reports as unused.
  {
    name: "clippy",
    command: [
      ...["cargo", "clippy", "--quiet", ...sharedProfileArguments(), ...NATIVE_CRATES],
      ...["--lib", "--bins", "--tests", "--benches", "--examples", ...DENY_WARNINGS],
    ],
  },
  { name: "types of the tests", command: typeCheck("tsconfig.test.json") },
  // In a run of its own, because together with the others it would be checked with the features of
  // the core that they need. It waits, because cargo would hold it until the other has ended.
  {
    name: "clippy of the module",
    needs: ["clippy"],
    command: [
      ...["cargo", "clippy", "--quiet", ...sharedProfileArguments(), ...packageFlags("wasm")],
      ...["--all-targets", ...DENY_WARNINGS],
    ],
  },
  // Also what is private, because most of a crate is and has links. Uses what clippy has read of the
  // dependencies.
  {
    name: "rustdoc",
    needs: ["clippy of the module"],
    env: { RUSTDOCFLAGS: "-D warnings -A rustdoc::private_intra_doc_links" },
    command: [
      ...["cargo", "doc", "--quiet", "--no-deps", "--document-private-items"],
      ...[...sharedProfileArguments(), ...NATIVE_CRATES],
    ],
  },
  { name: TYPE_CHECK_STEP, command: typeCheck("tsconfig.json") },
  { name: "workflows and shell scripts", command: [process.execPath, "scripts/lint-workflows.mjs"] },
  { name: "types of the review page", command: typeCheck("js/review/page/tsconfig.json") },
  { name: "ratchet", command: [process.execPath, "scripts/ratchet.mjs"] },
  { name: "unused files and exports", command: [npmProgram("knip"), "--no-progress"] },
  { name: "format and lint", command: [npmProgram("biome"), "check", "--error-on-warnings", "."] },
  { name: "arrows", command: [process.execPath, "scripts/arrows.mjs"] },
  { name: "rust format", command: ["cargo", "fmt", "--all", "--check"] },
  { name: "dependencies", command: [process.execPath, "scripts/deny.mjs"] },
  { name: "versions", command: [process.execPath, "scripts/release.mjs", "--check"] },
  { name: "records of the engine", command: [process.execPath, "scripts/wire.mjs", "--check"] },
  { name: "types of the tools", command: [process.execPath, "scripts/tool-types.mjs", "--check"] },
  { name: "subjects of commits", command: [process.execPath, "scripts/commit-subjects.mjs"] },
];

/** The components of rustup that have those commands of cargo which it has not itself. */
const CARGO_COMPONENTS = { clippy: "clippy", fmt: "rustfmt" };

/** Runs one check. Returns whether it passed, and its output. */
async function runStep({ name, command: [program, ...args], env }) {
  const component = program === "cargo" ? CARGO_COMPONENTS[args[0]] : undefined;
  if (component !== undefined && !isInstalled(`cargo-${args[0]}`)) {
    const output = `error: cargo ${args[0]} is missing; run: rustup component add ${component}\n`;
    return { isPassed: false, output };
  }
  const log = `.cache/check/${name.replaceAll(" ", "-")}.log`;
  const { status, output } = await runLogged(program, args, { log, env });
  return { isPassed: status === 0, output };
}

/** Runs every check, also after one has failed, and prints the result of each. */
async function runChecks() {
  const isBuilt = process.argv.includes("--built");
  const wanted = CHECK_STEPS.filter(({ name }) => !(isBuilt && name === TYPE_CHECK_STEP));
  let failed = 0;
  await runStages(wanted, availableParallelism(), async (step) => {
    const started = performance.now();
    const { isPassed, output } = await runStep(step);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stdout.write(output);
    const used = newSecondsOfChildren().toFixed(1);
    console.log(`${isPassed ? "ok  " : "FAIL"} ${step.name} (${seconds} s, ${used} s of the processor)`);
    if (!isPassed) failed += 1;
  });
  if (failed > 0) process.exitCode = 1;
  console.log(`${wanted.length - failed} passed, ${failed} failed`);
}

await runScript(runChecks);
