// Everything that must hold before a commit: format, lint, arrows, unused exports, dependencies, types, clippy.
//
//   --built   without the types of js/, which the build of the TypeScript has just checked
import { bin, has, main, run } from "./lib/run.mjs";

const crates = (...names) => names.flatMap((name) => ["-p", `filewright-${name}`]);
const denied = ["--", "-D", "warnings"];

const TYPES = "types";

const steps = [
  ["format and lint", bin("biome"), "check", "--error-on-warnings", "."],
  ["arrows", process.execPath, "scripts/arrows.mjs"],
  ["unused files and exports", bin("knip"), "--no-progress"],
  ["dependencies", process.execPath, "scripts/deny.mjs"],
  ["records of the engine", process.execPath, "scripts/wire.mjs", "--check"],
  [TYPES, bin("tsc"), "--noEmit", "-p", "."],
  ["types of the tests", bin("tsc"), "-p", "tsconfig.test.json"],
  ["rust format", "cargo", "fmt", "--all", "--check"],
  // Not `--all-targets`: the addon has no tests, and as one napi leaves the exports out.
  [
    "clippy",
    "cargo",
    "clippy",
    "--quiet",
    ...crates("core", "fs", "index", "sandbox", "node"),
    ...["--lib", "--bins", "--tests", "--benches", "--examples"],
    ...denied,
  ],
  // Alone: beside the others it would get a core with the encoding tables.
  ["clippy of the module", "cargo", "clippy", "--quiet", ...crates("wasm"), "--all-targets", ...denied],
];

/** Runs every check, even after one failed. */
function check() {
  const wanted = process.argv.includes("--built") ? steps.filter(([name]) => name !== TYPES) : steps;
  const failed = wanted.filter(([name, command, ...args]) => {
    const started = performance.now();
    const ok = attempt(command, args);
    console.log(`${ok ? "ok  " : "FAIL"} ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
    return !ok;
  });
  if (failed.length > 0) process.exitCode = 1;
  console.log(`${wanted.length - failed.length} passed, ${failed.length} failed`);
}

function attempt(command, args) {
  if (command === "cargo" && !has(`cargo-${args[0]}`)) {
    const component = args[0] === "fmt" ? "rustfmt" : args[0];
    console.error(`error: cargo ${args[0]} is missing; run: rustup component add ${component}`);
    return false;
  }
  return run(command, args, { check: false }).status === 0;
}

await main(check);
