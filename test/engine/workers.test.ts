/** The engine's workers on Node, where the WebAssembly engine is in use. */
import { afterAll, expect, it } from "vitest";
import { engine, setEngine } from "../../js/engine/current.ts";
import { useWorkers } from "../../js/engine/workers/workers.node.ts";
import type { SearchQuery, SentQuery } from "../../js/engine/search.ts";
import { FilewrightError, MemoryBackend } from "../../js/index.node.ts";
import { describeParity, engines } from "../parity/engines.ts";

const lines = (count: number) =>
  new TextEncoder().encode(Array.from({ length: count }, (_, i) => `line ${i % 500} of (text)\n`).join(""));
const code = (error: unknown) => (error instanceof FilewrightError ? error.code : String(error));

describeParity("the engine's workers", () => {
  const before = engine();
  afterAll(() => setEngine(before));

  it("are not wanted by the native engine, which has threads", async () => {
    setEngine(engines?.native as ReturnType<typeof engine>);
    const workers = await useWorkers();
    expect([workers.count, workers.reason]).toEqual([0, "the native engine has threads of its own"]);
  });

  it("answer as the engine does in place, and a cancelled call is given up", async () => {
    const wasm = engines?.wasm as ReturnType<typeof engine>;
    setEngine(wasm);
    const workers = await useWorkers({ size: 1 });
    try {
      const [old, now] = [lines(6000), lines(6001)];
      const limits = { pattern: "line 77 " };
      expect(await engine().grepTextAsync(old, limits)).toEqual(wasm.grepText(old, limits));
      expect(workers.count).toBe(1);
      expect(JSON.stringify(await engine().diffAsync(old, now))).toBe(JSON.stringify(wasm.diff(old, now)));
      const edits = [{ oldText: "line 0 of (text)", newText: "x", replaceAll: true }];
      expect(await engine().planEditsBytesAsync(old, edits)).toMatchObject({ ok: true, replacements: 12 });
      const patch = wasm.diff(old, now, { oldName: "f" }).text;
      const [patched] = await engine().applyPatchAsync({ f: old }, patch);
      expect(patched?.bytes).toEqual(now);
      const page = await engine().reading.readPage(old, { startLine: 5, maxLines: 1 });
      expect(page.content).toBe(wasm.readPage(old, { startLine: 5, maxLines: 1 }).content);
      expect(await engine().planEditsBytesAsync(old, [{ oldText: "missing" }])).toMatchObject({ ok: false });
      expect(await engine().grepTextAsync(old, { pattern: "(" }).catch(code)).toBe("INVALID_REGEX");

      const controller = new AbortController();
      const { signal } = controller;
      const given = [
        engine().grepTextAsync(old, { pattern: "x", signal }),
        engine().diffAsync(old, now, { signal }),
        engine().planEditsBytesAsync(old, edits, { signal }),
        engine().applyPatchAsync({ f: old }, patch, { signal }),
      ].map((call) => (call as Promise<unknown>).catch(code));
      controller.abort();
      expect(await Promise.all(given)).toEqual(Array(4).fill("CANCELLED"));
      expect((await engine().grepTextAsync(old, limits)).total).toBe(12);
    } finally {
      workers.close();
    }
    expect(workers.reason).toBe("closed");
    expect((await engine().grepTextAsync(lines(6000), { pattern: "line 77 " })).total).toBe(12);
  });

  it("are sent the contents of several files in one message where a walk reads them", async () => {
    setEngine(engines?.wasm as ReturnType<typeof engine>);
    const workers = await useWorkers({ size: 1 });
    const sending = engine();
    const sizes: number[] = [];
    try {
      setEngine({
        ...sending,
        sentQuery: (query) => {
          const sent = sending.sentQuery(query);
          if (sent === undefined) return undefined;
          const searchAll: SentQuery["searchAll"] = (contents, ...rest) => {
            sizes.push(contents.length);
            return sent.searchAll(contents, ...rest);
          };
          return { ...sent, searchAll };
        },
      });
      const files = Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`/f${i}`, `Value${i}Error\n`]));
      const found = await new MemoryBackend(files).grep("/", {
        pattern: "\\w+[13]Error",
        index: "off",
      });
      expect(found).toMatchObject({ filesSearched: 80, totalMatches: 16 });
      // The first message compiles the query.
      expect(sizes.length).toBeLessThan(1 + 80 / 4);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(80);
    } finally {
      workers.close();
    }
  });

  it("compile what a page would wait for, and find in a tree what is found in place", async () => {
    const wasm = engines?.wasm as ReturnType<typeof engine>;
    const files = Object.fromEntries(
      Array.from({ length: 700 }, (_, i) => {
        const content = i % 50 === 7 ? "\0" : `line ${i}\nname_${i % 9} = Value${i}Error\n`;
        return [`/${i % 4}/f${i}.txt`, content] as const;
      }),
    );
    const query = (): SearchQuery => ({ pattern: "\\w+[13]Error" });
    const asked: readonly Partial<SearchQuery>[] = [
      {},
      {},
      { maxResults: 5 },
      { maxResults: 40, maxPerFile: 1, glob: "*1.txt" },
      { output: "files", maxResults: 30 },
      { output: "count", word: true, case: "insensitive" },
      { pattern: "absent\\d" },
      { patterns: ["Value\\d7E", "line \\d{2}$"] },
      { index: "off", maxResults: 7 },
    ];
    const all = async () => {
      const backend = new MemoryBackend(files);
      const said: unknown[] = [];
      for (const more of asked) {
        const { pattern, ...rest } = { ...query(), ...more };
        const given = rest.patterns === undefined ? { pattern, ...rest } : rest;
        const first = await backend.grep("/", given);
        said.push(first);
        if (first.nextCursor !== undefined)
          said.push(await backend.grep("/", { ...given, cursor: first.nextCursor }));
      }
      said.push(await backend.grep("/0/f0.txt", query()));
      return said;
    };
    setEngine(wasm);
    const inPlace = await all();
    const workers = await useWorkers({ size: 1 });
    try {
      expect(await all()).toEqual(inPlace);
      expect(workers.count).toBe(1);
      const backend = new MemoryBackend({});
      expect(await backend.grep("/", { pattern: "(\\w" }).catch(code)).toBe("INVALID_REGEX");
      const controller = new AbortController();
      const { signal } = controller;
      const cancelled = new MemoryBackend(files).grep("/", { ...query(), signal }).catch(code);
      controller.abort();
      expect(await cancelled).toBe("CANCELLED");
    } finally {
      workers.close();
    }
    expect(await all()).toEqual(inPlace);
  });
});
