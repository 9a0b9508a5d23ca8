import { describe, expect, test } from "vitest";
import { KINDS, place } from "./harness.ts";

describe.each(KINDS)("edit_file on %s", (kind) => {
  const made: readonly [name: string, before: string, args: Record<string, unknown>, after: string][] = [
    ["one edit at the top level", "a\nb\n", { old_text: "b", new_text: "B" }, "a\nB\n"],
    ["a deletion", "a\nb\nc\n", { old_text: "b\n", new_text: "" }, "a\nc\n"],
    [
      "a list, each on the result so far",
      "one\n",
      {
        edits: [
          { old_text: "one", new_text: "two" },
          { old_text: "two", new_text: "three" },
        ],
      },
      "three\n",
    ],
    ["every occurrence", "x\ny\nx\n", { old_text: "x", new_text: "z", replace_all: true }, "z\ny\nz\n"],
    [
      "a number of them that was expected",
      "x\ny\nx\n",
      { old_text: "x", new_text: "z", expected_matches: 2 },
      "z\ny\nz\n",
    ],
    [
      "the first of several, where that is wanted",
      "x\nx\n",
      { old_text: "x", new_text: "z", on_multiple: "first" },
      "z\nx\n",
    ],
    ["the nearest of several", "x\ny\nx\n", { old_text: "x", new_text: "z", near_line: 3 }, "x\ny\nz\n"],
    ["line ends kept", "a\r\nb\r\nc\r\n", { old_text: "a\nb", new_text: "A\nB" }, "A\r\nB\r\nc\r\n"],
    ["mixed line ends left alone", "a\r\nb\nc\r\n", { old_text: "b", new_text: "B" }, "a\r\nB\nc\r\n"],
    ["a byte order mark kept", "\ufeffa\nb\n", { old_text: "a", new_text: "A" }, "\ufeffA\nb\n"],
    ["a missing final line end left missing", "a\nb", { old_text: "b", new_text: "B" }, "a\nB"],
    [
      "indentation that was not given",
      "\tif x:\n\t\ty()\n",
      { old_text: "if x:\n    y()", new_text: "if x:\n    z()\n    w()" },
      "\tif x:\n\t\tz()\n\t\tw()\n",
    ],
  ];
  test.each(made)("makes %s", async (_, before, args, after) => {
    const { ws, text } = await place(kind, { f: before });
    const result = await ws.call("edit_file", { path: "f", ...args } as never);
    expect(result.text).toMatch(/^Edited f: \d+ replacements?\n--- a\/f\n\+\+\+ b\/f\n@@ /);
    expect(await text("f")).toBe(after);
    expect(result.data).toMatchObject({
      applied: true,
      hash: (await ws.stat({ path: "f", hash: true })).hash,
    });
  });

  test.each([
    ["one of several", { on_multiple: "first" }, 3, 1, "matches: 3; only the one at line 1 was replaced"],
    ["the nearest of several", { near_line: 3 }, 3, 1, undefined],
    ["all of them", { replace_all: true }, 3, 3, undefined],
  ])("tells in how many places the text stands where it replaces %s", async (_, how, matches, made, says) => {
    const { ws } = await place(kind, { f: "x\nx\nx\n" });
    const { text, data } = await ws.call("edit_file", { path: "f", old_text: "x", new_text: "z", ...how });
    expect(data).toMatchObject({ replacements: made, edits: [{ matches }] });
    expect(text.match(/\[warning: (.*)\]/)?.[1]).toBe(says);
  });

  const refused: readonly [
    name: string,
    before: string,
    args: Record<string, unknown>,
    code: string,
    words: RegExp,
  ][] = [
    ["a text that is not there", "a\nb\n", { old_text: "zzz", new_text: "" }, "MATCH_NOT_FOUND", /f/],
    [
      "a text that is there more than once",
      "x\ny\nx\ny\nx\n",
      { old_text: "x", new_text: "z" },
      "MATCH_NOT_UNIQUE",
      /3[\s\S]*1\D+3\D+5[\s\S]*replace_all|1\D+3\D+5/,
    ],
    [
      "another number than expected",
      "x\nx\n",
      { old_text: "x", new_text: "z", expected_matches: 3 },
      "MATCH_COUNT_MISMATCH",
      /Expected 3\D+2/,
    ],
    ["no change", "a\n", { old_text: "a", new_text: "a" }, "NO_CHANGE", /different/],
    [
      "edits that undo each other",
      "a\n",
      {
        edits: [
          { old_text: "a", new_text: "b" },
          { old_text: "b", new_text: "a" },
        ],
      },
      "NO_CHANGE",
      /different|nothing/,
    ],
    [
      "a list of which one fails",
      "a\nb\n",
      {
        edits: [
          { old_text: "a", new_text: "A" },
          { old_text: "zzz", new_text: "" },
        ],
      },
      "MATCH_NOT_FOUND",
      /./,
    ],
    [
      "both forms at once",
      "a\nb\n",
      { old_text: "b", new_text: "B", edits: [{ old_text: "a", new_text: "A" }] },
      "INVALID_ARGUMENT",
      /'old_text'/,
    ],
    ["no edit at all", "a\n", {}, "INVALID_ARGUMENT", /'edits'/],
    ["an empty list", "a\n", { edits: [] }, "INVALID_ARGUMENT", /'edits'/],
    ["an empty old_text", "a\n", { old_text: "", new_text: "x" }, "INVALID_ARGUMENT", /'old_text'/],
    [
      "a misspelt field",
      "a\n",
      { edits: [{ old_text: "a", new_txt: "b" }] },
      "INVALID_ARGUMENT",
      /'edits\[0\]\.new_txt'.*'new_text'|new_txt/,
    ],
    ["half a character", "a\n", { old_text: "a", new_text: "\ud800" }, "ENCODING_ERROR", /'f'/],
    [
      "another version than expected",
      "a\n",
      { old_text: "a", new_text: "b", expected_hash: "0".repeat(64) },
      "CONFLICT",
      /'f'/,
    ],
    ["a binary file", "a\0b", { old_text: "a", new_text: "b" }, "BINARY_FILE", /'f'.*binary/],
  ];
  test.each(refused)("refuses %s, and leaves the file as it was", async (name, before, args, code, words) => {
    const { ws, text } = await place(kind, { f: before });
    const result = await ws.call("edit_file", { path: "f", ...args } as never);
    expect(result.error?.code).toBe(code);
    expect(result.text).toMatch(words);
    if (name === "a list of which one fails") expect(result.error?.details).toMatchObject({ edit_index: 1 });
    expect(await text("f")).toBe(before);
  });

  test("a dry run shows the same diff and writes nothing", async () => {
    const { ws, text } = await place(kind, { f: "a\nb\nc\n" });
    const edit = { path: "f", old_text: "b", new_text: "B" };
    const dry = await ws.call("edit_file", { ...edit, dry_run: true });
    expect(dry.text).toMatch(/^Dry run, nothing written\n--- a\/f\n/);
    expect(dry.data?.applied).toBe(false);
    expect(await text("f")).toBe("a\nb\nc\n");
    const real = await ws.call("edit_file", edit);
    expect(real.data).toHaveProperty("diff", (dry.data as { diff: string }).diff);
  });

  test("keeps the encoding of a large file, wherever it shows", async () => {
    const body = Buffer.from(`\n${"a".repeat(79)}\n`.repeat(65_000));
    const file = (first: readonly number[], last: readonly number[]): Uint8Array =>
      new Uint8Array(Buffer.concat([Buffer.from(first), body, Buffer.from(last)]));
    const edit = { path: "f", old_text: "here", new_text: "caf\u00e9" };
    const here = [0x68, 0x65, 0x72, 0x65];
    for (const [last, written] of [
      [
        [0xe9, 0x0a],
        [0x63, 0x61, 0x66, 0xe9],
      ], // Latin-1
      [
        [0xc3, 0xa9, 0x0a],
        [0x63, 0x61, 0x66, 0xc3, 0xa9],
      ],
    ] as const) {
      const { ws, bytes } = await place(kind, { f: file(here, last) });
      expect((await ws.call("edit_file", edit)).ok).toBe(true);
      const after = (await bytes("f")) as Uint8Array;
      expect(Array.from(after.subarray(0, written.length))).toEqual(written);
      expect(Array.from(after.subarray(-last.length))).toEqual(last);
    }
    const { ws } = await place(kind, { f: file([...here, ...Array<number>(4096).fill(0)], []) });
    expect((await ws.call("edit_file", edit)).error?.code).toBe("BINARY_FILE");
  });

  test("files in other encodings keep every byte that is not edited", async () => {
    const latin = new Uint8Array([0x63, 0x61, 0x66, 0xe9, 0x0a, 0x62, 0x0a]);
    const { ws, bytes } = await place(kind, { f: latin });
    expect(await ws.call("edit_file", { path: "f", old_text: "b", new_text: "c" })).toMatchObject({
      ok: true,
    });
    expect(await bytes("f")).toEqual(new Uint8Array([0x63, 0x61, 0x66, 0xe9, 0x0a, 0x63, 0x0a]));
  });

  test("a file that changed since it was read is a conflict; one that was only touched is not", async () => {
    const { ws, text, foreign } = await place(kind, { f: "a\nb\n" });
    const { hash } = await ws.readFile({ path: "f" });
    await foreign("f", "a\nb\n");
    await ws.editFile({ path: "f", old_text: "b", new_text: "B", expected_hash: hash as string });
    await foreign("f", "a\nX\n");
    const result = await ws.call("edit_file", {
      path: "f",
      old_text: "a",
      new_text: "A",
      expected_hash: hash as string,
    });
    expect(result.error?.code).toBe("CONFLICT");
    expect(await text("f")).toBe("a\nX\n");
  });

  test("fifty edits at once lose nothing", async () => {
    const lines = Array.from({ length: 50 }, (_, n) => `line ${n}.\n`);
    const { ws, text } = await place(kind, { f: lines.join("") });
    const results = await Promise.all(
      lines.map((_, n) =>
        ws.call("edit_file", { path: "f", old_text: `line ${n}.`, new_text: `done ${n}.` }),
      ),
    );
    expect(results.filter((result) => !result.ok)).toEqual([]);
    expect(await text("f")).toBe(lines.map((_, n) => `done ${n}.\n`).join(""));
  });
});
