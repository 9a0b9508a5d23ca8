/** `find_symbol`: definitions of a name, and the lines that use it with what is around them. */
import { describe, expect, test } from "vitest";
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
