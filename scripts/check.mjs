// Everything that must hold before a commit: format, lint, arrows, unused exports, dependencies, types, clippy.
import { pathToFileURL } from "node:url";
import { bin, has, main, run } from "./lib/run.mjs";

const crates = (...names) => names.flatMap((name) => ["-p", `filewright-${name}`]);
const denied = ["--", "-D", "warnings"];

const steps = [
  ["format and lint", bin("biome"), "check", "--error-on-warnings", "."],
  ["arrows", process.execPath, "scripts/arrows.mjs"],
  ["unused files and exports", bin("knip"), "--no-progress"],
  ["dependencies", process.execPath, "scripts/deny.mjs"],
  ["types", bin("tsc"), "--noEmit", "-p", "."],
  ["types of the tests", bin("tsc"), "-p", "tsconfig.test.json"],
  ["rust format", "cargo", "fmt", "--all", "--check"],
  [
    "clippy",
    "cargo",
    "clippy",
    "--quiet",
    ...crates("core", "fs", "index", "sandbox"),
    "--all-targets",
    ...denied,
  ],
  // Alone: beside the others it would get a core with the encoding tables.
  ["clippy of the module", "cargo", "clippy", "--quiet", ...crates("wasm"), "--all-targets", ...denied],
  // As a test, napi leaves the exports out and everything would be dead code.
  ["clippy of the addon", "cargo", "clippy", "--quiet", ...crates("node"), ...denied],
];

/** Runs every check, even after one failed. */
export function check() {
  const why = [];
  for (const [name, command, ...args] of steps) {
    const started = performance.now();
    const ok = attempt(command, args);
    if (!ok) why.push(name);
    console.log(`${ok ? "ok  " : "FAIL"} ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  }
  return { passed: steps.length - why.length, failed: why.length, skipped: 0, why };
}

function attempt(command, args) {
  if (command === "cargo" && !has(`cargo-${args[0]}`)) {
    const component = args[0] === "fmt" ? "rustfmt" : args[0];
    console.error(`error: cargo ${args[0]} is missing; run: rustup component add ${component}`);
    return false;
  }
  return run(command, args, { check: false }).status === 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(() => {
    if (check().failed > 0) process.exitCode = 1;
  });
}
