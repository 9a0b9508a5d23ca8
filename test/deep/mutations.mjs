// Requirements by mutations: the one change of the code that a row of test/requirements/rows.jsonl names is made in a
// copy of the checkout, and the row's test has to pass before it and to fail after it. Rows are drawn by the seed; one
// without a mutation is a failure: write it. The draw on record is `--seed 20261124 --count 60`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  escapeForRegExp,
  runUnmutatedTests,
  tryMutation,
  withCopyOfCheckout,
} from "../../scripts/lib/mutate.mjs";
import { root } from "../../scripts/lib/run.mjs";
import { COUNT, draw } from "../requirements/draw.mjs";

const rowsOf = () =>
  readFileSync(join(root, "test/requirements/rows.jsonl"), "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .map((row) => ({ ...row, pattern: titlePattern(row.title) }));

/** A title as a regular expression for Vitest: a column of a table may be any text. */
const titlePattern = (title = "") => escapeForRegExp(title).replaceAll(/%[sdifjo#%]|\\\$\w+/gu, ".*");

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "requirements: a mutation of the code makes the row's test fail",
  count: COUNT,
  share: 0,
  run: ({ seed, count, isOver }) =>
    withCopyOfCheckout(async (copy) => {
      const failures = [];
      let cases = 0;
      const rows = draw(rowsOf(), seed, count);
      const unchanged = runUnmutatedTests(
        copy,
        rows.filter(({ mutation }) => mutation !== undefined),
      );
      for (const row of rows) {
        if (isOver()) break;
        const { wrong } =
          row.mutation === undefined
            ? { wrong: "no mutation is written for it" }
            : await tryMutation(copy, row, unchanged(row));
        cases += 1;
        console.log(`${row.id.padEnd(8)} ${wrong ?? "found"}`);
        if (wrong !== undefined) failures.push(`${row.id}: ${wrong}`);
      }
      return { cases, failures };
    }),
};
