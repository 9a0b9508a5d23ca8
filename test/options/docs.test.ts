/** The page of all options is what the tables and doc comments say. */
import { expect, test } from "vitest";
import { isFresh } from "../../scripts/options.mjs";

test("docs/reference/options.md is as npm run options prints it", async () => {
  expect(await isFresh(), "it is stale; run: npm run build && npm run options").toBe(true);
});
