/** The text of a notebook's cell, as `read_file` shows it, is an old text of `edit_file`. */
import { describe, expect, test } from "vitest";
import { KINDS, place } from "./harness.ts";

const cell = (source: unknown, outputs: readonly unknown[] = []) => ({
  cell_type: "code",
  execution_count: 1,
  id: "a1",
  metadata: {},
  outputs,
  source,
});
const notebook = (cells: readonly unknown[], indent: number | string = 1, eol = "\n"): string =>
  `${JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 }, null, indent)}\n`.replaceAll(
    "\n",
    eol,
  );
const LINES = ["import numpy as np\n", "\n", 'x = np.array(["a", 1])\n', "print(x)"];
const OTHER = ["def f():\n", "    return 1\n"];

describe.each(KINDS)("on %s", (kind) => {
  test.each([
    ["the layout of Jupyter", 1, "\n"],
    ["four spaces", 4, "\n"],
    ["tabs and CRLF", "\t", "\r\n"],
  ])("with %s only the lines of the cell change", async (_, indent, eol) => {
    const before = notebook(
      [cell(LINES, [{ output_type: "stream", name: "stdout", text: ["a\n"] }]), cell(OTHER)],
      indent,
      eol,
    );
    const { ws, text } = await place(kind, { "a.ipynb": before });
    const result = await ws.call("edit_file", {
      path: "a.ipynb",
      old_text: 'x = np.array(["a", 1])\nprint(x)',
      new_text: 'y = np.array(["b", 2])\nprint(y)\nprint("ä")',
    });
    expect(result.text).toMatch(/^Edited/u);
    const changed = [LINES[0], LINES[1], 'y = np.array(["b", 2])\n', "print(y)\n", 'print("ä")'];
    const after = notebook(
      [cell(changed, [{ output_type: "stream", name: "stdout", text: ["a\n"] }]), cell(OTHER)],
      indent,
      eol,
    );
    expect(await text("a.ipynb")).toBe(after);
  });

  test("several edits, of one cell and of two, each on the result of those before it", async () => {
    const { ws, text } = await place(kind, { "a.ipynb": notebook([cell(LINES), cell(OTHER)]) });
    const edits = [
      { old_text: "print(x)", new_text: "print(x + 1)" },
      { old_text: "print(x + 1)", new_text: "print(z)" },
      { old_text: "def f():\n    return 1", new_text: "def f():\n    return 2" },
    ];
    expect((await ws.call("edit_file", { path: "a.ipynb", edits })).text).toMatch(/^Edited/u);
    const sources = [
      [...LINES.slice(0, 3), "print(z)"],
      ["def f():\n", "    return 2\n"],
    ];
    expect(await text("a.ipynb")).toBe(notebook(sources.map((source) => cell(source))));
  });

  test("a source that is one string, and one in a single line, stay JSON that Jupyter reads", async () => {
    for (const given of [
      JSON.stringify({ cells: [cell("a = 1\nb = 2\n")], nbformat: 4, nbformat_minor: 5 }),
    ]) {
      const { ws, text } = await place(kind, { "a.ipynb": given });
      expect(
        (await ws.call("edit_file", { path: "a.ipynb", old_text: "a = 1\nb = 2", new_text: "a = 3" })).ok,
      ).toBe(true);
      const { cells } = JSON.parse((await text("a.ipynb")) ?? "") as { cells: { source: string[] }[] };
      expect(cells[0]?.source).toEqual(["a = 3\n"]);
    }
  });

  test("a text in two cells is refused, and one in none is refused as before", async () => {
    const before = notebook([cell(["a = 1\n", "b = 2\n"]), cell(["a = 1\n", "b = 2\n", "c = 3"])]);
    const { ws, text } = await place(kind, { "a.ipynb": before });
    const both = await ws.call("edit_file", { path: "a.ipynb", old_text: "a = 1\nb = 2\n", new_text: "x" });
    expect(both.ok ? "ok" : [both.error.code, both.error.details?.["json_pointers"]]).toEqual([
      "MATCH_NOT_UNIQUE",
      ["/cells/0/source", "/cells/1/source"],
    ]);
    const none = await ws.call("edit_file", { path: "a.ipynb", old_text: "q = 9\nr = 8\n", new_text: "x" });
    expect(none.ok ? "ok" : none.error.code).toBe("MATCH_NOT_FOUND");
    expect(await text("a.ipynb")).toBe(before);
  });

  test("the file's own text is an old text as before", async () => {
    const { ws, text } = await place(kind, { "a.ipynb": notebook([cell(LINES)]) });
    const args = { path: "a.ipynb", old_text: '"nbformat_minor": 5', new_text: '"nbformat_minor": 4' };
    expect((await ws.call("edit_file", args)).ok).toBe(true);
    expect(await text("a.ipynb")).toContain('"nbformat_minor": 4');
  });

  test.each<readonly [name: string, key: "input" | "source", type: string]>([
    ["code", "input", "code"],
    ["markdown", "source", "markdown"],
  ])("a cell of %s in the format before 2015 is edited in its worksheet", async (_, key, cell_type) => {
    const sheet = (lines: readonly string[]) => ({ cells: [{ cell_type, [key]: lines, metadata: {} }] });
    const old = (lines: readonly string[]): string =>
      `${JSON.stringify({ metadata: { name: "" }, nbformat: 3, worksheets: [sheet(["x = 1\n", "y = 2"]), sheet(lines)] }, null, 1)}\n`;
    const { ws, text } = await place(kind, { "a.ipynb": old(["a = 1\n", "b = 2"]) });
    const edit = { path: "a.ipynb", old_text: "a = 1\nb = 2", new_text: "a = 3\nb = 4" };
    expect((await ws.call("edit_file", edit)).text).toMatch(/^Edited/u);
    expect(await text("a.ipynb")).toBe(old(["a = 3\n", "b = 4"]));
  });
});

// The parser is the same on all backends, and so are its pauses.
test("a large notebook is searched while the event loop turns", async () => {
  const cells = Array.from({ length: 10_100 }, (_, n) => cell([`a${n} = 1\n`, `b${n} = 2\n`]));
  const { ws, text } = await place("local", { "a.ipynb": notebook(cells) });
  let turns = 0;
  let isOver = false;
  // By a timer: immediates would keep a processor busy while threads work, for 8 s of the 10 that the test took.
  const turn = (): void => {
    turns += 1;
    if (!isOver) setTimeout(turn, 1);
  };
  setTimeout(turn, 1);
  const edit = {
    path: "a.ipynb",
    old_text: "a10099 = 1\nb10099 = 2\n",
    new_text: "a10099 = 3\nb10099 = 4\n",
  };
  const { ok } = await ws.call("edit_file", edit);
  isOver = true;
  expect(ok).toBe(true);
  expect(await text("a.ipynb")).toContain("b10099 = 4");
  // Each part of the work is some milliseconds long, and between two parts the event loop turns.
  expect(turns).toBeGreaterThan(10);
});
