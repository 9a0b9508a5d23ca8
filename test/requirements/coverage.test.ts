/** Enough lines are run by tests, or the change fails: the gates, and that every change meets them. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import config from "../../vitest.config.ts";

const read = (file: string): string =>
  readFileSync(join(resolve(import.meta.dirname, "../.."), file), "utf8");

test("of 100 lines tests run 95, of js/ and of crates/core", () => {
  const { thresholds, include, exclude, provider } = config.test?.coverage ?? {};
  expect(include).toEqual(["js/**/*.ts", "packages/*/src/**/*.ts"]);
  // Run in Chromium by slow tests.
  expect(exclude).toEqual(["js/backends/web/**", "js/review/page/**"]);
  // Counts the command line and the servers, which are processes of their own.
  expect(provider).toBe("custom");
  expect(thresholds).toEqual({ lines: 95 });
  expect(
    Number(/^const MIN_LINE_PERCENTAGE = (\d+);$/mu.exec(read("scripts/coverage-core.mjs"))?.[1]),
  ).toBeGreaterThanOrEqual(95);
  expect(read(".ci/run")).toContain("scripts/test.mjs --check");
});
