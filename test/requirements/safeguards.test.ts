/** The table of safeguards: that a mutation makes each test fail is run by `npm run deep -- safeguards`. */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");

interface Edit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

interface Row {
  /** The promise, in words. */
  readonly promise: string;
  /** The test that fails without the safeguard, and a part of its whole name. */
  readonly test: string;
  readonly title: string;
  /** The smallest change of the code that removes the safeguard. */
  readonly mutation: Edit | readonly Edit[];
}

const rows: readonly Row[] = readFileSync(join(import.meta.dirname, "safeguards.jsonl"), "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Row);

test("each promise stands in one row", () => {
  expect(new Set(rows.map(({ promise }) => promise)).size).toBe(rows.length);
});

test("each row names a test and files that are there", () => {
  const named = rows.flatMap(({ test: file, mutation }) => [
    file,
    ...[mutation].flat().map((one) => one.file),
  ]);
  expect([...new Set(named)].filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

test("each mutation can be made: the text that it replaces stands in its file once", () => {
  for (const { promise, mutation } of rows) {
    for (const { file, from } of [mutation].flat()) {
      const times = readFileSync(join(ROOT, file), "utf8").split(from).length - 1;
      expect(times, `${promise}: ${from} in ${file}`).toBe(1);
    }
  }
});
