/** `find_files`, and what `grep` gives first: the same on every kind of storage. */
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { FindFilesArgs } from "../../js/tools/index.ts";
import { isDefinitionAt } from "../../js/tools/grep/rank.ts";
import { KINDS, place } from "./harness.ts";

const tree = {
  "src/user/controller.ts": "x\n",
  "src/user/control.css": "x\n",
  "src/users.ts": "x\n",
  "docs/controller.md": "x\n",
  "README.md": "x\n",
  "docs/readme/index.md": "x\n",
  ".gitignore": "dist/\n",
  "dist/user/controller.js": "x\n",
  "café/naïve.txt": "x\n",
  "evil\nname.txt": "x\n",
  "../out/controller-outside.ts": "x\n",
  out: { link: "$O" },
  special: null,
};

describe.each(KINDS)("find_files on %s", (kind) => {
  const found: readonly [name: string, args: FindFilesArgs, files: readonly string[]][] = [
    ["letters in their order", { query: "usrctrlr" }, ["src/user/controller.ts"]],
    ["a name before a directory", { query: "readme.md" }, ["README.md"]],
    ["letter case and spaces aside", { query: "USER  controller" }, ["src/user/controller.ts"]],
    ["a wrong letter in a longer query", { query: "controlxer.md" }, ["docs/controller.md"]],
    [
      "below a path, shown from the workspace",
      { query: "ctl", path: "src" },
      ["src/user/control.css", "src/user/controller.ts"],
    ],
    [
      "ignored files on request",
      { query: "user/controller.", respect_ignore: false },
      ["src/user/controller.ts", "dist/user/controller.js"],
    ],
    ["letters beyond ASCII", { query: "naïve" }, ["café/naïve.txt"]],
    ["nothing beyond a link that leads out", { query: "outside" }, []],
    ["nothing", { query: "zzqqzz" }, []],
  ];
  test.each(found)("finds %s", async (_, args, files) => {
    const { ws } = await place(kind, tree);
    const result = await ws.call("find_files", args);
    expect(result.ok, result.text).toBe(true);
    const paths = result.data?.files.map((file) => file.path) ?? [];
    expect(paths.slice(0, Math.max(1, files.length)).sort()).toEqual([...files].sort());
    if (files.length === 0) expect(result.text).toBe(`No files match ${args.query}`);
    else expect(result.text).toBe(paths.join("\n"));
  });

  test("finds composed names by a decomposed query and the reverse", async () => {
    const composed = "caf\u00e9/pl\u00e4ne.txt";
    const parted = "o\u0308l/men\u0075\u0308.txt";
    const { ws } = await place(kind, { [composed]: "x\n", [parted]: "x\n", "other.md": "x\n" });
    for (const [query, path] of [
      ["pl\u0061\u0308ne", composed],
      ["caf\u00e9 pl\u00e4ne", composed],
      ["men\u00fc", parted],
      ["\u00f6l", parted],
    ] as const) {
      const { files, total } = await ws.findFiles({ query });
      expect(
        files.map((file) => file.path),
        query,
      ).toEqual([path]);
      expect(total, query).toBe(1);
    }
  });

  test("tells how many there are beyond the limit", async () => {
    const { ws } = await place(kind, tree);
    const { data, text } = await ws.call("find_files", { query: "control", limit: 1 });
    expect(data).toMatchObject({ total: 3, truncated: true });
    expect(text).toMatch(/^.+\n\[1 of 3 files; more letters narrow it\]$/u);
  });

  test("a name cannot forge a line", async () => {
    const { ws } = await place(kind, tree);
    const { data, text } = await ws.call("find_files", { query: "evil" });
    expect(data?.files[0]?.path).toBe("evil\nname.txt");
    expect(text).toBe("evil\\nname.txt");
  });

  const refused: readonly [string, FindFilesArgs, string][] = [
    ["nothing to look for", { query: " " }, "INVALID_ARGUMENT"],
    ["too much to look for", { query: "a".repeat(300) }, "INVALID_ARGUMENT"],
    ["a file as the place", { query: "a", path: "README.md" }, "NOT_DIRECTORY"],
    ["a place that is not there", { query: "a", path: "nowhere" }, "NOT_FOUND"],
    ["a place outside", { query: "a", path: "../out" }, "OUTSIDE_ALLOWED"],
  ];
  test.each(refused)("refuses %s", async (_, args, code) => {
    const { ws } = await place(kind, tree);
    const result = await ws.call("find_files", args);
    expect(result.ok ? "ok" : result.error.code).toBe(code);
  });

  test("what the policy hides is not found, by the index or without", async () => {
    const seed = { ...tree, "keys/deep/user.pem": "needle\n", ".env": "needle\n", "a.txt": "needle\n" };
    const { ws, foreign } = await place(kind, seed, { access: { deny: ["keys/**"] } });
    for (const round of ["first", "again"]) {
      const names = async (query: string) => (await ws.findFiles({ query })).files.map(({ path }) => path);
      expect(await names("user.pem"), round).toEqual([]);
      expect(await names(".env"), round).toContain(".env");
      expect((await ws.glob({ pattern: "**/*.pem" })).total, round).toBe(0);
      const found = await ws.grep({ pattern: "needle" });
      expect(
        found.matches?.map(({ path }) => path),
        round,
      ).toEqual(["a.txt"]);
      // Written by others, and seen by no watch of ours.
      await foreign("keys/deep/user2.pem", "needle\n");
    }
  });
});

describe("find_files by time", () => {
  test("what changed lately counts more", async () => {
    const { ws, root } = await place("local", { "a/hub.c": "", "b/hub.c": "", "c/hub.c": "" });
    const old = new Date(Date.now() - 30 * 86_400_000);
    for (const name of ["a", "b"]) await utimes(join(root, name, "hub.c"), old, old);
    const first = async (rank: "score" | "recent") =>
      (await ws.findFiles({ query: "hub.c", rank, limit: 1 })).files[0]?.path;
    expect([await first("score"), await first("recent")]).toEqual(["a/hub.c", "c/hub.c"]);
  });
});

describe.each(KINDS)("grep by rank on %s", (kind) => {
  const code = {
    "a.c": "x = hub();\nint hub(void)\n{\n",
    "b.ts": "hub(1);\nexport function hub(n: number) {}\n",
    "c.txt": "hub\n",
  };
  const lines = (text: string) => text.split("\n");

  test("definitions come first, and nothing is lost", async () => {
    const { ws } = await place(kind, code);
    const { text, data } = await ws.call("grep", { pattern: "hub", word: true, rank: "definitions" });
    expect(lines(text)).toEqual([
      "a.c:2:int hub(void)",
      "b.ts:2:export function hub(n: number) {}",
      "a.c:1:x = hub();",
      "b.ts:1:hub(1);",
      "c.txt:1:hub",
    ]);
    expect(data).toMatchObject({ complete: true, truncated: false, total_matches: 5 });
    const files = await ws.grep({ pattern: "hub\\(n", rank: "definitions", output: "files" });
    expect(files.files).toEqual(["b.ts"]);
  });

  test("a limit keeps the first, and says so, without a cursor", async () => {
    const { ws } = await place(kind, code);
    const { text, data } = await ws.call("grep", { pattern: "hub", rank: "definitions", max_results: 2 });
    expect(lines(text).at(-1)).toBe("[limit of 2 matches reached, there is more]");
    expect(data).toMatchObject({ complete: false, truncated: true });
    expect(data).not.toHaveProperty("next_cursor");
    const again = await ws.call("grep", { pattern: "hub", rank: "recent", cursor: "x" });
    expect(again.ok ? "ok" : again.error.code).toBe("INVALID_ARGUMENT");
  });

  test("files that changed lately come first", async () => {
    const { ws, root } = await place("local", code);
    const old = new Date(Date.now() - 86_400_000);
    for (const name of ["a.c", "b.ts"]) await utimes(join(root, name), old, old);
    const found = await ws.grep({ pattern: "hub", rank: "recent", output: "files" });
    expect(found.files).toEqual(["c.txt", "a.c", "b.ts"]);
  });
});

describe("a definition", () => {
  const cases: readonly [line: string, name: string, is: boolean][] = [
    ["pub(crate) fn scan(root: &Path) {", "scan", true],
    ["    let found = scan(root);", "scan", false],
    ["    let found = scan(root);", "found", true],
    ["static int usb_probe(struct usb *u)", "usb_probe", true],
    ["int usb_probe(struct usb *u);", "usb_probe", false],
    ["return usb_probe(u)", "usb_probe", false],
    ["#define HUB_MAX 3", "HUB_MAX", true],
    ["func (s *Server) Close() error {", "Close", true],
    ["class Hub(Base):", "Hub", true],
    ["  hub: function () {", "hub", true],
    ["const hub = async (a) => a;", "hub", true],
    ["// the function hub is old", "old", false],
    ["if (hub(", "hub", false],
  ];
  test.each(cases)("%s: %s", (line, name, is) => {
    expect(isDefinitionAt(line, line.indexOf(name) + 1)).toBe(is);
  });

  test("hostile lines take no time worth telling", () => {
    for (const line of [
      "fn ".repeat(100_000),
      `${"(".repeat(100_000)}x`,
      `${" ".repeat(100_000)}x`,
      "a ".repeat(1e5),
    ])
      expect(typeof isDefinitionAt(line, line.length)).toBe("boolean");
  });
});
