// Measures which lines of the Rust core its tests run. The tests are built with counters
// (scripts/lib/counted-rustc.sh), so that the run that is made anyway also measures; the LLVM tools
// of the compiler's version sum the counters.
//
//   node scripts/coverage-core.mjs [--missing]     also prints the lines that no test runs
//   node scripts/coverage-core.mjs --tools         only checks that the LLVM tools are installed
import { mkdirSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { sharedProfileArguments } from "./lib/cargo-profile.mjs";
import { isInstalled, runScript, root, runAndWait } from "./lib/run.mjs";

/**
 * The minimum share of lines that tests run, in percent. Files that contain only tests are not
 * counted.
 */
const MIN_LINE_PERCENTAGE = 95;
const PROFILES_FOLDER = join(root, "target/coverage/profiles");
const COUNTING_ENVIRONMENT = {
  RUSTC_WORKSPACE_WRAPPER: join(root, "scripts/lib/counted-rustc.sh"),
  LLVM_PROFILE_FILE: join(PROFILES_FOLDER, "%p-%m.profraw"),
};
/** Returns the arguments of cargo that run the tests of some of our crates. */
export const cargoTestArguments = (crates) => [
  "test",
  "--quiet",
  ...sharedProfileArguments(),
  ...crates.flatMap((name) => ["-p", `filewright-${name}`]),
];

/**
 * Returns the paths of the LLVM tools that match this compiler's version; undefined if they are not
 * installed.
 */
function llvmTools() {
  if (process.platform === "win32" || !isInstalled("rustc")) return undefined;
  const about = runAndWait("rustc", ["-vV"], { capture: true }).stdout;
  const [, host] = /^host: (.+)$/mu.exec(about) ?? [];
  const [, major] = /^LLVM version: (\d+)/mu.exec(about) ?? [];
  const sysroot = runAndWait("rustc", ["--print", "sysroot"], { capture: true }).stdout.trim();
  const places = [
    (name) => join(sysroot, "lib/rustlib", host, "bin", name),
    (name) => `${name}-${major}`,
    (name) => `/usr/lib/llvm-${major}/bin/${name}`,
  ];
  const found = places.find((place) => isInstalled(place("llvm-profdata")) && isInstalled(place("llvm-cov")));
  return found === undefined ? undefined : { profdata: found("llvm-profdata"), cov: found("llvm-cov") };
}

/**
 * Prepares a run of `cargo test` to count the lines of the core that are run.
 *
 * @param {readonly string[]} crates whose tests are run: with others beside it the core is
 *   built with what they want of its dependencies too, and is another program
 * @returns {{ env: Record<string, string>, isEnough(missing?: boolean): boolean } | undefined}
 *   what to run cargo with, and what to ask afterwards; undefined where nothing can count
 */
export function coreCoverage(crates) {
  const tools = llvmTools();
  if (tools === undefined) return undefined;
  rmSync(PROFILES_FOLDER, { recursive: true, force: true });
  mkdirSync(PROFILES_FOLDER, { recursive: true });
  return {
    env: COUNTING_ENVIRONMENT,
    isEnough(missing = false) {
      const percent = linePercentage(tools, crates, missing);
      console.log(
        `lines of crates/core that a test runs: ${percent.toFixed(2)} % (at least ${MIN_LINE_PERCENTAGE} %)`,
      );
      return percent >= MIN_LINE_PERCENTAGE;
    },
  };
}

/**
 * Returns the paths of the programs that contain the tests of the core. Compiles them if they are
 * stale.
 *
 * @param {readonly string[]} crates those whose tests are compiled with them
 * @param {Record<string, string>} [env]
 */
export function coreTestPrograms(crates, env) {
  const args = [...cargoTestArguments(crates), "--no-run", "--message-format=json"];
  return runAndWait("cargo", args, { env, capture: "stdout" })
    .stdout.split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line))
    .flatMap(({ target, executable }) => (target?.name === "filewright_core" ? (executable ?? []) : []));
}

/**
 * Returns the share of the lines of the core that were run, in percent, and prints the files below
 * 90 %. With `missing`, also prints the lines that were not run.
 */
function linePercentage({ profdata, cov }, crates, missing) {
  const programs = coreTestPrograms(crates, COUNTING_ENVIRONMENT);
  const merged = join(PROFILES_FOLDER, "core.profdata");
  runAndWait(profdata, ["merge", "--sparse", "--output", merged, PROFILES_FOLDER]);
  const objects = programs.flatMap((program, n) => (n === 0 ? [program] : ["--object", program]));
  // Files of tests are left out, because all of their lines are run.
  const of = [...objects, `--instr-profile=${merged}`, "--ignore-filename-regex=registry|rustc|tests?[./]"];
  const said = runAndWait(cov, ["export", "--summary-only", ...of], { capture: true }).stdout;
  const [{ files, totals }] = JSON.parse(said).data;
  for (const { filename, summary } of files) {
    if (summary.lines.percent >= 90) continue;
    console.log(`  ${summary.lines.percent.toFixed(1)} % ${relative(root, filename)}`);
  }
  if (missing) {
    const shown = runAndWait(cov, ["show", ...of], { capture: true }).stdout.split("\n");
    let file = "";
    for (const line of shown) {
      if (line.startsWith("/")) file = relative(root, line.slice(0, -1));
      if (/^\s*\d+\|\s*0\|/u.test(line)) console.log(`${file}:${line}`);
    }
  }
  return totals.lines.percent;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(() => {
    const crates = ["core"];
    const counting = coreCoverage(crates);
    if (counting === undefined) {
      console.error("error: the LLVM tools of this compiler are missing: rustup component add llvm-tools");
      process.exitCode = 1;
    } else if (!process.argv.includes("--tools")) {
      runAndWait("cargo", cargoTestArguments(crates), { env: counting.env });
      if (!counting.isEnough(process.argv.includes("--missing"))) process.exitCode = 1;
    }
  });
}
