/** More generated changes than `search.test.ts` compares. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, it } from "vitest";
import { compareCase } from "./compare-case.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-overlay-search-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

it("searches of an overlay and of the merged tree, 150 generated trees", async () => {
  for (let seed = 100; seed < 250; seed++) await compareCase(base, seed);
});
