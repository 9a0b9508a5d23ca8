/** `outline`, and the definitions that it lists as places of reads and edits. */
import { countTokensWith } from "../../js/tools/lib/tokens.ts";
import { describe, expect, test } from "vitest";
import { KINDS, place } from "./harness.ts";

const python = `import os

LIMIT = 3

class Store:
    """def no(self): pass"""

    @property
    def size(self):
        return 1

    # Reads one.
    def read(self, key):
        def inner():
            return key
        return inner()

class Cache(Store):
    def read(self, key):
        return None
`;
const go = "package a\n\ntype T struct{}\n\nfunc (t *T) Run() {\n}\n";

const seed = {
  "store.py": python,
  "lib/a.go": go,
  "lib/b.ts": `export class B { run() { return "}"; } }\n`,
  "lib/notes.txt": "def no(): pass\n",
  ".gitignore": "built/\n",
  "built/x.py": "def built(): pass\n",
  run: "#!/usr/bin/env python3\ndef main():\n    pass\n",
};

describe.each(KINDS)("outline on %s", (kind) => {
  test("lists the definitions of a file by lines, those inside indented", async () => {
    const { ws } = await place(kind, seed);
    const { text, data } = await ws.call("outline", { path: "store.py" });
    expect(text).toBe(
      [
        "store.py",
        "3  LIMIT = 3",
        "5-16  class Store:",
        "9-10    def size(self):",
        "13-16    def read(self, key):",
        "14-15      def inner():",
        "18-20  class Cache(Store):",
        "19-20    def read(self, key):",
      ].join("\n"),
    );
    expect(data).toMatchObject({ total: 1, truncated: false });
    expect(data).toHaveProperty("files.0.definitions.2.lead_line", 8);
    expect((await ws.call("outline", { path: "store.py", depth: 1 })).text.split("\n")).toHaveLength(4);
    expect((await ws.call("outline", { path: "run" })).text).toBe("run\n2-3  def main():");
  });

  test("maps the files of a directory that ignore files do not leave out", async () => {
    const { ws } = await place(kind, seed);
    const { text } = await ws.call("outline", { depth: 2 });
    expect(text).toBe(
      [
        "lib/a.go",
        "3  type T struct{}",
        "5-6  func (t *T) Run()",
        "lib/b.ts",
        '1  export class B { run() { return "}"; } }',
        '1    export class B { run() { return "}"; } }',
        "store.py",
        "3  LIMIT = 3",
        "5-16  class Store:",
        "9-10    def size(self):",
        "13-16    def read(self, key):",
        "18-20  class Cache(Store):",
        "19-20    def read(self, key):",
      ].join("\n"),
    );
    const all = await ws.call("outline", { respect_ignore: false });
    expect(all.text).toContain("built/x.py");
  });

  test("keeps to max_tokens, and goes on after a file that is too large", async () => {
    const many = Array.from({ length: 200 }, (_, n) => `def function_${n}(): pass\n`).join("");
    const { ws } = await place(kind, { "a.py": many, "b.py": "def small(): pass\n" });
    const { text, data } = await ws.call("outline", { max_tokens: 200 });
    expect(text).toContain("def small");
    expect(data).toMatchObject({ total: 2, truncated: true });
    expect(countTokensWith(undefined)(text)).toBe(data?.tokens);
    expect(data?.tokens).toBeLessThanOrEqual(200);
  });

  test("leaves out the deepest levels first, of a file that nests deeply as well", async () => {
    const deep = Array.from({ length: 600 }, (_, n) => `${" ".repeat(n)}def f${n}():\n`).join("");
    const { ws } = await place(kind, { "a.py": `${deep}${" ".repeat(600)}pass\n` });
    const { text, data } = await ws.call("outline", { path: "a.py", max_tokens: 400 });
    const [file] = data?.files ?? [];
    expect(file?.total).toBe(600);
    expect(file?.definitions.map(({ level }) => level)).toEqual(file?.definitions.map((_, n) => n));
    expect(text).toContain(`[${600 - file!.definitions.length} of 600 definitions left out]`);
    expect(data?.tokens).toBeLessThanOrEqual(400);
    expect(file?.definitions.length).toBeGreaterThan(5);
  });

  test("counts as a listing of the files that it shows, and of no other", async () => {
    const guarded = { guard: "refuse", history: false } as const;
    const { ws } = await place(kind, { "shown.py": "def a(): pass\n", "other.txt": "a\n" }, guarded);
    await ws.call("outline", {});
    expect(await ws.call("delete", { path: "other.txt" })).toMatchObject({ error: { code: "CONFLICT" } });
    expect(await ws.call("delete", { path: "shown.py" })).toMatchObject({ ok: true });
  });

  test("gives what was found when its time is over", async () => {
    const files = Array.from({ length: 300 }, (_, n) => [`${n}.py`, "def f():\n    pass\n".repeat(200)]);
    const { ws } = await place(kind, Object.fromEntries(files));
    const { ok, data } = await ws.call("outline", { timeout_ms: 1 });
    expect(ok).toBe(true);
    expect(data?.warnings).toEqual(["not all files were mapped: 1 ms were over"]);
  });

  test("refuses a file of no known language, and one that is no text", async () => {
    const { ws } = await place(kind, { "a.txt": "a\n", "b.py": new Uint8Array([0, 1, 2, 0, 255]) });
    expect(await ws.call("outline", { path: "a.txt" })).toMatchObject({
      error: { code: "UNSUPPORTED_FORMAT" },
    });
    expect(await ws.call("outline", { path: "b.py" })).toMatchObject({ error: { code: "BINARY_FILE" } });
  });

  test("its anchors are places of an edit", async () => {
    const { ws, text } = await place(kind, seed);
    const { data } = await ws.call("outline", { path: "lib/a.go", anchors: true });
    const run = data?.files[0]?.definitions[1];
    const edit = { path: "lib/a.go", from: run!.from, to: run!.to, new_text: "// gone" };
    expect(await ws.call("edit_file", edit)).toMatchObject({ ok: true });
    expect(await text("lib/a.go")).toBe("package a\n\ntype T struct{}\n\n// gone\n");
  });
});

describe.each(KINDS)("a definition by its name on %s", (kind) => {
  test("is what read_file gives", async () => {
    const { ws } = await place(kind, seed);
    const { data } = await ws.call("read_file", { path: "store.py", symbol: "Cache.read" });
    expect(data).toMatchObject({
      start_line: 19,
      end_line: 20,
      content: "    def read(self, key):\n        return None\n",
    });
    expect(await ws.call("read_file", { path: "lib/a.go", symbol: "T.Run" })).toMatchObject({
      data: { start_line: 5, end_line: 6 },
    });
  });

  test("is the one of the file itself where others inside have its name", async () => {
    const code = "def parse(a):\n    return a\n\nclass X:\n    def parse(self):\n        return 1\n";
    const { ws } = await place(kind, { "a.py": code, "b.py": `${code}\n${code}` });
    expect(await ws.call("read_file", { path: "a.py", symbol: "parse" })).toMatchObject({
      data: { start_line: 1, end_line: 2 },
    });
    expect(await ws.call("read_file", { path: "a.py", symbol: "X.parse" })).toMatchObject({
      data: { start_line: 5, end_line: 6 },
    });
    expect(await ws.call("read_file", { path: "b.py", symbol: "parse" })).toMatchObject({
      error: { code: "MATCH_NOT_UNIQUE" },
    });
  });

  test("is refused where several have it, or none", async () => {
    const { ws } = await place(kind, seed);
    const several = await ws.call("read_file", { path: "store.py", symbol: "read" });
    expect(several).toMatchObject({ error: { code: "MATCH_NOT_UNIQUE" } });
    expect(several.text).toContain("13-16  Store.read");
    expect(several.text).toContain("19-20  Cache.read");
    const none = await ws.call("edit_file", { path: "store.py", symbol: "sized", new_text: "" });
    expect(none).toMatchObject({ error: { code: "MATCH_NOT_FOUND", details: { nearest: "size" } } });
    const both = await ws.call("read_file", { path: "store.py", symbol: "size", start_line: 3 });
    expect(both).toMatchObject({ error: { code: "INVALID_ARGUMENT" } });
  });

  test("is replaced, or gets lines before its comments and after its end", async () => {
    const { ws, text } = await place(kind, seed);
    const edits = [
      { symbol: "Store.read", new_text: "    def read(self): ..." },
      { symbol: "Store.size", insert: "before", new_text: "    a = 1" },
      { symbol: "Cache.read", insert: "after", new_text: "\nlast = 1" },
    ];
    const result = await ws.call("edit_file", { path: "store.py", edits });
    expect(result).toMatchObject({ ok: true, data: { replacements: 3 } });
    const expected = python
      .replace(/ {4}def read\(self, key\):\n {8}def inner[\s\S]*inner\(\)/u, "    def read(self): ...")
      .replace("    @property", "    a = 1\n    @property")
      .replace("return None\n", "return None\n\nlast = 1\n");
    expect(await text("store.py")).toBe(expected);
  });

  test.each([
    ["a.ts", "function a() { } function b() { }\n", "a", "function a() { }"],
    ["a.ts", "call(); function a() {\n}\n", "a", "function a() {\n}"],
    ["a.ts", "function a() {\n} call();\n", "a", "function a() {\n}"],
    ["a.ts", "class A { run() { return 1; } }\n", "run", "run() { return 1; }"],
    ["a.c", "int a; int f() { return a; }\n", "f", "int f() { return a; }"],
  ])("is not edited where it shares a line, %s %j", async (path, code, symbol, old_text) => {
    const { ws, text } = await place(kind, { [path]: code });
    for (const insert of [undefined, "before", "after"] as const) {
      const edit = { path, symbol, new_text: "x", ...(insert === undefined ? {} : { insert }) };
      const refused = await ws.call("edit_file", edit);
      expect(refused).toMatchObject({ ok: false, error: { code: "INVALID_ARGUMENT" } });
      expect(refused.text).toContain("give its text as old_text");
    }
    expect(await text(path)).toBe(code);
    expect((await ws.call("edit_file", { path, old_text, new_text: "x" })).ok).toBe(true);
    expect(await text(path)).toBe(code.replace(old_text, "x"));
  });

  test("is replaced with the comment at the end of its last line", async () => {
    const { ws, text } = await place(kind, { "a.ts": "  export const a = 1; // one\nconst b = 2\n" });
    await ws.editFile({ path: "a.ts", symbol: "a", new_text: "const a = 2;" });
    expect(await text("a.ts")).toBe("const a = 2;\nconst b = 2\n");
  });

  test("is found in the file's own encoding", async () => {
    const latin1 = Uint8Array.from("# caf\xe9\ndef a():\n    return '\xe0'\n", (c) => c.charCodeAt(0));
    const { ws, bytes } = await place(kind, { "a.py": latin1 });
    const edit = { path: "a.py", symbol: "a", new_text: "def a(): return '\xe8'" };
    expect(await ws.call("edit_file", edit)).toMatchObject({ ok: true });
    expect(Buffer.from((await bytes("a.py"))!).toString("latin1")).toBe(
      "# caf\xe9\ndef a(): return '\xe8'\n",
    );
  });
});

test("outline is offered to models with the option knows, and read_file needs none", async () => {
  const names = async (knows: boolean) => {
    const { ws } = await place("memory", {}, { knows });
    return ws.tools.map(({ name }) => name);
  };
  expect(await names(false)).not.toContain("outline");
  expect(await names(true)).toContain("outline");
});
