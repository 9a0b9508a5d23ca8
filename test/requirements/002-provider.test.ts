/** The preset `tinyagent` over its provider, which is any storage: what its table does not show. */
import { describe, expect, test } from "vitest";
import { type FsBackend, openWorkspace } from "../../js/index.node.ts";
import { KINDS, place } from "../tools/harness.ts";
import { ELEVEN, STORAGES, stored } from "./storage.ts";

const preset = "tinyagent";

/** Each tool with a path that it must not reach. */
const reach = (
  path: string,
): readonly (readonly [tool: string, args: Record<string, unknown>, words: string])[] => [
  ["read_file", { file_path: path }, "Path outside readable boundaries"],
  ["write_file", { file_path: path, content: "taken" }, "Path outside writable boundaries"],
  [
    "update_file",
    { file_path: path, old_content: "secret", new_content: "taken" },
    "Path outside writable boundaries",
  ],
  ["search_files", { pattern: "secret", directory: path }, "Directory outside readable boundaries"],
];

describe.each(STORAGES)("the same tools on %s", (kind) => {
  test("write, read, update and search, as promises", async () => {
    const { backend, root } = await stored(kind, {});
    await using ws = await openWorkspace({ backend, root, preset });
    expect(ws.tools.map(({ name }) => name)).toEqual([
      "read_file",
      "write_file",
      "update_file",
      "search_files",
    ]);
    const calls: readonly (readonly [string, Record<string, unknown>, string])[] = [
      [
        "write_file",
        { file_path: "d/a.py", content: "x = 1\ny = 2\n" },
        "Successfully wrote 2 lines (12 bytes)",
      ],
      ["read_file", { file_path: "d/a.py" }, "x = 1\ny = 2\n"],
      [
        "update_file",
        { file_path: "d/a.py", old_content: "1", new_content: "10" },
        "Successfully updated d/a.py: 1",
      ],
      ["search_files", { pattern: "X = 10" }, "d/a.py:1:x = 10"],
    ];
    for (const [tool, args, text] of calls) {
      const answer = ws.call(tool, args);
      expect(answer).toBeInstanceOf(Promise);
      expect((await answer).text, tool).toContain(text);
    }
  });

  test("nothing but the provider is asked, within its bounds", async () => {
    const { backend, root } = await stored(kind, { "in/a": "secret", "out/s": "secret" });
    const asked = new Set<string>();
    const noting = Object.fromEntries(
      ELEVEN.map((name) => [
        name,
        (...args: readonly unknown[]) => {
          asked.add(String(name === "glob" ? (args[1] as { root?: string }).root : args[0]));
          return (backend[name] as (...all: readonly unknown[]) => unknown)(...args);
        },
      ]),
    ) as unknown as FsBackend;
    await using ws = await openWorkspace({ backend: noting, root: `${root}/in`, preset });
    expect((await ws.call("read_file", { file_path: "a" })).text).toBe("secret");
    expect((await ws.call("search_files", { pattern: "secret" })).text).toBe("a:1:secret");
    expect([...asked].some((path) => path.startsWith(`${root}/in`))).toBe(true);
    asked.clear();
    for (const [tool, args] of reach(`${root}/out/s`))
      expect((await ws.call(tool, args)).ok, tool).toBe(false);
    expect([...asked].filter((path) => path.startsWith(`${root}/out`))).toEqual([]);
  });

  test("paths in answers are relative, with slashes, whatever the storage", async () => {
    const { backend, root } = await stored(kind, { "d/e/a": "x\n" });
    await using ws = await openWorkspace({ backend, root, preset });
    for (const directory of [".", "d", "d/e", `${root}/d/../d`]) {
      expect((await ws.call("search_files", { pattern: "x", directory })).text).toBe("d/e/a:1:x");
    }
  });
});

describe.each(KINDS)("results on %s", (kind) => {
  const failed = (code: string) => ({ ok: false, error: { code } });
  const cases: readonly [string, string, Record<string, unknown>, object, Record<string, unknown>, object][] =
    [
      [
        "read: the content, the path, the size in bytes",
        "read_file",
        { file_path: "é.txt" },
        { ok: true, data: { content: "é\n", path: "é.txt", size: 3 } },
        { file_path: "gone" },
        failed("NOT_FOUND"),
      ],
      [
        "write: the path, the bytes of UTF-8, what was done",
        "write_file",
        { file_path: "n", content: "é" },
        { ok: true, data: { path: "n", bytes_written: 2, operation: "create" } },
        { file_path: "é.txt/n", content: "x" },
        failed("NOT_DIRECTORY"),
      ],
      [
        "update: what changed, and no contents but the diff",
        "update_file",
        { file_path: "é.txt", old_content: "é", new_content: "ee" },
        { ok: true, data: { path: "é.txt", applied: true, replacements: 1, bytes_written: 3 } },
        { file_path: "é.txt", old_content: "zz", new_content: "y" },
        failed("MATCH_NOT_FOUND"),
      ],
      [
        "search: the matches",
        "search_files",
        { pattern: "É" },
        { ok: true, data: { matches: [{ path: "é.txt", line: 1, text: "é" }], total_matches: 1 } },
        { pattern: "x", directory: "gone" },
        failed("NOT_FOUND"),
      ],
    ];
  test.each(cases)("%s", async (_, tool, args, result, wrong, failure) => {
    const { ws, text } = await place(kind, { "é.txt": "é\n" }, { preset });
    const bad = await ws.call(tool, wrong);
    expect(bad).toMatchObject(failure);
    expect(bad.data).toBeUndefined();
    expect([await text("é.txt"), await text("n")]).toEqual(["é\n", undefined]);
    expect(await ws.call(tool, args)).toMatchObject(result);
  });

  test("nothing reaches beyond the boundaries, and the refusal says which", async () => {
    const p = await place(
      kind,
      { a: "", "../out/s": "secret\n", link: { link: "$O" }, "deep/l": { link: "../link/s" } },
      { preset },
    );
    for (const path of ["../out/s", `${p.outside}/s`, "link/s", "deep/l", "link/../../out/s"]) {
      for (const [tool, args, words] of reach(path)) {
        const { error, text } = await p.ws.call(tool, args);
        expect([error?.code, tool, path]).toEqual(["OUTSIDE_ALLOWED", tool, path]);
        expect(text).toContain(`Access denied: ${words}: ${path}`);
        expect(text).not.toContain("secret");
      }
    }
    expect(await p.text("../out/s")).toBe("secret\n");
  });

  test("a search follows no link out, and finds nothing beyond", async () => {
    const { ws } = await place(
      kind,
      { "d/a": "secret in\n", "../out/s": "secret out\n", "d/l": { link: "$O" }, "d/s": { link: "$O/s" } },
      { preset },
    );
    expect((await ws.call("search_files", { pattern: "secret" })).text).toBe("d/a:1:secret in");
    expect((await ws.call("search_files", { pattern: "secret", directory: "d/l" })).error?.code).toBe(
      "OUTSIDE_ALLOWED",
    );
  });

  test("letter case counts where the arguments say so, whatever the pattern looks like", async () => {
    const { ws } = await place(kind, { a: "FOO\nFoo\nfoo\n" }, { preset });
    const lines = async (args: Record<string, unknown>) =>
      ((await ws.call("search_files", args)).data as { matches: { line: number }[] }).matches.map(
        ({ line }) => line,
      );
    expect(await lines({ pattern: "Foo" })).toEqual([1, 2, 3]);
    expect(await lines({ pattern: "Foo", case_sensitive: true })).toEqual([2]);
    expect(await lines({ pattern: "F[o]+", regex: true })).toEqual([1, 2, 3]);
  });

  const unreadable: readonly [string, string, string][] = [
    ["missing", "gone.txt", "NOT_FOUND"],
    ["a directory", "d", "IS_DIRECTORY"],
    ["below a file", "t.txt/x", "NOT_DIRECTORY"],
    ["binary", "b.bin", "BINARY_FILE"],
    ["an image", "i.png", "UNSUPPORTED_FORMAT"],
    ["a PDF", "p.pdf", "UNSUPPORTED_FORMAT"],
    ["a ring of links", "ring", "LOOP"],
    ["outside", "../out/s", "OUTSIDE_ALLOWED"],
    ["not a name", "a\0b", "INVALID_ARGUMENT"],
  ];
  test.each(unreadable)(
    "a read of what is %s fails with its own code, and one sentence",
    async (_, file_path, code) => {
      const seed = {
        "t.txt": "",
        "p.pdf": "%PDF-1.4\n",
        d: null,
        "b.bin": Uint8Array.of(0, 1, 2, 0),
        "i.png": Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0),
        ring: { link: "ring" },
      };
      const { ws } = await place(kind, seed, { preset });
      const { error, text } = await ws.call("read_file", { file_path });
      expect(error?.code).toBe(code);
      expect(text.split("\n")[0]?.length).toBeLessThan(208);
      // A remedy that needs arguments which these tools lack is no remedy.
      expect(text).not.toMatch(/non_text|force_text|\bpages\b|\bstat\b|list_directory/u);
    },
  );

  test("missing directories are made inside the boundary, and none for a refused call", async () => {
    const p = await place(kind, { link: { link: "$O" }, f: "" }, { preset });
    for (const file_path of ["link/n/m/a", "../out/n/m/a", "f/n/a"]) {
      expect((await p.ws.call("write_file", { file_path, content: "x" })).ok, file_path).toBe(false);
    }
    expect((await p.ws.call("write_file", { file_path: "n/m/a", content: "x" })).ok).toBe(true);
    expect([await p.ws.fs.exists(`${p.root}/n/m`), await p.text("../out/n/m/a")]).toEqual([true, undefined]);
    await using outer = await openWorkspace(
      kind === "local" ? p.outside : { backend: p.ws.fs, root: p.root },
    );
    if (kind === "local") expect((await outer.listDirectory({})).entries).toEqual([]);
  });

  test("structured data is text: nothing is formatted, sorted or corrected", async () => {
    const { ws, text } = await place(kind, {}, { preset });
    const contents = {
      "a.json": '{"b":1,\n   "a" : 2,}',
      "a.yaml": "b:   1\na: [ 2]\n",
      "a.csv": 'x;y,"z\r\n1,,\r\n',
    };
    for (const [file_path, content] of Object.entries(contents)) {
      await ws.call("write_file", { file_path, content });
      expect(await text(file_path)).toBe(content);
    }
  });

  test("the common approver approves writes and updates by their diff", async () => {
    const shown: string[] = [];
    const { ws, text } = await place(
      kind,
      { a: "one\n" },
      {
        preset,
        confirm({ fileDiff }) {
          shown.push(fileDiff);
          return { outcome: shown.length === 1 ? "cancel" : "proceed_once" };
        },
      },
    );
    const update = { file_path: "a", old_content: "one", new_content: "two" };
    expect((await ws.call("update_file", update)).error?.code).toBe("APPROVAL_DENIED");
    expect(await text("a")).toBe("one\n");
    expect((await ws.call("update_file", update)).ok).toBe(true);
    expect((await ws.call("write_file", { file_path: "n", content: "x\n" })).ok).toBe(true);
    expect(shown).toEqual([
      expect.stringContaining("-one\n+two\n"),
      expect.stringContaining("-one\n+two\n"),
      expect.stringContaining("@@ -0,0 +1 @@\n+x\n"),
    ]);
    expect([await text("a"), await text("n")]).toEqual(["two\n", "x\n"]);
  });

  test("an update tells how many places changed, and shows them", async () => {
    const { ws } = await place(kind, { a: "x\ny\nx\n" }, { preset });
    const { text } = await ws.call("update_file", {
      file_path: "a",
      old_content: "x",
      new_content: "z",
      expected_matches: 2,
    });
    expect(text).toBe(
      "Successfully updated a: 2 replacement(s)\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n-x\n+z\n y\n-x\n+z",
    );
  });
});
