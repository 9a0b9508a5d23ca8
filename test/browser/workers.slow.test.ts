/**
 * The engine's workers in a browser: nothing long runs on the page itself, a
 * cancelled call's work stops, and where there are none everything runs in place.
 */
import { beforeAll, expect, it } from "vitest";
import { bundled } from "./bundle.ts";
import { describeChromium, type Opened, withChromium } from "./chromium.ts";
import type { WorkersLab } from "./pages/workers.ts";

declare const lab: WorkersLab;

/** Takes long in one go: a repetition that has to be tried from every place. */
const SLOW = "(some|line|of|text|with)[^x]{1,60}zz";

describeChromium("the engine's workers", () => {
  const chromium = withChromium(() => bundled("workers", "engine-worker"));
  let opened: Opened;
  beforeAll(async () => {
    opened = await chromium.open("workers.html");
  }, 60_000);

  it("nothing long runs on the page itself", async () => {
    const said = await opened.page.evaluate(async () => {
      const [before, after] = [lab.text(20_000), lab.text(20_000, 5)];
      (await lab.useWorkers("engine-worker.js")).close();
      const small = Object.fromEntries(
        Array.from({ length: 100 }, (_, i) => [`/f${i}`, `line 77${i} of text\n`]),
      );
      const ws = await lab.openWorkspace({ backend: new lab.MemoryBackend(small), root: "/" });
      const patch = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-some line 0 of text with (words)\n+other\n";
      const works: Record<string, () => unknown> = {
        search: () => lab.grepTextAsync(before, { pattern: "line 77\\d+ of \\w+" }),
        diff: () => lab.diffAsync(before, after),
        edit: () => lab.planEditsBytesAsync(before, [{ oldText: "some line 7919 of", newText: "a" }]),
        patch: () => lab.applyPatchAsync({ f: before }, patch),
        page: () => lab.readPageAsync(before, { startLine: 9000 }),
        workspace: () => ws.grep({ pattern: "line 77\\d+ of \\w+" }),
      };
      const ran: Record<string, readonly [readonly string[], readonly string[]]> = {};
      for (const [what, work] of Object.entries(works)) {
        const workers = await lab.useWorkers("engine-worker.js");
        const beside = await lab.onPage(work);
        workers.close();
        ran[what] = [beside, await lab.onPage(work)];
      }
      await ws.close();
      return ran;
    });
    expect(said).toEqual({
      search: [[], ["searchquery_new", "searchquery_search"]],
      diff: [[], ["diff"]],
      edit: [[], ["planEdits"]],
      patch: [[], ["applyPatch"]],
      page: [[], ["readPage"]],
      workspace: [[], ["searchquery_new", ...Array(100).fill("searchquery_search")]],
    });
  });

  it("a cancelled call ends, and its worker with it; the next call has another", async () => {
    const said = await opened.page.evaluate(async (slow) => {
      const workers = await lab.useWorkers("engine-worker.js", 1);
      const text = lab.text(20_000);
      // The worker is there before anything is cancelled.
      await lab.grepTextAsync(text, { pattern: "nothing" });
      const controller = new AbortController();
      const search = lab.grepTextAsync(text, { pattern: slow, signal: controller.signal });
      const waiting = lab.grepTextAsync(text, { pattern: "line 77 " });
      controller.abort();
      const cancelled = await search.then(() => "ended", lab.code);
      const after = workers.count;
      const { total } = await waiting;
      const told = await lab
        .grepTextAsync(text, { pattern: "x", signal: AbortSignal.abort() })
        .then(() => "ended", lab.code);
      const wrong = await lab.grepTextAsync(text, { pattern: "(" }).then(() => "ended", lab.code);
      workers.close();
      const inPlace = lab.grepText(text, { pattern: "line 77 " }).total;
      return { cancelled, after, told, wrong, same: total === inPlace };
    }, SLOW);
    expect(said).toEqual({
      cancelled: "CANCELLED",
      after: 1,
      told: "CANCELLED",
      wrong: "INVALID_REGEX",
      same: true,
    });
  });

  it("a script that does not load is no failure", async () => {
    const said = await opened.page.evaluate(async () => {
      const workers = await lab.useWorkers("missing.js");
      const { total } = await lab.grepTextAsync(lab.text(20_000), { pattern: "line 77 " });
      const { reason, count } = workers;
      workers.close();
      return { total, count, known: typeof reason };
    });
    expect(said).toEqual({ total: 2, count: 0, known: "string" });
  });
});
