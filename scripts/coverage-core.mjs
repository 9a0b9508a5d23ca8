// Which lines of the Rust core its own tests run: built with counters into a place
// of its own, summed with the LLVM tools of the compiler's version. Fails below the
// share that is asked for, and says so where the tools are missing.
//
//   node scripts/coverage-core.mjs [--missing]     also which lines no test runs
import { mkdirSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { has, main, root, run } from "./lib/run.mjs";

/** What was reached: it only goes up, to 95. */
const LEAST = 91.5;
const target = join(root, "target/coverage");
const profiles = join(target, "profiles");

/** The tools that read what this compiler's counters write, or undefined. */
export function llvmTools() {
  if (!has("rustc")) return undefined;
  const about = run("rustc", ["-vV"], { capture: true }).stdout;
  const [, host] = /^host: (.+)$/mu.exec(about) ?? [];
  const [, major] = /^LLVM version: (\d+)/mu.exec(about) ?? [];
  const sysroot = run("rustc", ["--print", "sysroot"], { capture: true }).stdout.trim();
  const places = [
    (name) => join(sysroot, "lib/rustlib", host, "bin", name),
    (name) => `${name}-${major}`,
    (name) => `/usr/lib/llvm-${major}/bin/${name}`,
  ];
  const found = places.find((place) => has(place("llvm-profdata")) && has(place("llvm-cov")));
  return found === undefined ? undefined : { profdata: found("llvm-profdata"), cov: found("llvm-cov") };
}

/** Runs the core's tests with counters; gives the share of lines that were run, in percent. */
export function coverCore({ profdata, cov }, missing = false) {
  rmSync(profiles, { recursive: true, force: true });
  mkdirSync(profiles, { recursive: true });
  const env = {
    RUSTFLAGS: "-C instrument-coverage",
    CARGO_TARGET_DIR: target,
    LLVM_PROFILE_FILE: join(profiles, "%p-%m.profraw"),
  };
  const tests = ["test", "--quiet", "-p", "filewright-core", "--lib", "--tests"];
  const built = run("cargo", [...tests, "--no-run", "--message-format=json"], { env, capture: "stdout" });
  const programs = built.stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .flatMap((line) => JSON.parse(line).executable ?? []);
  run("cargo", tests, { env });
  const merged = join(target, "core.profdata");
  run(profdata, ["merge", "--sparse", "--output", merged, profiles]);
  const objects = programs.flatMap((program, n) => (n === 0 ? [program] : ["--object", program]));
  // The tests themselves are all run, and would make it look better than it is.
  const of = [...objects, `--instr-profile=${merged}`, "--ignore-filename-regex=registry|rustc|tests?[./]"];
  const said = run(cov, ["export", "--summary-only", ...of], { capture: true }).stdout;
  const [{ files, totals }] = JSON.parse(said).data;
  for (const { filename, summary } of files) {
    if (summary.lines.percent >= 90) continue;
    console.log(`  ${summary.lines.percent.toFixed(1)} % ${relative(root, filename)}`);
  }
  if (missing) {
    const shown = run(cov, ["show", ...of], { capture: true }).stdout.split("\n");
    let file = "";
    for (const line of shown) {
      if (line.startsWith("/")) file = relative(root, line.slice(0, -1));
      if (/^\s*\d+\|\s*0\|/u.test(line)) console.log(`${file}:${line}`);
    }
  }
  return totals.lines.percent;
}

/** Says how much is covered, and whether that is enough. */
export function coverageOfCore(missing = false) {
  const tools = llvmTools();
  if (tools === undefined) return undefined;
  const percent = coverCore(tools, missing);
  console.log(`lines of crates/core that a test runs: ${percent.toFixed(2)} % (at least ${LEAST} %)`);
  return percent >= LEAST;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(() => {
    const enough = coverageOfCore(process.argv.includes("--missing"));
    if (enough === undefined) {
      console.error("error: the LLVM tools of this compiler are missing: rustup component add llvm-tools");
    }
    if (enough !== true) process.exitCode = 1;
  });
}
