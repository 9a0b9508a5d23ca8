// Safeguards by mutations: each row of test/requirements/safeguards.jsonl names what keeps one promise of SECURITY.md,
// as the smallest change of the code that removes it, and the test that has to fail then. A test that runs the command
// or a crate needs a build of this checkout (`npm run build`).
//
//   npm run deep -- safeguards           every row
//   npm run deep -- safeguards recovery  the rows whose promise, test or file contains this
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  escapeForRegExp,
  runUnmutatedTests,
  tryMutation,
  withCopyOfCheckout,
} from "../../scripts/lib/mutate.mjs";
import { root } from "../../scripts/lib/run.mjs";

const COUNT = 200;

/** The rows that contain a word, in their order. */
const rowsWith = (word) =>
  readFileSync(join(root, "test/requirements/safeguards.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line.includes(word))
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .map((row) => ({ ...row, pattern: escapeForRegExp(row.title) }));

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "safeguards: without any one of them its test fails",
  count: COUNT,
  share: 0,
  takes: "one word that rows contain",
  run: ({ count, operand = "", isOver }) =>
    withCopyOfCheckout(async (copy) => {
      const failures = [];
      let cases = 0;
      const rows = rowsWith(operand).slice(0, count);
      const unchanged = runUnmutatedTests(copy, rows);
      for (const row of rows) {
        if (isOver()) break;
        const { wrong, failure = "" } = await tryMutation(copy, row, unchanged(row));
        cases += 1;
        console.log(`${row.promise}\n  ${wrong ?? `found: ${failure.split("\n", 1)[0]}`}`);
        if (wrong !== undefined) failures.push(`${row.promise}: ${wrong}`);
      }
      return { cases, failures };
    }),
};
