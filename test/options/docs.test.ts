/** The page of all options is what the tables and doc comments say. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isOptionsPageFresh } from "../../scripts/options.mjs";

test("docs/reference/options.md is as npm run options prints it", async () => {
  expect(await isOptionsPageFresh(), "it is stale; run: npm run build && npm run options").toBe(true);
});

test("every option says what it is for, here and in an editor", () => {
  const page = readFileSync(new URL("../../docs/reference/options.md", import.meta.url), "utf8");
  const silent = page.split("\n").filter((line) => /^\| `.*\|\s*\|$/u.test(line));
  expect(silent).toEqual([]);
});
