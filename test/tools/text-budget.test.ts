/** Searches and listings only count results that no answer can show, on a disk and in memory alike. */
import type { Files } from "../../js/backends/files.ts";
import { describe, expect, test } from "vitest";
import { LocalBackend, MemoryBackend } from "../../js/index.node.ts";
import type { GlobArgs, GrepArgs } from "../../js/tools/index.ts";
import { type Kind, KINDS, place } from "./harness.ts";

const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => `${line(n)}\n`).join("");

const tree: Readonly<Record<string, string>> = {
  "a.txt": lines(60, (n) => `needle ${n}`),
  "b/c.txt": lines(300, (n) => (n % 3 === 0 ? `naïve needle 漢 ${n}` : `filler ${n}`)),
  "b/large.txt": lines(30_000, (n) => `needle ${n}`),
  "b/long.txt": lines(20, (n) => `${"x".repeat(900)} needle ${n}`),
  "d/crlf.txt": "needle\r\n".repeat(50),
  ...Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`many/file${n}.txt`, "one needle\n"])),
};
const TOTAL = 60 + 100 + 30_000 + 20 + 50 + 200;
const limits = { pageBytes: 3000 };

/** The tree on a kind of storage, without a workspace. */
async function storage(kind: Kind): Promise<{ readonly fs: Files; readonly root: string }> {
  const { root } = await place(kind, tree);
  if (kind === "local") return { fs: new LocalBackend(), root };
  const seed = Object.entries(tree).map(([path, text]) => [`${root}/${path}`, text] as const);
  return { fs: new MemoryBackend(Object.fromEntries(seed)), root };
}

/** Returns the results of every page, one after the other. */
async function pagesOf<T>(page: (cursor?: string) => Promise<{ items: readonly T[]; next?: string }>) {
  const all: T[] = [];
  let pages = 0;
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const { items, next } = await page(cursor);
    all.push(...items);
    cursor = next;
    pages++;
  }
  return { all, pages };
}

const searches: readonly [name: string, args: GrepArgs][] = [
  ["lines", { pattern: "needle", max_results: 100_000 }],
  ["fewer lines than are there", { pattern: "needle", max_results: 150 }],
  ["lines with others around them", { pattern: "needle", context: 2, max_results: 100_000 }],
  ["matches that cross lines", { pattern: "needle \\d+\\nneedle", multiline: true, max_results: 100_000 }],
  ["some lines of each file", { pattern: "needle", max_per_file: 70, max_results: 100_000 }],
  ["whole lines", { pattern: "needle", max_line_chars: 0, path: "b", max_results: 100_000 }],
  ["one file", { pattern: "needle", path: "b/large.txt", max_results: 100_000 }],
  ["files", { pattern: "needle", output: "files", max_results: 100_000 }],
  ["counts", { pattern: "needle", output: "count", max_results: 100_000 }],
  ["definitions first", { pattern: "needle", rank: "definitions", max_results: 100_000 }],
];

describe("a search that finds more than its answer can show", () => {
  test.each(searches)("answers alike on a disk and in memory when it looks for %s", async (_, args) => {
    const answers = await Promise.all(
      KINDS.map(async (kind) => {
        const { ws } = await place(kind, tree, { limits });
        const { text, data } = await ws.call("grep", args);
        // How many files were looked at before there was enough is chance.
        const {
          fresh: _fresh,
          files_searched: _searched,
          ...rest
        } = data as unknown as Record<string, unknown>;
        return { text, rest };
      }),
    );
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });
});

describe.each(KINDS)("a search on %s that finds more than its answer can show", (kind) => {
  test("counts all of it, and says that there is more", async () => {
    const { ws } = await place(kind, tree, { limits });
    const { text, data } = await ws.call("grep", { pattern: "needle", max_results: 100_000 });
    expect(data).toMatchObject({
      total_matches: TOTAL,
      files_with_matches: 205,
      truncated: true,
      complete: true,
    });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.pageBytes + 500);
    expect(text).toContain(`of ${TOTAL} matches; continue with cursor`);
  });

  test("goes on by its cursor without gap or overlap", async () => {
    const { ws } = await place(kind, tree, { limits });
    const { all, pages } = await pagesOf(async (cursor) => {
      const args = { pattern: "needle", glob: ["!b/large.txt"], max_results: 100_000 };
      const data = await ws.grep({ ...args, ...(cursor === undefined ? {} : { cursor }) });
      return { items: data.matches, ...(data.next_cursor === undefined ? {} : { next: data.next_cursor }) };
    });
    expect(pages).toBeGreaterThan(3);
    const places = all.map(({ path, line }) => `${path}:${line}`);
    expect(new Set(places).size).toBe(places.length);
    expect(places.length).toBe(TOTAL - 30_000);
  });

  test("hands on no match that cannot be shown", async () => {
    const { fs, root } = await storage(kind);
    const { matches, totalMatches } = await fs.grep(root, { pattern: "needle", maxTextBytes: 1000 });
    const rows = matches.map(({ path, line, text }) => `${path}:${String(line).at(0)}:${text}\n`);
    expect(totalMatches).toBe(TOTAL);
    expect(Buffer.byteLength(rows.slice(0, -1).join(""))).toBeLessThan(1000);
    expect(Buffer.byteLength(rows.join(""))).toBeGreaterThanOrEqual(1000);
  });
});

const names: readonly [name: string, args: GlobArgs][] = [
  ["by path", { pattern: "**", limit: 100_000 }],
  ["files and directories", { pattern: "**", type: "any", limit: 100_000 }],
  ["fewer than are there", { pattern: "many/*", limit: 17 }],
];

describe("a search for names that finds more than its answer can show", () => {
  test.each(names)("answers alike on a disk and in memory when it looks %s", async (_, args) => {
    const answers = await Promise.all(
      KINDS.map(async (kind) => {
        const { ws } = await place(kind, tree, { limits: { pageBytes: 700 } });
        const { text, data } = await ws.call("glob", args);
        const { next_cursor: _next, ...rest } = data as unknown as Record<string, unknown>;
        return { text: text.replace(/cursor.*$/u, ""), rest };
      }),
    );
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });

  test.each(KINDS)("goes on by its cursor without gap or overlap on %s", async (kind) => {
    const { ws } = await place(kind, tree, { limits: { pageBytes: 700 } });
    for (const sort of ["path", "mtime"] as const) {
      const { all, pages } = await pagesOf(async (cursor) => {
        const data = await ws.glob({
          pattern: "**",
          sort,
          limit: 1000,
          ...(cursor === undefined ? {} : { cursor }),
        });
        expect(data.total).toBe(205);
        return { items: data.matches, ...(data.next_cursor === undefined ? {} : { next: data.next_cursor }) };
      });
      expect(pages).toBeGreaterThan(2);
      expect(new Set(all).size).toBe(205);
      expect(all.length).toBe(205);
    }
  });
});
