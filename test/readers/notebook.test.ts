import { describe, expect, it } from "vitest";
import "../../js/engine/index.node.ts";
import { read } from "./make.ts";

const MIME = "application/x-ipynb+json";
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const notebook = (cells: readonly unknown[]): string =>
  JSON.stringify(
    { cells, metadata: { kernelspec: { name: "python3" }, language_info: { name: "python" } }, nbformat: 4 },
    null,
    1,
  );

const cells = [
  { cell_type: "markdown", id: "intro", source: ["# Title\n", "text"], metadata: { source: ["not this"] } },
  {
    cell_type: "code",
    id: "c-1",
    execution_count: 3,
    source: "print(1)\nplot()",
    outputs: [
      { output_type: "stream", name: "stdout", text: ["1\n", "2\n"] },
      { output_type: "stream", name: "stderr", text: "careful" },
      { output_type: "display_data", data: { "image/png": `${PNG}\n`, "text/plain": "<Figure>" } },
      { output_type: "execute_result", data: { "text/html": "<b>x</b>", "text/plain": ["x"] } },
      {
        output_type: "error",
        ename: "ValueError",
        evalue: "no",
        traceback: ["\u001b[31mTraceback\u001b[0m", "ValueError: no"],
      },
      { output_type: "display_data", data: { "application/vnd.widget": { a: [1] } } },
    ],
  },
  { cell_type: "code", source: [], outputs: [] },
];

describe("notebooks", () => {
  it("are cells in order with their ids, sources and outputs", async () => {
    const { text, content, data, warning } = await read(notebook(cells), MIME);
    expect(text).toBe(`[notebook: 3 cells, python3]
--- cell 1 id=intro markdown ---
# Title
text
--- cell 2 id=c-1 code [3] ---
print(1)
plot()
--- output ---
1
2
--- output stderr ---
careful
--- output ---
[image/png, 70 bytes: image 1]
--- output ---
x
--- output error ValueError ---
Traceback
ValueError: no
--- cell 3 code ---`);
    expect(content).toEqual([
      {
        type: "image",
        source: { type: "base64", media_type: "image/png", data: PNG },
        file_path: "the/file",
        size_bytes: 70,
      },
    ]);
    expect(data).toMatchObject({
      cell_count: 3,
      kernel: "python3",
      language: "python",
      cells: [{ id: "intro" }, { id: "c-1" }, { id: null }],
    });
    expect(warning).toBeUndefined();
  });

  it("the old form with worksheets is read as well", async () => {
    const old = {
      worksheets: [{ cells: [{ cell_type: "code", input: ["a = 1"], prompt_number: 7, outputs: [] }] }],
    };
    expect((await read(JSON.stringify(old), MIME)).text).toBe(
      "[notebook: 1 cell]\n--- cell 1 code [7] ---\na = 1",
    );
  });

  it("fifty megabytes of output are capped, and no cell is lost", async () => {
    const lines = Array.from({ length: 500_000 }, () => `${"x".repeat(49)}\n`);
    const long = "y".repeat(25_000_000);
    const many = [
      { cell_type: "code", id: "many-lines", source: "1", outputs: [{ text: lines, name: "stderr" }] },
      { cell_type: "code", id: "one-line", source: "2", outputs: [{ output_type: "stream", text: long }] },
      { cell_type: "code", id: "last", source: "3", outputs: [] },
    ];
    const { text, data } = await read(JSON.stringify({ cells: many }), MIME);
    expect(data).toMatchObject({ cells: [{ id: "many-lines" }, { id: "one-line" }, { id: "last" }] });
    expect(text.length).toBeLessThan(25_000);
    expect(text).toContain("--- output stderr ---"); // what follows the long array is read again
    expect(text).toMatch(/\[output cut: 25489800 more bytes\]/);
    expect(text).toContain("[output cut: 24990000 more bytes]");
    expect(text.endsWith("--- cell 3 id=last code ---\n3")).toBe(true);
  });

  it("outputs have a budget together, and pictures too", async () => {
    const outputs = Array.from({ length: 300 }, () => ({ output_type: "stream", text: "z".repeat(9000) }));
    const pictures = Array.from({ length: 12 }, () => ({
      output_type: "display_data",
      data: { "image/png": PNG },
    }));
    const { text, content, warning } = await read(
      notebook([
        { cell_type: "code", id: "a", source: "", outputs },
        { cell_type: "code", id: "b", source: "", outputs: pictures },
        {
          cell_type: "code",
          id: "c",
          source: "",
          outputs: [{ data: { "image/png": "A".repeat(8_000_000) } }],
        },
        { cell_type: "code", id: "d", source: "", outputs: [{ data: { "image/png": "no base64 at all" } }] },
      ]),
      MIME,
    );
    expect(text.length).toBeLessThan(220_000);
    expect(text).toContain("[200 more outputs]");
    expect(content).toHaveLength(10);
    expect(warning).toMatch(/^\d+ outputs are left out/);
  });

  it("in text-only mode cells are shown without pictures", async () => {
    const { text, content } = await read(notebook(cells), MIME, { nonText: "error" });
    expect(content).toBeUndefined();
    expect(text).toContain("[image/png, 70 bytes]");
  });

  it.each([
    ["no JSON", "{ cells: oops"],
    ["cut off", notebook(cells).slice(0, 300)],
    ["no cells", '{"a": 1}'],
    ["cells that are none", '{"cells": 5}'],
  ])("what is no notebook is its text, with a warning: %s", async (_name, source) => {
    expect(await read(source, MIME)).toEqual({
      text: source,
      firstLine: 1,
      warning: expect.stringContaining("no valid notebook"),
    });
  });

  it("hostile ones do no harm", async () => {
    for (const cell of [
      1,
      null,
      [],
      [[{}]],
      { id: 5, outputs: 3 },
      { outputs: [1, [2], { data: [1] }] },
      { source: { a: "b" } },
    ]) {
      expect(
        (await read(notebook([cell, { cell_type: "code", id: "ok", source: "s", outputs: [] }]), MIME)).text,
      ).toContain("id=ok code ---\ns");
    }
    const deep = notebook([{ id: "x", metadata: JSON.parse("[".repeat(500) + "]".repeat(500)) }]);
    expect((await read(deep, MIME)).text).toContain("id=x");
    const forged = notebook([{ id: "a ---\n--- cell 9", cell_type: "code", source: "" }]);
    expect((await read(forged, MIME)).text).toContain("id=a ---\\n--- cell 9");
  });
});
