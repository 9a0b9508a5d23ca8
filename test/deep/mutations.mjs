// Requirements by mutations: the one change of the code that a row of test/requirements/rows.jsonl names is made in a
// copy of the checkout, and the row's test has to pass before it and to fail after it. Rows are drawn by the seed; one
// without a mutation is a failure: write it. The draw on record is `--seed 20261124 --count 60`.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../scripts/lib/run.mjs";
import { COUNT, draw } from "../requirements/draw.mjs";

/** Folders that tests run or read as files of their own; others are reached by links. */
const COPIED = new Set(["js", "test", "scripts", "dist"]);
const IGNORED = new Set([".git", "target"]);

const rowsOf = () =>
  readFileSync(join(root, "test/requirements/rows.jsonl"), "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** A copy of the checkout that may be changed. */
function copyCheckout() {
  const copy = mkdtempSync(join(tmpdir(), "filewright-mutations-"));
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    const [from, to] = [join(root, entry.name), join(copy, entry.name)];
    if (IGNORED.has(entry.name)) continue;
    if (entry.isDirectory() && !COPIED.has(entry.name)) symlinkSync(from, to);
    else cpSync(from, to, { recursive: true });
  }
  return copy;
}

/** Letters of a named column that Vitest shows for certain; it cuts long ones. */
const SHOWN_LETTERS = 30;

/** A title as a regular expression for Vitest: what a table fills in may be anything. */
function titlePattern(title) {
  const [ids, told] = title.split(/(?<=^[\dC -]+): (.*)/su);
  const escaped = (text) =>
    text.replaceAll(/[\\^$.*+?()[\]{}|]/gu, "\\$&").replaceAll(/%[sdifjo#%]|\\\$\w+/gu, ".*");
  // Two columns, which Vitest quotes.
  return told === undefined ? escaped(title) : `${ids}'?: '?${escaped(told.slice(0, SHOWN_LETTERS))}`;
}

/** Runs tests of one file in the copy. @returns them with their names, or what went wrong before any ran */
function runTests(copy, file, pattern) {
  const report = join(copy, "report.json");
  rmSync(report, { force: true });
  const project = file.endsWith(".slow.test.ts") ? "slow" : "fast";
  const args = ["run", "--project", project, file, "-t", pattern, "--maxWorkers=1"];
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

/** How the tests of a row ended. */
function outcomeOf(row, { tests, trouble }) {
  const pattern = new RegExp(titlePattern(row.title), "u");
  const own = tests.filter(({ fullName }) => pattern.test(fullName));
  return {
    passed: own.filter(({ status }) => status === "passed").length,
    failed: own.filter(({ status }) => status === "failed").map(({ failureMessages }) => failureMessages[0]),
    trouble: trouble ?? (own.length === 0 ? "there is no such test" : "it was skipped"),
  };
}

/** The tests of the rows without a change, each file run once. */
function runUnchanged(copy, rows) {
  const files = new Map();
  for (const row of rows) files.set(row.test, [...(files.get(row.test) ?? []), row]);
  const ended = new Map();
  for (const [file, ofFile] of files)
    ended.set(file, runTests(copy, file, ofFile.map(({ title }) => titlePattern(title)).join("|")));
  return ended;
}

/** @returns what is wrong with a row's mutation, or undefined where the test finds it */
function tryMutation(copy, row, unchanged) {
  const before = outcomeOf(row, unchanged);
  if (before.failed.length > 0 || before.passed === 0)
    return `its test does not pass unchanged: ${before.failed[0] ?? before.trouble}`;
  const { file, from, to } = row.mutation;
  const path = join(copy, file);
  const original = readFileSync(path, "utf8");
  writeFileSync(
    path,
    original.replace(from, () => to),
  );
  try {
    const after = outcomeOf(row, runTests(copy, row.test, titlePattern(row.title)));
    if (after.failed.length > 0) return undefined;
    return after.passed > 0 ? "its test passes all the same" : `nothing ran: ${after.trouble}`;
  } finally {
    writeFileSync(path, original);
  }
}

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "requirements: a mutation of the code makes the row's test fail",
  count: COUNT,
  share: 0,
  async run({ seed, count, isOver }) {
    const copy = copyCheckout();
    const failures = [];
    let cases = 0;
    try {
      const rows = draw(rowsOf(), seed, count);
      const unchanged = runUnchanged(
        copy,
        rows.filter(({ mutation }) => mutation !== undefined),
      );
      for (const row of rows) {
        if (isOver()) break;
        const wrong =
          row.mutation === undefined
            ? "no mutation is written for it"
            : tryMutation(copy, row, unchanged.get(row.test));
        cases += 1;
        console.log(`${row.id.padEnd(8)} ${wrong ?? "found"}`);
        if (wrong !== undefined) failures.push(`${row.id}: ${wrong}`);
      }
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
    return { cases, failures };
  },
};
