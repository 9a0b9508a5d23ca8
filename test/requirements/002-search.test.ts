/** Searching, cancelling and being understood: rows of 002 about its reference tools. */
import { describe, expect, test } from "vitest";
import { openWorkspace } from "../../js/index.node.ts";
import { KINDS, place } from "../tools/harness.ts";
import { STORAGES, stored } from "./storage.ts";

const TREE = {
  "a.ts": "Alpha\nbeta\n",
  "src/b.ts": "alpha alpha\n",
  "src/c.md": "ALPHA\n",
  "src/deep/d.ts": "gamma\n",
  ".gitignore": "built/\n*.log\n",
  "built/e.ts": "alpha\n",
  "x.log": "alpha\n",
  ".hidden": "alpha\n",
  ".git/config": "alpha\n",
};

describe.each(STORAGES)("a search over %s", (kind) => {
  const found: readonly [string, Record<string, unknown>, readonly string[]][] = [
    [
      "letter case aside, without ignored files or .git",
      { pattern: "alpha", case: "insensitive" },
      [".hidden:1:1", "a.ts:1:1", "src/b.ts:1:1", "src/c.md:1:1"],
    ],
    ["an expression", { pattern: "^(beta|gamma)$" }, ["a.ts:2:1", "src/deep/d.ts:1:1"]],
    ["some files", { pattern: "alpha", case: "insensitive", glob: "*.ts" }, ["a.ts:1:1", "src/b.ts:1:1"]],
    [
      "what is ignored too",
      { pattern: "alpha", respect_ignore: false, glob: ["*.ts", "*.log"] },
      ["built/e.ts:1:1", "src/b.ts:1:1", "x.log:1:1"],
    ],
  ];
  test.each(found)("one answer, however it is found: %s", async (_, args, places) => {
    const { backend, root } = await stored(kind, TREE);
    await using ws = await openWorkspace({ backend, root });
    const { matches, complete } = await ws.grep(args as unknown as Parameters<typeof ws.grep>[0]);
    expect(matches?.map(({ path, line, column }) => `${path}:${line}:${column}`)).toEqual(places);
    expect(complete).toBe(true);
  });

  test("names that ignore files hide are counted", async () => {
    const { backend, root } = await stored(kind, TREE);
    await using ws = await openWorkspace({ backend, root, preset: "gemini" });
    const { data } = await ws.call("glob", { pattern: "**/*.{ts,log}" });
    expect(data).toMatchObject({ total: 3, ignored: 2 });
    expect((data as unknown as { matches: string[] }).matches.toSorted()).toEqual([
      "a.ts",
      "src/b.ts",
      "src/deep/d.ts",
    ]);
  });
});

describe.each(KINDS)("on %s", (kind) => {
  const ways: readonly [string, string, boolean][] = [
    ["the root", ".", true],
    ["the root, absolute", "$W", true],
    ["with a slash at its end", "$W/", true],
    ["doubled slashes and dots", "$W//d/.././/d", true],
    ["out and in again", "../ws/d", true],
    ["a link inside", "in", true],
    ["the parent", "..", false],
    ["the parent, absolute", "$W/..", false],
    ["a name that begins alike", "$W-other", false],
    ["out by a link", "out", false],
    ["out by a link and back up", "out/../d", true],
    ["the root of everything", "/", false],
  ];
  test.each(ways)("within the root or not: %s", async (_, way, inside) => {
    const { ws, root } = await place(kind, { "d/a": "", in: { link: "d" }, out: { link: "$O" } });
    const { ok, error, text } = await ws.call("list_directory", { path: way.replace("$W", root) });
    // Where `..` follows a link it may be taken by name or by place, but never lead out.
    if (way === "out/../d") expect([undefined, "OUTSIDE_ALLOWED", "NOT_FOUND"]).toContain(error?.code);
    else expect([ok, error?.code], text).toEqual([inside, inside ? undefined : "OUTSIDE_ALLOWED"]);
  });

  test("a call that is cancelled ends as that, and leaves no part of a file", async () => {
    const stop = new AbortController();
    const { ws, text, root } = await place(
      kind,
      { a: "old" },
      {
        confirm() {
          stop.abort();
          return { outcome: "proceed_once" };
        },
      },
    );
    const calls: readonly [string, object][] = [
      ["write_file", { path: "a", content: "new" }],
      ["write_file", { path: "n/m", content: "new" }],
      ["read_file", { path: "a" }],
      ["grep", { pattern: "old" }],
      ["glob", { pattern: "*" }],
      ["read_many_files", { paths: ["*"] }],
    ];
    for (const [tool, args] of calls) {
      expect((await ws.call(tool, args, { signal: stop.signal })).error?.code, tool).toBe("CANCELLED");
    }
    expect([await text("a"), await ws.fs.exists(`${root}/n`)]).toEqual(["old", false]);
    expect((await ws.listDirectory({})).entries.map(({ name }) => name)).toEqual(["a"]);
  });

  test("from an overview to the part that matters, each answer saying how to go on", async () => {
    const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join("");
    const { ws } = await place(kind, { "big.txt": lines(50), "d/small.txt": lines(2) });
    const overview = await ws.grep({ pattern: "line", output: "count" });
    expect(overview.counts).toEqual([
      { path: "big.txt", count: 50 },
      { path: "d/small.txt", count: 2 },
    ]);
    const page = await ws.call("read_file", { path: "big.txt", max_lines: 20 });
    expect(page.text.split("\n").at(-1)).toBe("[lines 1-20 of 50; continue with start_line=21]");
    const next = await ws.readFile({ path: "big.txt", max_lines: 20, start_line: 21 });
    expect([next.start_line, next.end_line]).toEqual([21, 40]);
    const some = await ws.grep({ pattern: "line", max_results: 5 });
    const more = await ws.grep({ pattern: "line", max_results: 5, cursor: some.next_cursor as string });
    expect([some.matches?.at(-1)?.line, more.matches?.[0]?.line]).toEqual([5, 6]);
    const typo = await ws.call("read_file", { path: "d/smal.txt" });
    expect(typo.text).toContain("Did you mean 'd/small.txt'?");
    const misnamed = await ws.call("read_file", { path: "big.txt", startline: 3 });
    expect(misnamed.text).toContain("start_line");
  });
});

test("a replacement is asked for with the lines around it", async () => {
  const { ws } = await place("memory", {}, { preset: "gemini" });
  const replace = ws.tools.find(({ name }) => name === "replace");
  expect(replace?.description).toMatch(/(?:three|3) lines of context/iu);
});
