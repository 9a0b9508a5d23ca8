/** Work of a call ends at what may be shown, and where it is cancelled: nothing here is timed. */
import type { Files } from "../../js/backends/files.ts";
import { afterEach, describe, expect, it, vi } from "vitest";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { engine } from "../../js/engine/current.ts";
import { rankYielding } from "../../js/backends/search/search-fuzzy.ts";
import { Yielder } from "../../js/engine/yielder.ts";
import { MemoryBackend, openWorkspace } from "../../js/index.node.ts";
import { rankedGrep } from "../../js/tools/grep/rank.ts";

const made: string[] = [];
afterEach(() => {
  for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
});

describe("diff as html", () => {
  it("ends at the output budget when two files of 5 MB differ in every line", async () => {
    const lines = (word: string): string =>
      Array.from({ length: 250_000 }, (_, n) => `${word} of line ${n}\n`).join("");
    const backend = new MemoryBackend({ "/ws/a.txt": lines("before"), "/ws/b.txt": lines("afterwards") });
    const ws = await openWorkspace({ root: "/ws", backend, limits: { outputBytes: 20_000 } });
    const { ok, text, data } = await ws.call("diff", { a: "a.txt", b: "b.txt", format: "html" });
    await ws.close();
    expect(ok).toBe(true);
    expect(data).toMatchObject({ identical: false, truncated: true });
    // The hunks are what the table is made of: without a bound there are 500,000 lines of them.
    const { hunks } = data as { readonly hunks: readonly { readonly lines: readonly string[] }[] };
    expect(hunks.flatMap((hunk) => hunk.lines).join("\n").length).toBeLessThanOrEqual(20_000);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(20_500);
    expect(text).toContain("the rest of the diff is left out");
    expect(text).toContain("</table>");
  });
});

describe("grep with a million matches", () => {
  it("decodes its hits in slices, and stops at the output budget", async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "filewright-bounded-")));
    made.push(root);
    writeFileSync(join(root, "letters.txt"), "a\n".repeat(1_000_000));
    const ws = await openWorkspace({ root, limits: { pageBytes: 1_000_000 } });
    // Each slice ends with a call of this function, which gives a turn to others where one is due.
    const slices = vi.spyOn(Yielder.prototype, "yieldIfDue");
    try {
      const { ok, data } = await ws.call("grep", { pattern: "a", max_results: 1_000_000 });
      expect(ok).toBe(true);
      expect(data).toMatchObject({ truncated: true });
      // 500 hits of 12 characters or more a slice: no more was unpacked than the budget has room for.
      expect(slices.mock.calls.length).toBeGreaterThan(50);
      expect(slices.mock.calls.length).toBeLessThan(500);
    } finally {
      slices.mockRestore();
      await ws.close();
    }
  });
});

describe("delete of a tree 3,000 deep", () => {
  // The tree is walked to see what was read, and once more to record it.
  it.each([10, 1500, 4500])(
    "answers CANCELLED and changes nothing when it is cancelled at listing %i",
    async (at) => {
      const path = `/ws/top${"/d".repeat(3000)}/f.txt`;
      const backend = new MemoryBackend({ [path]: "deep\n" });
      const cancel = new AbortController();
      let listed = 0;
      let removed = 0;
      const watched = new Proxy(backend, {
        get(target, name) {
          const method = Reflect.get(target, name, target) as unknown;
          if (typeof method !== "function") return method;
          return (...args: unknown[]): unknown => {
            if (name === "listDir" && ++listed === at) cancel.abort();
            if (name === "delete" || name === "removeTree") removed += 1;
            return Reflect.apply(method, target, args) as unknown;
          };
        },
      }) as unknown as Files;
      const ws = await openWorkspace({ root: "/ws", backend: watched, history: true });
      const result = await ws.call("delete", { path: "top", recursive: true }, { signal: cancel.signal });
      await ws.close();
      expect(result.error?.code).toBe("CANCELLED");
      expect(listed).toBeLessThan(at + 5);
      expect(removed).toBe(0);
      expect(await backend.readText(path)).toBe("deep\n");
    },
  );
});

/** Counts the turns of the event loop until the end of work that has no waits of its own. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work().finally(() => (isOver = true));
  return turns;
}

describe("a ranked search", () => {
  const matches = Array.from({ length: 300_000 }, (_, n) => ({
    path: "a.ts",
    line: n + 1,
    column: 5,
    text: "let a",
  }));
  const found = {
    matches,
    counts: [{ path: "a.ts", count: matches.length }],
    truncated: false,
    complete: true,
  };
  const backend = { grep: () => Promise.resolve(found) } as unknown as Files;
  const query = { pattern: "a", maxResults: 1_000_000, output: "content" } as const;

  it("lets other tasks run while it looks for definitions", async () => {
    const turns = await turnsDuring(() =>
      rankedGrep(backend, "/", query, { rank: "definitions", answerBytes: 100_000 }),
    );
    expect(turns).toBeGreaterThanOrEqual(5);
  });

  it("is cancelled while it looks for definitions", async () => {
    const cancel = new AbortController();
    setImmediate(() => cancel.abort());
    const ranked = rankedGrep(
      backend,
      "/",
      { ...query, signal: cancel.signal },
      { rank: "definitions", answerBytes: 100_000 },
    );
    await expect(ranked).rejects.toMatchObject({ code: "CANCELLED" });
  });

  it("gives no more matches than an answer shows", async () => {
    const ranked = await rankedGrep(backend, "/", query, { rank: "definitions", answerBytes: 1300 });
    // 13 bytes a line, and the line beyond the limit.
    expect(ranked.matches).toHaveLength(101);
    expect(ranked.truncated).toBe(true);
  });
});

describe("paths that are ranked in slices", () => {
  const paths = Array.from({ length: 40_000 }, (_, n) => `d${n % 700}/file${n}.txt`);
  const yielder = new Yielder({});

  it.each([
    ["all match", "file", undefined],
    ["some match", "d69file7", undefined],
    ["they match by typos alone", "fiel39999", undefined],
    ["none matches without the typos that are forbidden", "fiel39999", 0],
    ["none matches", "zzzzqq", undefined],
  ])("have the order of one slice where %s", async (_, query, typos) => {
    for (const limit of [undefined, 3, 20_000]) {
      const whole = engine().ranking.paths(query, paths, { limit, typos });
      expect(await rankYielding(query, paths, { limit, typos }, yielder)).toEqual(whole);
    }
  });
});
