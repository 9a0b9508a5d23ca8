/** Edits that name a value by its pointer: nothing but the value changes. */
import { describe, expect, test } from "vitest";
import { KINDS, place } from "./harness.ts";

const json = `\ufeff{\r\n  // note\r\n  "name": "x",   "big": 12345678901234567890123,\r\n  "scripts": {\r\n    "test": "vitest" /* kept */,\r\n  },\r\n  "list": [1, [2,\r\n  3], 4]\r\n}`;
const yaml =
  "# top\na:   {b: 1, c: 'two'}   # kept\nlist:\n  - one\n  -   two  # second\ntext: |\n  many\n  lines\nend: 1\n";
const toml = '# top\nname = "x" # kept\n\n[deps]\na = { version = "1.0", features = ["f"] }\nb="2"\n';
const xml = `<?xml version="1.0"?>\n<project name = 'demo'>\n  <!-- kept -->\n  <version>1.0</version>\n  <item/><item>b</item>\n</project>\n`;

/** The file, pointer, new value, and what stands where something else stood. */
const edits: readonly (readonly [file: string, pointer: string, value: string, from: string, to: string])[] =
  [
    ["a.json", "/name", '"y"', '"name": "x"', '"name": "y"'],
    ["a.json", "/scripts/test", '"node --test"', '"vitest"', '"node --test"'],
    ["a.json", "/scripts", "{}", '{\r\n    "test": "vitest" /* kept */,\r\n  }', "{}"],
    ["a.json", "/list/1", '{"a": null}', "[2,\r\n  3]", '{"a": null}'],
    ["a.json", "/big", "1e400", "12345678901234567890123", "1e400"],
    ["a.json", "/list/1/1", "[\n3\n]", "3]", "[\r\n3\r\n]]"],
    ["a.yaml", "/a/c", "'three'", "'two'", "'three'"],
    ["a.yaml", "/list/1", "zwei", "two  #", "zwei  #"],
    ["a.yaml", "/a", "[1, 2]", "{b: 1, c: 'two'}", "[1, 2]"],
    ["a.toml", "/name", '"y"', '"x"', '"y"'],
    ["a.toml", "/deps/a/version", '"1.1"', '"1.0"', '"1.1"'],
    ["a.toml", "/deps/b", "3", '"2"', "3"],
    ["a.xml", "/project/version", "2.0 &amp; more", "1.0</", "2.0 &amp; more</"],
    ["a.xml", "/project/@name", "other", "'demo'", "'other'"],
    ["a.xml", "/project/item/1", "c", ">b<", ">c<"],
  ];

const seed = { "a.json": json, "a.yaml": yaml, "a.toml": toml, "a.xml": xml };

describe.each(KINDS)("on %s", (kind) => {
  test.each(edits)("%s %s", async (path, json_pointer, new_text, from, to) => {
    const { ws, text } = await place(kind, seed);
    const result = await ws.call("edit_file", { path, json_pointer, new_text });
    expect(result).toMatchObject({ ok: true, data: { replacements: 1, edits: [{ tier: "exact" }] } });
    const before = seed[path as keyof typeof seed];
    expect(before.split(from)).toHaveLength(2);
    expect(await text(path)).toBe(before.replace(from, () => to));
  });

  test("several, with others among them, each on the result of those before", async () => {
    const { ws, text } = await place(kind, seed);
    const { data, text: told } = await ws.call("edit_file", {
      path: "a.json",
      edits: [
        { json_pointer: "/name", new_text: '{"first":\n 1}' },
        { old_text: "// note", new_text: "// seen" },
        { json_pointer: "/name/first", new_text: "2" },
      ],
    });
    expect(data).toMatchObject({ replacements: 3, edits: [{ index: 0 }, { index: 1 }, { index: 2 }] });
    expect(told.match(/^@@/gm)).toHaveLength(1);
    const expected = json.replace('"x"', '{"first":\r\n 2}').replace("// note", "// seen");
    expect(await text("a.json")).toBe(expected);
  });

  test("in the file's own encoding", async () => {
    const bytes = Uint8Array.from('{"caf\xe9": "\xe0", "b": 1}', (c) => c.charCodeAt(0));
    const { ws, bytes: now } = await place(kind, { "l.json": bytes });
    await ws.editFile({ path: "l.json", json_pointer: "/café", new_text: '"é"' });
    expect(await now("l.json")).toEqual(
      Uint8Array.from('{"caf\xe9": "\xe9", "b": 1}', (c) => c.charCodeAt(0)),
    );
  });

  const refused: readonly (readonly [
    name: string,
    args: Record<string, unknown>,
    code: string,
    words: RegExp,
  ])[] = [
    ["nothing there", { json_pointer: "/nme", new_text: "1" }, "INVALID_ARGUMENT", /Nothing at.*"name"/s],
    ["no value", { json_pointer: "/name", new_text: "y" }, "INVALID_ARGUMENT", /new_text.*one value of JSON/],
    ["two values", { json_pointer: "/name", new_text: '"y", "z": 1' }, "INVALID_ARGUMENT", /one value/],
    ["half a value", { json_pointer: "/name", new_text: '{"y": 1' }, "INVALID_ARGUMENT", /one value/],
    [
      "a value and a comment to hide the rest",
      { json_pointer: "/name", new_text: '"y" //' },
      "INVALID_ARGUMENT",
      /one value/,
    ],
    ["nothing new", { json_pointer: "/name", new_text: '"x"' }, "NO_CHANGE", /different/],
    ["no new_text", { json_pointer: "/name" }, "INVALID_ARGUMENT", /new_text/],
    [
      "a text as well",
      { json_pointer: "/name", old_text: "x", new_text: "1" },
      "INVALID_ARGUMENT",
      /old_text/,
    ],
    [
      "through an alias",
      { path: "s.yaml", json_pointer: "/b/v", new_text: "2" },
      "INVALID_ARGUMENT",
      /alias.*anchor/,
    ],
    ["no structure", { path: "t.txt", json_pointer: "/a", new_text: "1" }, "INVALID_ARGUMENT", /text\/plain/],
  ];
  test.each(refused)("refused: %s", async (_, args, code, words) => {
    const { ws, text } = await place(kind, {
      ...seed,
      "t.txt": "words\n",
      "s.yaml": "a: &x\n  v: 1\nb: *x\n",
    });
    const result = await ws.call("edit_file", { path: "a.json", ...args } as never);
    expect(result).toMatchObject({ ok: false, error: { code }, text: expect.stringMatching(words) });
    expect(await text("a.json")).toBe(json);
  });

  test("the second of two edits that fails is named, and nothing is written", async () => {
    const { ws, text } = await place(kind, seed);
    const edits = [
      { json_pointer: "/name", new_text: "1" },
      { old_text: "nowhere to be found", new_text: "" },
    ];
    expect((await ws.call("edit_file", { path: "a.json", edits })).error).toMatchObject({
      code: "MATCH_NOT_FOUND",
      details: { edit_index: 1 },
    });
    expect(await text("a.json")).toBe(json);
  });
});
