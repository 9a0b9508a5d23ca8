/** `find_symbol`: definitions of a name, and the lines that use it with what is around them. */
import { describe, expect, test } from "vitest";
import { FilewrightError, MemoryBackend, openWorkspace } from "../../js/index.node.ts";
import { KINDS, place } from "./harness.ts";

const seed = {
  "src/parser.ts": `export class Parser {
  parse(text: string): number {
    return parse(text);
  }
}

/** Calls parse. */
export function parse(text: string): number {
  return text.length;
}
`,
  "src/main.py": `from parser import parse

def main():
    return parse("x") + reparse("y")
`,
  "notes.txt": "parse is slow\nparser is not\n",
  ".gitignore": "built/\n",
  "built/x.js": "function parse() {}\n",
};

describe.each(KINDS)("find_symbol on %s", (kind) => {
  test("gives the definitions, then the other lines by file with what is around them", async () => {
    const { ws } = await place(kind, seed);
    const { text, data } = await ws.call("find_symbol", { name: "parse" });
    expect(text).toBe(
      [
        "src/parser.ts:2-4  parse(text: string): number",
        "src/parser.ts:8-10  export function parse(text: string): number",
        "",
        "notes.txt",
        "1: parse is slow",
        "src/main.py",
        "1: from parser import parse",
        '4: return parse("x") + reparse("y")  [in main]',
        "src/parser.ts",
        "3: return parse(text);  [in Parser.parse]",
        "7: /** Calls parse. */",
      ].join("\n"),
    );
    expect(data).toMatchObject({ total_definitions: 2, total_uses: 5, complete: true });
    expect(data).toHaveProperty("definitions.0.name", "Parser.parse");
  });

  test("a name with what is around it means that definition", async () => {
    const { ws } = await place(kind, seed);
    for (const name of ["Parser.parse", "Parser::parse", "Parser#parse"]) {
      const { data } = await ws.call("find_symbol", { name, uses: false });
      expect(data).toMatchObject({ definitions: [{ start_line: 2, end_line: 4 }], uses: [], total_uses: 0 });
    }
  });

  test("searches a file, a directory, or what a glob names", async () => {
    const { ws } = await place(kind, seed);
    const lines = async (args: object): Promise<number> =>
      (await ws.call("find_symbol", { name: "parse", ...args })).data?.["total_uses"] as number;
    expect(await lines({ path: "src/main.py" })).toBe(2);
    expect(await lines({ path: "src" })).toBe(4);
    expect(await lines({ glob: "*.txt" })).toBe(1);
  });

  test("keeps to max_tokens and tells what it left out", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [`f${at}.py`, "def run():\n    pass\n\nrun()\n"]),
    );
    const { ws } = await place(kind, many);
    const { text, data } = await ws.call("find_symbol", { name: "run", max_tokens: 400 });
    expect(data).toMatchObject({ total_definitions: 40, total_uses: 40, uses: [] });
    expect((data as { tokens: number }).tokens).toBeLessThanOrEqual(400);
    expect(text).toMatch(/\[\d+ more definitions; /u);
    expect(text).toContain("[40 more uses; ");
  });

  test("says when nothing has the name", async () => {
    const { ws } = await place(kind, seed);
    expect((await ws.call("find_symbol", { name: "nowhere" })).text).toBe("Nothing defines nowhere");
    const { text } = await ws.call("find_symbol", { name: "slow" });
    expect(text).toBe("Nothing defines slow\n\nnotes.txt\n1: parse is slow");
  });
});

test("a file that may not be read gives neither a definition nor a use", async () => {
  const seed = {
    "a.py": "def token():\n    pass\n",
    ".env": "token=1\n",
    "key.txt": "-----BEGIN PRIVATE KEY-----\nMII\ntoken\n",
  };
  const { ws } = await place(
    "local",
    { ...seed, "ours/b.py": "token()\n" },
    { rules: [{ path: "ours/**", decision: "deny" }] },
  );
  const { text } = await ws.call("find_symbol", { name: "token" });
  expect(text).toBe("a.py:1-2  def token():\n[1 entry could not be read]");
});

describe.each(KINDS)("what find_symbol leaves out, on %s", (kind) => {
  test("a definition in a file of many lines with the name is deep and long: its name is cut at the beginning", async () => {
    const around = Array.from({ length: 300 }, (_, at) => `function ${"y".repeat(100)}${at}() {\n`).join("");
    const { ws } = await place(kind, { "a.js": `${around}${"x;\n".repeat(2000)}${"}\n".repeat(300)}` });
    const { data } = await ws.call("find_symbol", { name: "x", max_tokens: 100_000 });
    expect(data?.total_uses).toBe(2000);
    const inner = data?.uses[0]?.in ?? "";
    expect(inner).toHaveLength(201);
    expect(inner.startsWith("…")).toBe(true);
    expect(inner.endsWith(`.${"y".repeat(100)}299`)).toBe(true);
  });

  test("tells the innermost definition around each line, also where definitions follow one another", async () => {
    const text = "a;\nfunction f() {\n  function g() {\n    a;\n  }\n  a;\n}\na;\nfunction h() { a; }\n";
    const { ws } = await place(kind, { "a.js": text });
    const { data } = await ws.call("find_symbol", { name: "a" });
    expect(data?.uses.map(({ line, in: around }) => [line, around])).toEqual([
      [1, undefined],
      [4, "f.g"],
      [6, "f"],
      [8, undefined],
      [9, "h"],
    ]);
  });

  test("says that no definition was found so far where more lines have the name than are looked at", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 5 }, (_, at) => [`a${at}.txt`, "x y\n".repeat(5000)]),
    );
    const { ws } = await place(kind, { ...many, "z.ts": "export function x() {}\n" });
    const { text, data } = await ws.call("find_symbol", { name: "x", uses: false });
    expect(data?.complete).toBe(false);
    expect(text).toBe(
      "No definition of x found so far\n\n[not everything was searched; name a narrower path or glob]",
    );
  });

  test("marks the lines that define the name elsewhere", async () => {
    const { ws } = await place(kind, {
      "a.ts": "export class A {\n  parse() {}\n}\nexport class B {\n  parse() {\n    return 1;\n  }\n}\n",
    });
    expect((await ws.call("find_symbol", { name: "A.parse" })).text).toBe(
      "a.ts:2  parse() {}\n\na.ts\n5: parse() {  [defines B.parse]",
    );
    expect((await ws.call("find_symbol", { name: "C.parse" })).text).toBe(
      "Nothing defines C.parse\n\na.ts\n2: parse() {}  [defines A.parse]\n5: parse() {  [defines B.parse]",
    );
  });

  test("a larger max_tokens is no remedy where the size of an answer is the limit", async () => {
    const files = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f${at}.txt`, "parse me\n"]));
    const { ws } = await place(kind, files, { limits: { outputBytes: 1000 } });
    const { text, data } = await ws.call("find_symbol", { name: "parse", max_tokens: 100_000 });
    expect(data?.left_out_by).toBe("size");
    expect(text).toMatch(/\[\d+ more uses; name a narrower path or glob\]$/u);
  });

  test("names a file that is too large", async () => {
    const { ws } = await place(
      kind,
      { "a.ts": `export function walrus() {}\n${"x\n".repeat(3000)}`, "b.ts": "walrus();\n" },
      { limits: { grepFileBytes: 4096 } },
    );
    const { text } = await ws.call("find_symbol", { name: "walrus" });
    expect(text).toMatch(/\[a\.ts not searched: over 4096 bytes\]$/u);
  });

  test.each([
    ["find_symbol", "name", "a\nb"],
    ["find_symbol", "name", ""],
    ["find_symbol", "name", "x".repeat(1_000_000)],
    ["find_symbol", "name", "x\ud800"],
    ["search_code", "query", "x\ud800"],
    ["grep", "pattern", "x\ud800"],
  ] as const)("%s refuses a %s that nothing can have", async (tool, argument, value) => {
    const { ws } = await place(kind, seed);
    const { error, text } = await ws.call(tool, { [argument]: value } as never);
    expect(error?.code).toBe("INVALID_ARGUMENT");
    expect(text).toContain(`Invalid argument '${argument}': `);
    expect(text).toMatch(/a name of 1 to 250 characters in one line|unpaired surrogate/u);
  });
});

test("only the files of the answer count as listed", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 300 }, (_, at) => [`f${at + 100}.txt`, "parse me\n"]),
  );
  const { ws } = await place("local", files, { guard: "refuse", history: false });
  const { text } = await ws.call("find_symbol", { name: "parse", max_tokens: 200 });
  expect(text).not.toContain("f399.txt");
  expect((await ws.call("delete", { path: "f399.txt" })).ok).toBe(false);
  expect((await ws.call("delete", { path: "f100.txt" })).ok).toBe(true);
});

/** A memory whose next read of a file fails or finds another content. */
class ChangingBackend extends MemoryBackend {
  onRead: (() => Promise<void>) | undefined;
  override async read(...args: Parameters<MemoryBackend["read"]>): ReturnType<MemoryBackend["read"]> {
    await this.onRead?.();
    return super.read(...args);
  }
}

test("a file whose definitions cannot be read, or change meanwhile, makes the answer incomplete", async () => {
  const backend = new ChangingBackend({ "/w/a.ts": "export function walrus() {}\nwalrus();\n" });
  await using ws = await openWorkspace({ backend, cwd: "/w", access: { read: ["/w"] } });
  backend.onRead = async () => {
    throw new FilewrightError("IO_ERROR", "the disk failed");
  };
  const unread = await ws.call("find_symbol", { name: "walrus" });
  expect(unread.data?.complete).toBe(false);
  expect(unread.text).toMatch(/^No definition of walrus found so far\n/u);
  expect(unread.text).toContain("[the definitions of 1 file could not be read]");
  backend.onRead = () =>
    backend.writeText("/w/a.ts", "// one\n// two\nexport function walrus() {}\nwalrus();\n").then(() => {});
  const changed = await ws.call("find_symbol", { name: "walrus" });
  expect(changed.data?.complete).toBe(false);
  expect(changed.text).toContain("[1 file changed during the search]");
  expect((await ws.call("find_symbol", { name: "walrus" })).text).toBe(
    "a.ts:3  export function walrus() {}\n\na.ts\n4: walrus();",
  );
});
