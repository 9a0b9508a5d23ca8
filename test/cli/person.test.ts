/** Output for a person: layout, colours, highlighted matches, sizes and times; and output into a pipe. */
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { highlightRangesOf } from "../../js/cli/person/highlight.ts";
import { escapeForTerminal, formatBytes, formatLocalTime } from "../../js/cli/person/style.ts";
import { type CliFixture, place } from "./running.ts";

let at: CliFixture;
beforeAll(async () => {
  at = await place({
    "a.txt": "one\ntwo one\nthree\nfour\nfive one\n",
    "src/b.ts": "const one = 1;\n",
    "src/big.bin.txt": "x".repeat(5000),
    "steer.txt": "one \u001b[2Jclears the screen\n",
  });
  await utimes(join(at.root, "a.txt"), 1_700_000_000, 1_700_000_000);
});
afterAll(() => at.remove());

const colour = ["--color", "always"];
const path = (text: string): string => `\u001b[35m${text}\u001b[39m`;
const number = (text: number): string => `\u001b[32m${text}\u001b[39m`;
const match = (text: string): string => `\u001b[1m\u001b[31m${text}\u001b[39m\u001b[22m`;

describe("grep for a person", () => {
  test("has headings, coloured numbers and highlighted matches", async () => {
    const { out, status } = await at.run(["grep", "one", "-g", "[as]*.t[xs]*", ...colour]);
    expect(status).toBe(0);
    expect(out).toBe(
      [
        path("a.txt"),
        `${number(1)}:${match("one")}`,
        `${number(2)}:two ${match("one")}`,
        `${number(5)}:five ${match("one")}`,
        "",
        path("steer.txt"),
        `${number(1)}:${match("one")} \\x1b[2Jclears the screen`,
        "",
      ].join("\n"),
    );
  });

  test("has headings without colour with --heading, and none with --no-heading", async () => {
    expect((await at.run(["grep", "one", "src", "--heading"])).out).toBe("src/b.ts\n1:const one = 1;\n");
    expect((await at.run(["grep", "one", "src", "--no-heading", ...colour])).out).toBe(
      `${path("src/b.ts")}:${number(1)}:const ${match("one")} = 1;\n`,
    );
  });

  test("sets apart what does not follow on", async () => {
    const { out } = await at.run(["grep", "one", "a.txt", "-C", "1", "--heading"]);
    expect(out).toBe("a.txt\n1:one\n2:two one\n3-three\n4-four\n5:five one\n");
    const apart = await at.run(["grep", "^one|five", "a.txt", "-A", "1", "--heading"]);
    expect(apart.out).toBe("a.txt\n1:one\n2-two one\n--\n5:five one\n");
  });
});

test.each<[string, readonly string[]]>([
  ["glob", ["glob", "src/b.*"]],
  ["find", ["find", "b.ts"]],
])("%s has the directory of a path in a colour of its own", async (_, args) => {
  expect((await at.run([...args, ...colour])).out).toBe(`${path("src/")}b.ts\n`);
});

test("a pipe gets the text that a model gets, whatever NO_COLOR says", async () => {
  const plain = "a.txt:1:one\na.txt:2:two one\na.txt:5:five one\n";
  expect((await at.run(["grep", "one", "a.txt"])).out).toBe(plain);
  expect((await at.run(["grep", "one", "a.txt"], "", { NO_COLOR: "1" })).out).toBe(plain);
  expect((await at.run(["ls", "src"])).out).toBe("[FILE] b.ts\n[FILE] big.bin.txt\n");
  expect((await at.run(["call", "list_directory", "--args", '{"path":"src"}', ...colour])).out).toBe(
    "[FILE] b.ts\n[FILE] big.bin.txt\n",
  );
});

describe("colour", () => {
  const dry = ["edit", "a.txt", "--old", "three", "--new", "3", "-n"];
  test.each<[string, readonly string[], Record<string, string>, boolean]>([
    ["none into a pipe", [], {}, false],
    ["FORCE_COLOR", [], { FORCE_COLOR: "1" }, true],
    ["FORCE_COLOR=0", [], { FORCE_COLOR: "0" }, false],
    ["NO_COLOR before FORCE_COLOR", [], { FORCE_COLOR: "1", NO_COLOR: "1" }, false],
    ["--color before NO_COLOR", ["--color=always"], { NO_COLOR: "1" }, true],
    ["--colour", ["--colour", "always"], {}, true],
    ["--color never before FORCE_COLOR", ["--color", "never"], { FORCE_COLOR: "1" }, false],
  ])("%s", async (_, more, env, coloured) => {
    expect((await at.run([...dry, ...more], "", env)).out.includes("\u001b[32m+3\u001b[39m")).toBe(coloured);
  });

  test("marks the words that changed in a line", async () => {
    const { out } = await at.run([
      "edit",
      "src/b.ts",
      "--old",
      "one = 1",
      "--new",
      "one = 2",
      "-n",
      ...colour,
    ]);
    expect(out).toContain("\u001b[31m\u001b[7m1\u001b[27m\u001b[39m");
    expect(out).toContain("\u001b[32m\u001b[7m2\u001b[27m\u001b[39m");
  });

  test("a mode that there is not", async () => {
    const { status, err } = await at.run(["ls", "--color", "blue"]);
    expect([status, err]).toEqual([2, "filewright: --color must be auto, always or never, not 'blue'\n"]);
  });
});

test("ls for a person has types, sizes, times and colours", async () => {
  const { out } = await at.run(["ls", "-d", "2", ...colour]);
  const plain = stripVTControlCharacters(out);
  expect(plain).toMatch(/^dir {8}- {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}src\/$/mu);
  expect(plain).toMatch(/^file {4}4\.9K {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}src\/big\.bin\.txt$/mu);
  expect(plain).toContain(`file      32  ${formatLocalTime("2023-11-14T22:13:20.000Z")}  a.txt\n`);
  expect(out).toContain("\u001b[1m\u001b[34msrc/\u001b[39m\u001b[22m");
  expect((await at.run(["ls", "--format", "names", ...colour])).out).toBe("src\na.txt\nsteer.txt\n");
});

test("read for a person has coloured numbers and no steering", async () => {
  const { out } = await at.run(["read", "steer.txt", ...colour]);
  expect(out).toBe("\u001b[32m     1\t\u001b[39mone \\x1b[2Jclears the screen\n");
});

test("sizes are short", () => {
  const sizes = [0, 999, 1023, 1024, 1536, 10_240, 1_048_575, 1_048_576, 5e9];
  expect(sizes.map(formatBytes)).toEqual(["0", "999", "1023", "1.0K", "1.5K", "10K", "1.0M", "1.0M", "4.7G"]);
});

test("a line keeps its tabs and loses what hides text", () => {
  expect(escapeForTerminal("a\tb\u202ec\u0007")).toBe("a\tb\\u{202e}c\\x07");
});

describe("the ranges of matches", () => {
  const one = (text: string, column: number, pattern: string, more = {}) =>
    highlightRangesOf([{ path: "f", line: 1, column, text }], { pattern, ...more })[0];
  test.each<[string, readonly (readonly number[])[] | undefined, readonly (readonly number[])[]]>([
    [
      "every one of a line",
      one("a-a", 1, "a"),
      [
        [0, 1],
        [2, 3],
      ],
    ],
    ["plain text", one("f(x)", 2, "(x)", { regex: false }), [[1, 4]]],
    ["without case", one("One", 1, "one", { case: "insensitive" }), [[0, 3]]],
    ["smart case", one("One", 1, "one", { case: "smart" }), [[0, 3]]],
    ["inline flags", one("One", 1, "(?i)one"), [[0, 3]]],
    ["whole words", one("ones one", 6, "one", { word: true }), [[5, 8]]],
    ["behind characters of two units", one("😀x", 2, "x"), [[2, 3]]],
    ["none where the engine found another place", one("aa", 2, "a"), []],
    ["none of a pattern that JavaScript does not know", one("a", 1, "[[:alpha:]]"), []],
    ["none where it would take for ever", one(`${"a".repeat(60)}!`, 1, "(a+)+$|(?:(a+)+)+b"), []],
  ])("%s", (_, found, expected) => expect(found).toEqual(expected));
});
