/** Caches between calls: they save time, and a cached result is never older than the file. */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openWorkspace, type Reader } from "../../js/index.node.ts";
import { pdf } from "../readers/make.ts";
import { KINDS, place } from "../tools/harness.ts";

/** A reader of a kind of our own, and how often it was asked. */
function counted(reusable: boolean | undefined) {
  const made: string[] = [];
  const reader: Reader = {
    mimes: ["text/csv"],
    ...(reusable === undefined ? {} : { reusable }),
    async read({ source, options }) {
      const text = new TextDecoder().decode(await source.read());
      made.push(`${text.length} ${options.pages ?? "all"}`);
      return { text: `${text}\n`.repeat(100) };
    },
  };
  return { made, reader };
}

describe.each(KINDS)("renderings of whole files on %s", (kind) => {
  test("a document is rendered once for all its pages, and anew when its content is another", async () => {
    const { made, reader } = counted(true);
    const { ws, foreign } = await place(kind, { "a.csv": "one" }, { readers: [reader] });
    const page = async (more: object = {}) =>
      (await ws.readFile({ path: "a.csv", max_lines: 1, ...more })).content;
    for (const start_line of [1, 50, 100]) expect(await page({ start_line })).toBe("one\n");
    expect(made).toEqual(["3 all"]);
    // Of the same length, and at once: no time stamp tells the two apart.
    await foreign("a.csv", "two");
    expect([await page(), await page({ start_line: 9 })]).toEqual(["two\n", "two\n"]);
    expect(made).toEqual(["3 all", "3 all"]);
    expect([await page({ pages: "2" }), await page({ pages: "2" })]).toEqual(["two\n", "two\n"]);
    expect(made).toEqual(["3 all", "3 all", "3 2"]);
    await ws.delete({ path: "a.csv" });
    expect((await ws.call("read_file", { path: "a.csv" })).error?.code).toBe("NOT_FOUND");
  });

  test("a reader that does not say it is reusable is asked each time", async () => {
    for (const reusable of [undefined, false]) {
      const { made, reader } = counted(reusable);
      const { ws } = await place(kind, { "a.csv": "one" }, { readers: [reader] });
      for (const start_line of [1, 2]) await ws.readFile({ path: "a.csv", start_line });
      expect(made).toHaveLength(2);
    }
  });

  test("the cache of renderings is bounded: the least recently used are made again", async () => {
    const { made, reader } = counted(true);
    const names = Array.from({ length: 40 }, (_, n) => `${n}.csv`);
    const seed = Object.fromEntries(names.map((name) => [name, `${name}`]));
    const { ws } = await place(kind, seed, { readers: [reader] });
    for (const path of [...names, ...names.slice(-10)]) await ws.readFile({ path });
    expect(made).toHaveLength(40);
    await ws.readFile({ path: "0.csv" });
    expect(made).toHaveLength(41);
  });

  test("a denied file is refused although its rendering is cached", async () => {
    const { made, reader } = counted(true);
    const { ws } = await place(kind, { "a.csv": "one" }, { readers: [reader] });
    await ws.readFile({ path: "a.csv" });
    const other = await ws.agent("other", { access: { deny: ["*.csv"] } });
    expect((await other.call("read_file", { path: "a.csv" })).error?.code).toBe("OUTSIDE_ALLOWED");
    expect(made).toHaveLength(1);
  });

  test("pages of a PDF are those of the file as it is", async () => {
    const { ws } = await place(kind, {
      "d.pdf": pdf(["First", "Second"]),
      "e.pdf": pdf(["Other", "Second"]),
    });
    const read = async (pages: string) => (await ws.call("read_file", { path: "d.pdf", pages })).text;
    expect([await read("1"), await read("1")].map((text) => text.includes("First"))).toEqual([true, true]);
    await ws.copy({ source: "e.pdf", destination: "d.pdf", overwrite: true });
    expect(await read("1")).toContain("Other");
    expect(await read("2")).toContain("Second");
  });
});

test("the lines of a large file are counted once, and anew when it is another", async () => {
  const root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-kept-")));
  const file = join(root, "a.log");
  const write = (line: string, count: number) => {
    fs.writeFileSync(file, line.repeat(count));
    // Long before now: a change within a tick of the clock is never believed.
    fs.utimesSync(file, 1e9, 1e9);
  };
  const settle = () => new Promise((done) => setTimeout(done, 50));
  try {
    await using ws = await openWorkspace({ root, stateDir: join(root, "state") });
    const total = async (start_line: number) =>
      (await ws.readFile({ path: "a.log", start_line, max_lines: 1 })).total_lines;
    write("0123456789abcde\n", 2_000_000);
    await settle();
    expect(await total(1)).toBeNull();
    expect(await total(1_900_000)).toBe(2_000_000);
    expect(await total(1)).toBe(2_000_000);
    // As many bytes and the same times, in other lines.
    write("0123456\n", 4_000_000);
    await settle();
    expect(await total(1)).toBeNull();
    expect(await total(3_900_000)).toBe(4_000_000);
  } finally {
    fs.rmSync(root, { recursive: true, force: true });
  }
});
