/** Calls without a path over several roots: they cover all of them, the working directory first. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  MemoryBackend,
  openWorkspace,
  type ToolData,
  type Workspace,
  type WorkspaceOptions,
} from "../../js/index.node.ts";

const FILES = {
  "/one/a.txt": "needle one\n",
  "/one/sub/b.txt": "needle two\nneedle three\n",
  "/two/c.txt": "needle four\n",
  "/two/deep/d.txt": "needle five\n",
  "/three/e.txt": "needle six\n",
};
const open = (options: WorkspaceOptions = {}) =>
  openWorkspace({
    backend: new MemoryBackend(FILES),
    cwd: "/one",
    access: { read: ["/one", "/two", "/three"], write: ["/one"] },
    ...options,
  });
const ALL = ["a.txt", "sub/b.txt", "/two/c.txt", "/two/deep/d.txt", "/three/e.txt"];

describe("glob without a path", () => {
  test("finds the files of every root", async () => {
    await using ws = await open();
    const found = await ws.glob({ pattern: "*.txt" });
    expect(found).toMatchObject({ matches: ALL, total: 5, truncated: false });
    expect((await ws.call("glob", { pattern: "deep/*" })).text).toBe("/two/deep/d.txt");
  });

  test.each([1, 2, 3, 4])("goes on by its cursor in pages of %i", async (limit) => {
    await using ws = await open();
    const matches: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await ws.glob({ pattern: "*.txt", limit, ...(cursor === undefined ? {} : { cursor }) });
      expect(page.total).toBe(5);
      matches.push(...page.matches);
      cursor = page.next_cursor;
      expect(page.truncated).toBe(cursor !== undefined);
    } while (cursor !== undefined);
    expect(matches).toEqual(ALL);
  });

  test("looks in one directory where it names one", async () => {
    await using ws = await open();
    expect((await ws.glob({ pattern: "*.txt", path: "/one" })).matches).toEqual(["a.txt", "sub/b.txt"]);
    expect((await ws.glob({ pattern: "*.txt", path: "/two" })).total).toBe(2);
  });
});

describe("grep without a path", () => {
  const LINES = [
    "a.txt:1:needle one",
    "sub/b.txt:1:needle two",
    "sub/b.txt:2:needle three",
    "/two/c.txt:1:needle four",
    "/two/deep/d.txt:1:needle five",
    "/three/e.txt:1:needle six",
  ];

  test("searches every root", async () => {
    await using ws = await open();
    const result = await ws.call("grep", { pattern: "needle" });
    expect(result.text).toBe(LINES.join("\n"));
    expect(result.data).toMatchObject({ total_matches: 6, files_searched: 5, complete: true });
    expect((await ws.grep({ pattern: "needle", output: "files" })).files).toEqual(ALL);
    const ranked = await ws.grep({ pattern: "needle", rank: "recent", output: "count" });
    expect(ranked.counts).toHaveLength(5);
  });

  test.each([1, 2, 3, 4, 5])("goes on by its cursor in pages of %i", async (max_results) => {
    await using ws = await open();
    const lines: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await ws.grep({
        pattern: "needle",
        max_results,
        ...(cursor === undefined ? {} : { cursor }),
      });
      lines.push(...page.matches.map(({ path, line, text }) => `${path}:${line}:${text}`));
      cursor = page.next_cursor;
      expect(page.truncated).toBe(cursor !== undefined);
      expect(page.complete).toBe(cursor === undefined);
    } while (cursor !== undefined);
    expect(lines).toEqual(LINES);
  });

  test("goes on behind an answer that is cut by its bytes", async () => {
    const line = `needle ${"x".repeat(80)}\n`;
    const backend = new MemoryBackend({ "/one/a.txt": line.repeat(30), "/two/c.txt": line.repeat(30) });
    await using ws = await open({
      backend,
      access: { read: ["/one", "/two"], write: [] },
      limits: { pageBytes: 4096 },
    });
    const first = await ws.call("grep", { pattern: "needle" });
    const shown = first.data?.matches?.length ?? 0;
    expect(first.data?.matches?.at(-1)?.path).toBe("/two/c.txt");
    const cursor = String(first.data?.next_cursor);
    const rest = await ws.grep({ pattern: "needle", cursor });
    expect(shown + rest.matches.length).toBe(60);
    expect(rest.matches[0]?.path).toBe("/two/c.txt");
  });
});

describe("list_directory without a path", () => {
  test("lists every root", async () => {
    await using ws = await open();
    const result = await ws.call("list_directory", {});
    expect(result.text).toBe(
      "[DIR] sub\n[FILE] a.txt\n[DIR] /two\n[DIR] /two/deep\n[FILE] /two/c.txt\n[DIR] /three\n[FILE] /three/e.txt",
    );
    expect(result.data).toMatchObject({ path: ".", total: 7, truncated: false });
    const deep = await ws.listDirectory({ depth: 2 });
    expect(deep.entries.map(({ path }) => path)).toContain("/two/deep/d.txt");
    expect((await ws.call("list_directory", { path: "/two" })).text).toBe("[DIR] deep\n[FILE] c.txt");
  });

  test.each([1, 2, 3, 4, 5, 6])("goes on by its cursor in pages of %i", async (limit) => {
    await using ws = await open();
    const paths: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await ws.listDirectory({ limit, ...(cursor === undefined ? {} : { cursor }) });
      expect(page.total).toBe(7);
      paths.push(...page.entries.map(({ path }) => path));
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect(paths).toEqual(["sub", "a.txt", "/two", "/two/deep", "/two/c.txt", "/three", "/three/e.txt"]);
  });

  test.each(["json", "names", "tree"] as const)("shows other roots by their paths as %s", async (format) => {
    await using ws = await open();
    expect((await ws.call("list_directory", { format })).text).toContain("/two/c.txt");
  });
});

describe("a call without a path", () => {
  const CALLS = [
    ["glob", { pattern: "*.txt" }, "searched"],
    ["grep", { pattern: "needle" }, "searched"],
    ["list_directory", {}, "listed"],
  ] as const;

  test.each(CALLS)("%s leaves out a root that a rule denies, and says so", async (tool, args, done) => {
    await using ws = await open({ rules: [{ path: "/two/**", decision: "deny" }] });
    const { text, data } = await ws.call(tool, args);
    expect(text).not.toContain("c.txt");
    expect(text).toContain("/three/e.txt");
    expect(JSON.stringify(data)).toContain(`not ${done}: /two`);
  });

  test.each(CALLS)("%s is about the working directory where everything may be read", async (tool, args) => {
    await using ws = await open({ access: { read: null, write: ["/one", "/two"] } });
    expect((await ws.call(tool, args)).text).not.toContain("/two");
  });
});

test("a listing of several roots goes on without a gap where an answer is full before a root ends", async () => {
  const names = Array.from({ length: 2000 }, (_, n) => `a-rather-long-name-of-a-file-${n}.txt`);
  const files = Object.fromEntries(names.map((name) => [`/one/${name}`, ""]));
  await using ws = await open({
    backend: new MemoryBackend({ ...files, "/two/c.txt": "", "/three/e.txt": "" }),
    limits: { pageBytes: 5000 },
  });
  const listed: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await ws.listDirectory({ limit: 5000, ...(cursor === undefined ? {} : { cursor }) });
    expect(page.total).toBe(names.length + 4);
    listed.push(...page.entries.map(({ path }) => path));
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  expect(listed).toEqual([...names.sort(), "/two", "/two/c.txt", "/three", "/three/e.txt"]);
});

describe("two roots on the disk", () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-roots-")));
  const [one, two] = [join(base, "one"), join(base, "two")];
  mkdirSync(join(two, "deep"), { recursive: true });
  mkdirSync(one);
  writeFileSync(join(one, "a.txt"), "needle one\n");
  writeFileSync(join(two, "deep/d.txt"), "needle five\n");
  afterAll(() => rmSync(base, { recursive: true }));

  test.each(["path", "definitions", "recent"] as const)(
    "are both searched by grep, ranked by %s",
    async (rank) => {
      await using ws = await openWorkspace({ roots: [one, two] });
      const found = await ws.grep({ pattern: "needle", rank });
      expect(found.matches.map(({ path }) => path)).toEqual(["a.txt", join(two, "deep/d.txt")]);
    },
  );

  test("are both searched by glob and find_files, and listed", async () => {
    await using ws = await openWorkspace({ roots: [one, two] });
    expect((await ws.glob({ pattern: "*.txt" })).matches).toEqual(["a.txt", join(two, "deep/d.txt")]);
    expect((await ws.findFiles({ query: "dtxt" })).files.map(({ path }) => path)).toContain(
      join(two, "deep/d.txt"),
    );
    const { entries } = await ws.listDirectory({ depth: 2 });
    expect(entries.map(({ path }) => path)).toEqual([
      "a.txt",
      two,
      join(two, "deep"),
      join(two, "deep/d.txt"),
    ]);
  });
});

describe("search_code without a path", () => {
  const code = {
    "one/near.ts": "export const unrelated = 1; // session\n",
    "two/session.ts":
      "export function openSession() {}\n\nexport function closeSession(reason: string) {\n  log(reason);\n}\n",
    "two/other.ts": "export const nothing = 1;\n",
    "two/test/more.ts": "closeSession(reason);\n",
  };
  const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-roots-")));
  for (const [path, text] of Object.entries(code)) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  }
  afterAll(() => rmSync(base, { recursive: true }));
  const memory = new MemoryBackend(
    Object.fromEntries(Object.entries(code).map(([path, text]) => [join(base, path), text])),
  );
  const [one, two] = [join(base, "one"), join(base, "two")];
  const opened = {
    disk: () => openWorkspace({ roots: [one, two] }),
    memory: () => openWorkspace({ backend: memory, cwd: one, access: { read: [one, two] } }),
  };
  const query = "close session reason";
  const placesOf = (data: ToolData["search_code"]): readonly string[] =>
    data.blocks.map(({ path, first_line, last_line }) => `${path}:${first_line}-${last_line}`);

  test.each(["disk", "memory"] as const)("ranks the files of every root together (%s)", async (where) => {
    await using ws = await opened[where]();
    const both = await ws.searchCode({ query });
    expect(placesOf(both)[0]).toBe(`${two}/session.ts:3-5`);
    expect(placesOf(both)).toContain("near.ts:1-1");
    expect(both.files_searched).toBe(4);
    const near = await ws.searchCode({ query, path: one });
    expect(placesOf(near)).toEqual(["near.ts:1-1"]);
  });

  test("ranks them as one directory that holds them", async () => {
    await using together = await openWorkspace({ root: base });
    const whole = (path: string, at: string) => (path.startsWith("/") ? path : join(at, path));
    const expected = await together.searchCode({ query: "closeSession" });
    for (const open of Object.values(opened)) {
      await using ws = await open();
      const found = await ws.searchCode({ query: "closeSession" });
      expect(found.blocks.map((one_) => ({ ...one_, path: whole(one_.path, one) }))).toEqual(
        expected.blocks.map((one_) => ({ ...one_, path: whole(one_.path, base) })),
      );
    }
  });
});

describe("a grant that ends while another root is asked about", () => {
  const SEARCHES = [
    ["grep", { pattern: "needle" }],
    ["search_code", { query: "needle" }],
    ["find_symbol", { name: "needle" }],
    ["glob", { pattern: "*.txt" }],
  ] as const;

  /** Opens the roots with a person who grants each, and takes back the grant of one at the question for the last. */
  const openWithEnding = async (ended: string) => {
    const ws: Workspace = await open({
      permissions: {
        mode: "prompt",
        ask: async (_question, _options, { dir }) => {
          if (dir === "/three") await ws.grants.revoke(ended);
          return "yes";
        },
      },
    });
    return ws;
  };

  test.each(SEARCHES)("%s leaves that root out and names it", async (tool, args) => {
    await using ws = await openWithEnding("/two");
    const { text } = await ws.call(tool, args);
    expect(text).toContain("/three/e.txt");
    expect(text).not.toContain("/two/");
    expect(text).toMatch(/not \w+: \/two\b/u);
  });

  test.each(SEARCHES)("%s is refused where it is the root of the call", async (tool, args) => {
    await using ws = await openWithEnding("/one");
    expect((await ws.call(tool, args)).error?.code).toBe("GRANT_DENIED");
  });
});
