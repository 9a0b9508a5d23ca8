// Mutation testing: changes the code in a copy of the checkout, and checks that a test that passed
// before fails then. A test is one of vitest, or a unit test of a crate, given by its `.rs` file
// and its name. For a test of vitest and a change of a crate, the native addon is built again.
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { transform } from "esbuild";
import { bundleCommand } from "../bundle.mjs";
import { platformName } from "./platform.mjs";
import { root } from "./run.mjs";

/**
 * A test and the mutation that it has to find. `pattern` is a regular expression for the test's whole name; for a unit
 * test of a crate it is a part of the name. `built`: the test runs the bundled command, which is bundled again from the
 * changed source.
 * @typedef {{
 *   test: string,
 *   pattern: string,
 *   built?: boolean,
 *   mutation: Edit | Edit[],
 * }} Mutant
 */

/**
 * One replacement of a text in a file.
 * @typedef {{ file: string, from: string, to: string }} Edit
 */

/**
 * How the tests of a mutant ended; `trouble` says why, where none passed and none failed.
 * @typedef {{ passed: number, failed: string[], trouble: string }} Ending
 */

/** Folders that are copied, since a mutation changes them or a path in them must be real; others are symbolic links. */
const COPIED_FOLDERS = new Set(["js", "test", "scripts", "dist"]);
const OMITTED_FOLDERS = new Set([".git", "target"]);

/** @returns the path of a copy of the checkout that may be changed */
function copyCheckout() {
  const copy = mkdtempSync(join(tmpdir(), "filewright-mutations-"));
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    const [from, to] = [join(root, entry.name), join(copy, entry.name)];
    if (OMITTED_FOLDERS.has(entry.name)) continue;
    if (entry.isDirectory() && !COPIED_FOLDERS.has(entry.name)) symlinkSync(from, to);
    else cpSync(from, to, { recursive: true });
  }
  return copy;
}

/** Runs an action with a copy of the checkout, which is removed afterwards. */
export async function withCopyOfCheckout(action) {
  const copy = copyCheckout();
  try {
    return await action(copy);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** @returns {string} a text as a regular expression that matches it alone */
export const escapeForRegExp = (text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/gu, "\\$&");

/** The copy shares the target folder of the checkout, so that Cargo builds only what changed. */
const cargoEnvironment = { ...process.env, CARGO_TARGET_DIR: join(root, "target") };

/** Runs one unit test of a crate in the copy. */
function runUnitTest(copy, file, name) {
  const args = ["test", "-p", `filewright-${file.split("/")[1]}`, "--lib", name];
  const child = spawnSync("cargo", args, { cwd: copy, encoding: "utf8", env: cargoEnvironment });
  const [, ended] = /^test \S+ \.\.\. (ok|FAILED)$/mu.exec(child.stdout) ?? [];
  if (ended === undefined) return { tests: [], trouble: `${child.stdout}${child.stderr}`.slice(-300) };
  const message = /panicked at [^\n]*\n([^\n]*)/u.exec(child.stdout)?.[1] ?? "it failed";
  return {
    tests: [{ fullName: name, status: ended === "ok" ? "passed" : "failed", failureMessages: [message] }],
  };
}

/** Runs tests of one file in the copy. @returns them with their names, or what went wrong before any ran */
function runVitestFile(copy, file, pattern) {
  if (file.endsWith(".rs")) return runUnitTest(copy, file, pattern);
  const report = join(copy, "report.json");
  rmSync(report, { force: true });
  const args = ["run", file, "-t", pattern, "--maxWorkers=1"];
  const child = spawnSync(
    process.execPath,
    [join(root, "node_modules/vitest/vitest.mjs"), ...args, "--reporter=json", `--outputFile=${report}`],
    { cwd: copy, encoding: "utf8" },
  );
  try {
    const tests = JSON.parse(readFileSync(report, "utf8")).testResults.flatMap((one) => one.assertionResults);
    return { tests };
  } catch {
    return { tests: [], trouble: child.stderr.slice(-300) };
  }
}

/** @returns {Ending} */
function endingOfMutantTest({ pattern }, { tests, trouble }) {
  const name = new RegExp(pattern, "u");
  const own = tests.filter(({ fullName }) => name.test(fullName));
  return {
    passed: own.filter(({ status }) => status === "passed").length,
    failed: own.filter(({ status }) => status === "failed").map(({ failureMessages }) => failureMessages[0]),
    trouble: trouble ?? (own.length === 0 ? "there is no such test" : "it was skipped"),
  };
}

/**
 * Runs the tests of mutants without a change, each file once.
 * @param {readonly Mutant[]} mutants
 * @returns {(mutant: Mutant) => Ending}
 */
export function runUnmutatedTests(copy, mutants) {
  // Vitest runs a file once for all its tests; Cargo takes one name.
  const keyOf = ({ test, pattern }) => (test.endsWith(".rs") ? `${test} ${pattern}` : test);
  const runs = new Map();
  for (const one of mutants) {
    const { test, patterns = new Set() } = runs.get(keyOf(one)) ?? one;
    runs.set(keyOf(one), { test, patterns: patterns.add(one.pattern) });
  }
  const results = new Map();
  for (const [key, { test, patterns }] of runs)
    results.set(key, runVitestFile(copy, test, [...patterns].join("|")));
  return (mutant) => endingOfMutantTest(mutant, results.get(keyOf(mutant)));
}

/**
 * Makes the change of a mutant, runs its test, and takes the change back.
 * @param {Mutant} mutant
 * @param {Ending} before how the test ended without the change
 * @returns {Promise<{ wrong?: string, failure?: string }>} `wrong`: why the test does not find the mutation, or was not
 *   run; `failure`: the expected failure of the test
 */
export async function tryMutation(copy, mutant, before) {
  if (before.failed.length > 0 || before.passed === 0)
    return { wrong: `its test does not pass unchanged: ${before.failed[0] ?? before.trouble}` };
  const edits = [mutant.mutation].flat();
  for (const { file } of edits)
    if (!isInCopiedFolder(file)) return { wrong: `${file} is no file of the copy` };
  const originals = new Map(edits.map(({ file }) => [file, readFileSync(join(copy, file), "utf8")]));
  const changed = new Map(originals);
  for (const { file, from, to } of edits) {
    const text = changed.get(file);
    if (!text.includes(from)) return { wrong: `${file} does not contain the text that is to be changed` };
    changed.set(
      file,
      text.replace(from, () => to),
    );
  }
  const needsAddon = edits.some(({ file }) => file.startsWith("crates/")) && !mutant.test.endsWith(".rs");
  if (edits.some(({ file }) => file.startsWith("crates/"))) copyCrates(copy);
  try {
    await writeFilesOfCopy(copy, changed, mutant.built === true);
    if (needsAddon) buildAddon(copy);
    const after = endingOfMutantTest(mutant, runVitestFile(copy, mutant.test, mutant.pattern));
    if (after.failed.length > 0) return { failure: after.failed[0] };
    return { wrong: after.passed > 0 ? "its test passes all the same" : `nothing ran: ${after.trouble}` };
  } finally {
    await writeFilesOfCopy(copy, originals, mutant.built === true);
    const addon = `dist/native/filewright.${platformName()}.node`;
    if (needsAddon) copyFileSync(join(root, addon), join(copy, addon));
  }
}

/** A change of another file would go through a symbolic link into the checkout itself. */
function isInCopiedFolder(file) {
  const [folder, ...rest] = file.split("/");
  return rest.length === 0 || folder === "crates" || COPIED_FOLDERS.has(folder);
}

/** Replaces the link to the crates by a copy of them. */
function copyCrates(copy) {
  const crates = join(copy, "crates");
  if (!lstatSync(crates).isSymbolicLink()) return;
  rmSync(crates);
  cpSync(join(root, "crates"), crates, { recursive: true });
}

/** Builds the native addon of the copy. */
function buildAddon(copy) {
  const script = join(copy, "scripts/build.mjs");
  const child = spawnSync(process.execPath, [script, "--native-only", "--force"], {
    cwd: copy,
    encoding: "utf8",
    env: cargoEnvironment,
  });
  if (child.status !== 0) throw new Error(`the native addon was not built: ${child.stderr.slice(-600)}`);
}

/** Writes files of the copy. `built`: also compiles them into dist, and bundles the command again. */
async function writeFilesOfCopy(copy, files, built) {
  for (const [file, content] of files) {
    writeFileSync(join(copy, file), content);
    if (!built) continue;
    const { code } = await transform(content, { loader: "ts", target: "es2023" });
    const path = join(copy, file.replace(/^js\//u, "dist/").replace(/\.ts$/u, ".js"));
    // Imports name .js files there.
    writeFileSync(path, code.replaceAll(/((?:from|import)\s*\(?"\.[^"]*)\.ts"/gu, '$1.js"'));
  }
  if (built) await bundleCommand({ absWorkingDir: copy });
}
