/** With `knows`, answers about a file tell what others changed in it since the caller read it. */
import { describe, expect, test } from "vitest";
import type { WorkspaceOptions } from "../../js/index.node.ts";
import { KINDS, place } from "./harness.ts";

const lines = (count: number, changed: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: count }, (_, n) => `${changed[n + 1] ?? `line ${n + 1}`}\n`).join("");

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const utf16 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "utf16le"));

const knows = { knows: true, guard: "warn" } as const satisfies WorkspaceOptions;

describe.each(KINDS)("a file on %s that another program changed since it was read", (kind) => {
  test("is told of by read_file, once", async () => {
    const { ws, foreign } = await place(kind, { "a.txt": lines(60) }, knows);
    const first = await ws.call("read_file", { path: "a.txt", max_lines: 3 });
    expect(first.text).not.toContain("changed");
    await foreign("a.txt", lines(60, { 7: "new", 40: "x", 41: "y", 42: "z" }));
    const second = await ws.call("read_file", { path: "a.txt", max_lines: 1 });
    expect(second.text).toMatch(/\n\[changed since you read it: lines 7, 40-42, by another program\]$/u);
    expect(second.data).toMatchObject({ changed: "lines 7, 40-42, by another program" });
    expect((await ws.call("read_file", { path: "a.txt" })).text).not.toContain("changed");
  });

  test.each([
    ["a part of it", { max_lines: 1 }, (text: string) => utf8(text)],
    ["all of it", {}, (text: string) => utf8(text)],
    ["its text behind a byte order mark", {}, (text: string) => utf8(`\uFEFF${text}`)],
    ["its text in UTF-16", {}, (text: string) => utf16(`\uFEFF${text}`)],
    ["text with a byte that is none", {}, (text: string) => Uint8Array.of(...utf8(text), 0xff, 10)],
    ["a definition in it", { symbol: "f" }, (text: string) => utf8(`def f():\n    pass\n${text}`)],
  ])("is told of by its lines when the caller read %s", async (_, args, encoded) => {
    const { ws, foreign } = await place(kind, {}, knows);
    const content = "one\ntwo\nthree\n";
    await foreign("a.py", encoded(content));
    await ws.readFile({ path: "a.py", ...args });
    await foreign("a.py", encoded(content.replace("two", "2")));
    const line = "symbol" in args ? 4 : 2;
    expect(await ws.readFile({ path: "a.py" })).toMatchObject({
      changed: `line ${line}, by another program`,
    });
  });

  test("is told of by stat and grep, until it is read", async () => {
    const { ws, foreign } = await place(kind, { "a.txt": lines(5), "b.txt": lines(5) }, knows);
    await ws.readFile({ path: "a.txt" });
    await ws.readFile({ path: "b.txt" });
    await foreign("a.txt", lines(4));
    const facts = await ws.call("stat", { path: "a.txt" });
    expect(facts.text).toMatch(/\nchanged since you read it: lines removed after 4, by another program$/u);
    const found = await ws.call("grep", { pattern: "line 1" });
    expect(found.text.split("\n").slice(2)).toEqual([
      "[a.txt changed since you read it: lines removed after 4, by another program]",
    ]);
    await ws.readFile({ path: "a.txt" });
    expect((await ws.call("grep", { pattern: "line 1" })).text).not.toContain("changed");
  });

  test("is told of by the conflict of an edit, and the warning of one", async () => {
    for (const guard of ["refuse", "warn"] as const) {
      const { ws, foreign } = await place(kind, { "a.txt": lines(9) }, { knows: true, guard });
      await ws.readFile({ path: "a.txt" });
      await foreign("a.txt", lines(9, { 2: "new" }));
      const edited = await ws.call("edit_file", { path: "a.txt", old_text: "line 9", new_text: "last" });
      expect(edited.text).toMatch(
        /(?:changed since it was read|had changed since you read it): line 2, by another program/u,
      );
      const written = await ws.call("write_file", { path: "a.txt", content: "x\n" });
      expect(written.ok).toBe(guard === "warn");
    }
  });

  test("is told of by its lines also when the caller itself wrote it", async () => {
    const { ws, foreign } = await place(kind, {}, knows);
    await ws.writeFile({ path: "a.txt", content: lines(9) });
    await ws.editFile({ path: "a.txt", old_text: "line 3", new_text: "third" });
    expect((await ws.call("read_file", { path: "a.txt" })).text).not.toContain("changed");
    await foreign("a.txt", lines(9, { 3: "third", 8: "eighth" }));
    expect(await ws.readFile({ path: "a.txt" })).toMatchObject({ changed: "line 8, by another program" });
  });
});

describe.each(KINDS)("a file on %s that an agent of the workspace changed", (kind) => {
  test("is told of with the agent and its tool; an own change is not", async () => {
    const { ws } = await place(kind, { "a.txt": lines(9) }, knows);
    const [one, other] = [await ws.agent("A"), await ws.agent("B")];
    await one.readFile({ path: "a.txt" });
    await other.readFile({ path: "a.txt" });
    await other.editFile({ path: "a.txt", old_text: "line 4", new_text: "fourth\nand more" });
    expect(await one.stat({ path: "a.txt" })).toMatchObject({
      changed: "lines 4-5, by agent B (edit_file, just now)",
    });
    expect(await other.stat({ path: "a.txt" })).not.toHaveProperty("changed");
  });
});

describe("what is not told", () => {
  test.each([
    ["a touched file", lines(9)],
    ["a file that was written with the same content", lines(9)],
  ])("%s has not changed", async (_, content) => {
    const { ws, foreign } = await place("local", { "a.txt": lines(9) }, knows);
    await ws.readFile({ path: "a.txt" });
    await foreign("a.txt", "other\n");
    await foreign("a.txt", content);
    for (const tool of ["stat", "read_file"] as const)
      expect((await ws.call(tool, { path: "a.txt" })).text).not.toContain("changed");
  });

  test("nothing is told without knows", async () => {
    const { ws, foreign } = await place("local", { "a.txt": lines(9) });
    await ws.readFile({ path: "a.txt" });
    await foreign("a.txt", "other\n");
    for (const tool of ["stat", "read_file"] as const)
      expect((await ws.call(tool, { path: "a.txt" })).text).not.toContain("changed");
  });

  test("the lines of a file of more than 20,000 lines are not, but that it has changed", async () => {
    const { ws, foreign } = await place("local", { "a.txt": "x\n".repeat(20_001) }, knows);
    await ws.readFile({ path: "a.txt" });
    await foreign("a.txt", "x\n".repeat(20_002));
    expect(await ws.readFile({ path: "a.txt" })).toMatchObject({ changed: "by another program" });
  });
});
