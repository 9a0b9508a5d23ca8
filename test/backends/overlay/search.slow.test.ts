/** More generated changes than `search.test.ts` compares. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, it } from "vitest";
import { share } from "../../support/share.ts";
import { compareCase } from "./compare-case.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-overlay-search-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const SEEDS = Array.from({ length: 150 }, (_, index) => 100 + index);

it("searches of an overlay and of the merged tree, 150 generated trees, by day a share of them", async () => {
  for (const seed of share(SEEDS, 25)) await compareCase(base, seed);
});
