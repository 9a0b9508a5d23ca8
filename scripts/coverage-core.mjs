// Which lines of the Rust core its own tests run. They are the tests that are run
// anyway, built with counters (scripts/lib/counted-rustc.sh) in place of the plain
// ones, and summed by the LLVM tools of the compiler's version.
//
//   node scripts/coverage-core.mjs [--missing]     also which lines no test runs
//   node scripts/coverage-core.mjs --tools         only whether this machine can count
import { mkdirSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { has, main, root, run } from "./lib/run.mjs";

/** Percent of the lines, those of test modules in files of their own left out. */
const LEAST = 95;
const profiles = join(root, "target/coverage/profiles");
const env = {
  RUSTC_WORKSPACE_WRAPPER: join(root, "scripts/lib/counted-rustc.sh"),
  LLVM_PROFILE_FILE: join(profiles, "%p-%m.profraw"),
};
/** The tests of some of our crates, as cargo is asked for them. */
export const testsOf = (crates) => [
  "test",
  "--quiet",
  ...crates.flatMap((name) => ["-p", `filewright-${name}`]),
];

/** The tools that read what this compiler's counters write, or undefined. */
function llvmTools() {
  if (process.platform === "win32" || !has("rustc")) return undefined;
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

/**
 * Has the core's tests counted in a run of `cargo test` that there is anyway.
 *
 * @param {readonly string[]} crates whose tests are run: with others beside it the core is
 *   built with what they want of its dependencies too, and is another program
 * @returns {{ env: Record<string, string>, enough(missing?: boolean): boolean } | undefined}
 *   what to run cargo with, and what to ask afterwards; undefined where nothing can count
 */
export function countingCore(crates) {
  const tools = llvmTools();
  if (tools === undefined) return undefined;
  rmSync(profiles, { recursive: true, force: true });
  mkdirSync(profiles, { recursive: true });
  return {
    env,
    enough(missing = false) {
      const percent = share(tools, crates, missing);
      console.log(`lines of crates/core that a test runs: ${percent.toFixed(2)} % (at least ${LEAST} %)`);
      return percent >= LEAST;
    },
  };
}

/** The share of lines that were run, in percent. */
function share({ profdata, cov }, crates, missing) {
  const args = [...testsOf(crates), "--no-run", "--message-format=json"];
  const programs = run("cargo", args, { env, capture: "stdout" })
    .stdout.split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line))
    .flatMap(({ target, executable }) => (target?.name === "filewright_core" ? (executable ?? []) : []));
  const merged = join(profiles, "core.profdata");
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

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(() => {
    const crates = ["core"];
    const counting = countingCore(crates);
    if (counting === undefined) {
      console.error("error: the LLVM tools of this compiler are missing: rustup component add llvm-tools");
      process.exitCode = 1;
    } else if (!process.argv.includes("--tools")) {
      run("cargo", testsOf(crates), { env: counting.env });
      if (!counting.enough(process.argv.includes("--missing"))) process.exitCode = 1;
    }
  });
}
