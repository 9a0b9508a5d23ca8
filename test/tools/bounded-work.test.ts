/** Work of a call ends at what may be shown, and where it is cancelled: nothing here is timed. */
import { afterEach, describe, expect, it } from "vitest";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FsBackend, MemoryBackend, openWorkspace } from "../../js/index.node.ts";

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
  it("lets others run between its slices, and stops at the output budget", async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "filewright-bounded-")));
    made.push(root);
    writeFileSync(join(root, "letters.txt"), "a\n".repeat(1_000_000));
    const ws = await openWorkspace({ root, limits: { pageBytes: 1_000_000 } });
    let over = false;
    let turns = 0;
    let last = 0;
    // Counts the turns that come after the last wait for the native engine has ended.
    const original = globalThis.setTimeout;
    const slices: number[] = [];
    globalThis.setTimeout = ((run: () => void, ms?: number, ...rest: unknown[]) => {
      if (ms === undefined) slices.push(turns);
      return original(run, ms, ...rest);
    }) as typeof setTimeout;
    const beside = (async () => {
      for (; !over; turns++) await new Promise(setImmediate);
    })();
    try {
      const { ok, data } = await ws.call("grep", { pattern: "a", max_results: 1_000_000 });
      expect(ok).toBe(true);
      expect(data).toMatchObject({ truncated: true });
      last = turns;
    } finally {
      over = true;
      globalThis.setTimeout = original;
      await beside;
      await ws.close();
    }
    // Each slice waited for a turn, and others had one before the next.
    expect(slices.length).toBeGreaterThan(5);
    expect(new Set([...slices, last]).size).toBe(slices.length + 1);
    // 5000 hits of 12 characters a slice: no more was unpacked than the budget has room for.
    expect(slices.length).toBeLessThan(100);
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
      }) as unknown as FsBackend;
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
