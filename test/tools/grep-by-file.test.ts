/** The text of grep: from six lines of one file on its path stands once, above them. */
import { describe, expect, test } from "vitest";
import { MemoryBackend, openWorkspace, type WorkspaceOptions } from "../../js/index.node.ts";
import { KINDS, place } from "./harness.ts";

const hits = (count: number, word = "hit"): string => `${word}\n`.repeat(count);
const numbered = (path: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${path}${index + 1}:hit`);

describe.each(KINDS)("grep on %s", (kind) => {
  const rows: readonly (readonly [string, Record<string, string>, object, readonly string[]])[] = [
    ["five lines of a file", { a: hits(5) }, {}, numbered("a:", 5)],
    ["six lines of a file", { a: hits(6) }, {}, ["a", ...numbered("", 6)]],
    [
      "few and many lines in turn",
      { a: hits(2), b: hits(7), c: hits(5), d: hits(6) },
      {},
      [...numbered("a:", 2), "b", ...numbered("", 7), ...numbered("c:", 5), "d", ...numbered("", 6)],
    ],
    [
      "many lines of several files",
      { a: hits(6), b: hits(6) },
      {},
      ["a", ...numbered("", 6), "b", ...numbered("", 6)],
    ],
    [
      "lines with those around them",
      { a: "1\n2\nhit\n4\n5\n" },
      { context: 2 },
      ["a-1-1", "a-2-2", "a:3:hit", "a-4-4", "a-5-5"],
    ],
    [
      "six lines with those around them",
      { a: "1\n2\n3\nhit\n5\n6\n7\n" },
      { context: 3 },
      ["a", "1-1", "2-2", "3-3", "4:hit", "5-5", "6-6", "7-7"],
    ],
    [
      "a match of several lines",
      { a: "hit\n2\n3\n4\n5\nend\n" },
      { pattern: "hit(.|\n)*end", multiline: true },
      ["a", "1:hit", "2:2", "3:3", "4:4", "5:5", "6:end"],
    ],
    ["a name that could forge a line", { "a\nb:1:x": hits(6) }, {}, ["a\\nb:1:x", ...numbered("", 6)]],
    ["files", { a: hits(9), b: hits(9) }, { output: "files" }, ["a", "b"]],
    ["counts", { a: hits(9), b: hits(9) }, { output: "count" }, ["a:9", "b:9"]],
  ];
  test.each(rows)("shows %s", async (_, seed, args, lines) => {
    const { ws } = await place(kind, seed);
    const { text, data } = await ws.call("grep", { pattern: "hit", ...args });
    expect(text.split("\n")).toEqual(lines);
    for (const match of (data as { readonly matches?: readonly { readonly path: string }[] })?.matches ?? [])
      expect(Object.keys(seed)).toContain(match.path);
  });

  test("cuts below the size of a page and goes on where it stopped", async () => {
    const { ws } = await place(
      kind,
      { "dir/a": hits(40, "hit line"), "dir/b": hits(40, "hit line") },
      {
        limits: { pageBytes: 700 },
      },
    );
    let lines = 0;
    let cursor: string | undefined;
    for (let page = 0; page < 20; page++) {
      const { text, data } = await ws.call("grep", { pattern: "hit", cursor });
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(700 + 500);
      lines += data?.matches?.length ?? 0;
      cursor = data?.next_cursor;
      if (cursor === undefined) break;
    }
    expect(lines).toBe(80);
  });
});

describe("the presets", () => {
  const open = (preset: WorkspaceOptions["preset"]) =>
    openWorkspace({ backend: new MemoryBackend({ "/w/a": hits(6) }), root: "/w", preset, guard: "off" });

  test.each([
    ["claude", "Grep", { pattern: "hit", output_mode: "content" }, ["a", ...numbered("", 6)]],
    ["claude", "Grep", { pattern: "hit", output_mode: "content", "-n": false }, Array(6).fill("a:hit")],
    ["tinyagent", "search_files", { pattern: "hit" }, numbered("a:", 6)],
  ] as const)("%s: %s %j", async (preset, tool, args, lines) => {
    await using ws = await open(preset);
    const name = ws.tools.find(({ name }) => name.toLowerCase().includes(tool.toLowerCase()))?.name ?? tool;
    expect((await ws.call(name, args)).text.split("\n")).toEqual(lines);
  });
});
