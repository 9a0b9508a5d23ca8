import { describe, expect, it } from "vitest";
import { FilewrightError } from "../../js/engine/errors.ts";
import { locatePointer, type StructuredFormat } from "../../js/readers/structured/locate.ts";

/** The value's text and lines, or the code of the failure with its message. */
async function at(text: string, pointer: string, format: StructuredFormat = "json"): Promise<unknown> {
  try {
    const { start, end, startLine, endLine, type, warnings } = await locatePointer(text, pointer, format);
    return {
      text: text.slice(start, end),
      lines: [startLine, endLine],
      type,
      ...(warnings.length > 0 && { warnings }),
    };
  } catch (error) {
    if (error instanceof FilewrightError) return { code: error.code, message: error.message };
    throw error;
  }
}

const value = (text: string, type: string, from = 1, to = from): object => ({
  text,
  lines: [from, to],
  type,
});

const PACKAGE = `{
  "name": "x",
  "scripts": {
    "test": "vitest",
    "a/b": [1, {"c~d": null}]
  },
  "": true
}
`;

describe("a pointer into JSON", () => {
  it.each([
    ["a key", "/name", value('"x"', "string", 2)],
    ["a nested key", "/scripts/test", value('"vitest"', "string", 4)],
    ["escapes and an index", "/scripts/a~1b/1/c~0d", value("null", "null", 5)],
    ["an empty key", "/", value("true", "boolean", 7)],
    ["a fragment", "#/scripts/a%7E1b/0", value("1", "number", 5)],
    ["an array", "/scripts/a~1b", value('[1, {"c~d": null}]', "array", 5)],
  ])("%s", async (_name, pointer, expected) => {
    expect(await at(PACKAGE, pointer)).toEqual(expected);
  });

  it("the root is the document without what surrounds it", async () => {
    expect(await at(`\ufeff ${PACKAGE}`, "")).toEqual(value(PACKAGE.trim(), "object", 1, 8));
  });

  it.each([
    [
      "huge numbers keep their digits",
      "[1e400, 123456789012345678901234567890]",
      "/1",
      "123456789012345678901234567890",
    ],
    ["1e400", "[1e400]", "/0", "1e400"],
    ["an escaped key", '{"\\u0061\\n": 1}', "/a\n", "1"],
    ["a key beyond the BMP", '{"😀": {"k": 2}}', "/😀/k", "2"],
    ["comments and trailing commas", '{// c\n"a": /* } */ [1,2,], /**/ }', "/a", "[1,2,]"],
    ["brackets in strings", '{"x": "}]{[\\"", "a": "\\\\"}', "/a", '"\\\\"'],
    ["a byte order mark", '\ufeff{"a": 1}', "/a", "1"],
    ["a bare value", " 12 ", "", "12"],
    ["the same key elsewhere", '{"b": {"a": 1}, "a": 2}', "/a", "2"],
    ["a key like a prototype's", '{"__proto__": {"toString": 3}}', "/__proto__/toString", "3"],
    ["deep nesting beside the way", `{"x": ${"[".repeat(5000)}${"]".repeat(5000)}, "a": 1}`, "/a", "1"],
  ])("%s", async (_name, text, pointer, expected) => {
    expect(await at(text, pointer)).toMatchObject({ text: expected });
  });

  it("of duplicate keys the last counts, and both are named", async () => {
    expect(await at('{"a": 1,\n"b": 0,\n"a": {"c": 2}}', "/a/c")).toEqual({
      ...value("2", "number", 3),
      warnings: ["'/a' is there twice, on lines 1 and 3; the last counts."],
    });
    expect(await at('{"a": {"c": 2}, "a": 1}', "/a/c")).toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("an error behind the value is a warning, before it a failure", async () => {
    expect(await at('{"a": 1,\n oops}', "/a")).toMatchObject({
      text: "1",
      warnings: [expect.stringContaining("line 2")],
    });
    expect(await at('{"x": tru, "a": 1}', "/a")).toEqual({
      code: "UNSUPPORTED_FORMAT",
      message: "is broken at line 1: 'tru' is no value",
    });
  });

  it.each([
    ["cut off", '{"a": [1', "/a"],
    ["an open string", '{"a": "x', "/a"],
    ["an open comment", "/* {}", "/a"],
    ["empty", "", "/a"],
    ["two commas", "[1,,2]", "/2"],
    ["a wrong bracket", '{"a": [1}', "/b"],
    ["single quotes", "{'a': 1}", "/a"],
    ["nested beyond all measure", "[".repeat(200_000), "/0"],
  ])("refuses what is no JSON: %s", async (_name, text, pointer) => {
    expect(await at(text, pointer)).toMatchObject({ code: "UNSUPPORTED_FORMAT" });
  });

  it.each([
    ["no such key", "/scripts/build", `'/scripts' is an object with the keys "test", "a/b".`],
    ["an index past the end", "/scripts/a~1b/9", "'/scripts/a~1b' is an array of 2 items: 0 to 1."],
    ["a word for an index", "/scripts/a~1b/-", "is an array of 2 items"],
    ["below a string", "/name/x", "'/name' is a string, which has nothing below it."],
    ["below nothing", "/nope/x/y", `the root is an object with the keys "name", "scripts", "".`],
    ["without a slash", "name", 'begins with "/"'],
    ["a wrong escape", "/~2", '"~" is written "~0"'],
    ["too long", `/${"a".repeat(5000)}`, "longer than"],
  ])("says what is there instead: %s", async (_name, pointer, message) => {
    expect(await at(PACKAGE, pointer)).toEqual({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining(message),
    });
  });

  it("JSON Lines are an array of their values", async () => {
    const log = '{"a": 1}\n\n{"a": {"b": 2}}\n';
    expect(await at(log, "/1/a/b", "jsonl")).toEqual(value("2", "number", 3));
    expect(await at(log, "/2", "jsonl")).toMatchObject({
      message: expect.stringContaining("array of 2 items"),
    });
  });
});

const CARGO = `# top
title = "t"
"quoted key".sub = 'x' # c
[package]
name = "a"
authors = [ "b", # ]
  "c" ]
nested = { x = { y = 1_000 }, "z w" = [1, 2] }

[[bin]]
name = "one"
[bin.extra]
k = """
[not.a.header]
"quotes" inside"""
[[bin]]
name = "two"
[package.metadata]
when = 1979-05-27T07:32:00Z
day = 1979-05-27 07:32:00 # local
`;

describe("a pointer into TOML", () => {
  it.each([
    ["/title", value('"t"', "string", 2)],
    ["/quoted key/sub", value("'x'", "string", 3)],
    ["/package/authors/1", value('"c"', "string", 7)],
    ["/package/authors", value('[ "b", # ]\n  "c" ]', "array", 6, 7)],
    ["/package/nested/x/y", value("1_000", "number", 8)],
    ["/package/nested/z w/1", value("2", "number", 8)],
    ["/bin/1/name", value('"two"', "string", 17)],
    ["/bin/1", value('[[bin]]\nname = "two"', "object", 16, 17)],
    ["/bin/0/extra/k", value('"""\n[not.a.header]\n"quotes" inside"""', "string", 13, 15)],
    ["/package/metadata/day", value("1979-05-27 07:32:00", "date", 20)],
    ["/package/metadata/when", value("1979-05-27T07:32:00Z", "date", 19)],
  ])("%s", async (pointer, expected) => {
    expect(await at(CARGO, pointer, "toml")).toEqual(expected);
  });

  it("warns where a table is in pieces", async () => {
    const found = await at(CARGO, "/package", "toml");
    expect(found).toMatchObject({
      type: "object",
      lines: [4, 20],
      warnings: [expect.stringContaining("between the parts")],
    });
  });

  it.each([
    ["/package/nope", `'/package' is an object with the keys "name", "authors", "nested", "metadata".`],
    ["/bin/7", "'/bin' is an array of 2 items"],
    ["/title/x", "'/title' is a string"],
    ["/package/nested/q", `'/package/nested' is an object with the keys "x", "z w".`],
    ["/zip", `the root is an object with the keys "title", "quoted key", "package", "bin".`],
  ])("%s leads nowhere", async (pointer, message) => {
    expect(await at(CARGO, pointer, "toml")).toEqual({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining(message),
    });
  });

  it.each(['a = "x', "a = [1, 2", "[t", "a b = 1", "= 1", `a = ${"[".repeat(500)}`, "a = 1 b = 2", "a ="])(
    "refuses what is no TOML: %s",
    async (text) => {
      expect(await at(text, "/a", "toml")).toMatchObject({ code: "UNSUPPORTED_FORMAT" });
    },
  );
});

const COMPOSE = `# compose
x-base: &base
  image: "a:1"   # the image
services:
  web:
    <<: *base
    ports: [80, 443]
  db: *base
  long: |
    one
    two

last: ~
`;

describe("a pointer into YAML", () => {
  it.each([
    ["/x-base/image", value('"a:1"', "string", 3)],
    ["/services/web/ports/1", value("443", "number", 7)],
    ["/services/web/ports", value("[80, 443]", "array", 7)],
    ["/services/web", value("<<: *base\n    ports: [80, 443]", "object", 6, 7)],
    ["/services/long", value("|\n    one\n    two", "string", 9, 11)],
    ["/last", value("~", "null", 13)],
  ])("%s", async (pointer, expected) => {
    expect(await at(COMPOSE, pointer, "yaml")).toEqual(expected);
  });

  it("follows an alias to its anchor and says so", async () => {
    expect(await at(COMPOSE, "/services/db/image", "yaml")).toEqual({
      ...value('"a:1"', "string", 3),
      warnings: ["'/services/db' is an alias; shown is its anchor &base."],
    });
  });

  it("documents of a stream are counted; duplicate keys are named; tabs are refused", async () => {
    expect(await at("a: 1\n---\na: 2\n", "/1/a", "yaml")).toEqual(value("2", "number", 3));
    expect(await at("a: 1\nb: 2\na: 3\n", "/a", "yaml")).toEqual({
      ...value("3", "number", 3),
      warnings: ["'/a' is there 2 times, on lines 1, 3; the last counts."],
    });
    expect(await at("a:\n\tb: 1\n", "/a/b", "yaml")).toMatchObject({ code: "UNSUPPORTED_FORMAT" });
  });

  it("bombs, cycles and depths do no harm", async () => {
    const bomb = `a: &a [x, x]\n${"bcdefghij"
      .split("")
      .map((c, i) => `${c}: &${c} [${`*${"abcdefghij"[i]}, `.repeat(9)}x]\n`)
      .join("")}`;
    expect(await at(bomb, "/j/0/0/0/0/0/0/0/0/0/0", "yaml")).toMatchObject({ text: "x" });
    expect(await at("a: &a [*a]\n", `/a${"/0".repeat(40)}`, "yaml")).toMatchObject({ type: "array" });
    for (const deep of ["[", "{a: ", "- ", "? ", "a: "]) {
      expect(await at(deep.repeat(20_000), "/0", "yaml")).toMatchObject({ code: "UNSUPPORTED_FORMAT" });
    }
    const steps = Array.from({ length: 1000 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n");
    expect(await at(steps, "/a", "yaml")).toMatchObject({ code: "UNSUPPORTED_FORMAT" });
    expect(await at("a: 1\n".repeat(300_000), "/a", "yaml")).toMatchObject({ code: "TOO_LARGE" });
    expect(await at("x: *none\n", "/x", "yaml")).toMatchObject({ code: expect.any(String) });
    expect(await at("", "/x", "yaml")).toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("a pointer into CSV", () => {
  const table = 'id,name,note\r\n1,"Ann","a ""b""\r\nc"\r\n2,Bob,\r\n';
  it.each([
    ["a record with a line break", "/1", value('1,"Ann","a ""b""\r\nc"', "record", 2, 3)],
    ["a field by name", "/1/note", value('"a ""b""\r\nc"', "field", 2, 3)],
    ["the record behind it", "/2/1", value("Bob", "field", 4)],
    ["an empty field", "/2/note", value("", "field", 4)],
  ])("%s", async (_name, pointer, expected) => {
    expect(await at(table, pointer, "csv")).toEqual(expected);
  });

  it("says what is there instead", async () => {
    expect(await at(table, "/9", "csv")).toMatchObject({
      message: expect.stringContaining("array of 3 items"),
    });
    expect(await at(table, "/1/nope", "csv")).toMatchObject({
      message: expect.stringContaining('"id", "name", "note"'),
    });
    expect(await at('a,"never closed\n', "/0/1", "csv")).toMatchObject({ text: '"never closed\n' });
  });
});
