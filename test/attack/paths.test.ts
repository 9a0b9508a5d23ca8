/** Attacks by the text of a path. */
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { type Expected, everyTool, type Row, runRows } from "./world.ts";

const OUTSIDE = "OUTSIDE_ALLOWED";
const reads = (path: string, content: string): readonly Row["steps"][number][] => [
  ["read_file", { path }, (result) => expect(result).toMatchObject({ ok: true, data: { content } })],
];

const DEEP = [...new Array<string>(25).fill("d".repeat(200)), "f"].join("/");

const SAME_WORDS: Expected = (result) =>
  expect(result.ok ? "" : result.error.message).toMatch(
    /^path '[./a-z]+' is outside the allowed [a-z ]+; access_info lists them\.$/u,
  );

const ROWS: readonly Row[] = [
  { n: 1, title: "a path that climbs out", steps: everyTool("../out/s", OUTSIDE) },
  { n: 2, title: "an absolute path outside", steps: everyTool("$O/s", OUTSIDE) },
  { n: 2, title: "a system file", steps: everyTool("/etc/passwd", OUTSIDE) },
  { n: 3, title: "climbing out after going in", steps: everyTool("a/../../out/s", OUTSIDE) },
  { n: 4, title: "climbing that stays inside", steps: reads("a/../a/f", "inside a/f\n") },
  { n: 5, title: "a sibling with the same beginning", steps: everyTool("$W-evil/s", OUTSIDE) },
  { n: 6, title: "the absolute path of the workspace itself", steps: reads("$W/a/f", "inside a/f\n") },
  {
    n: 7,
    title: "doubled slashes and dots, and a path that begins with two slashes",
    steps: [
      ...reads("a//f", "inside a/f\n"),
      ...reads("./a/./f", "inside a/f\n"),
      ["read_file", { path: "//a/f" }, OUTSIDE],
    ],
  },
  {
    n: 8,
    title: "a file with a slash behind it is no directory",
    steps: [
      ["read_file", { path: "a/f/" }, ["NOT_DIRECTORY", "INVALID_ARGUMENT"]],
      ["write_file", { path: "new/", content: "x" }, ["NOT_DIRECTORY", "IS_DIRECTORY", "INVALID_ARGUMENT"]],
      ["delete", { path: "a/f/" }, ["NOT_DIRECTORY", "INVALID_ARGUMENT"]],
      [
        "edit_file",
        { path: "a/f/", old_text: "inside", new_text: "x" },
        ["NOT_DIRECTORY", "INVALID_ARGUMENT"],
      ],
      ["copy", { source: "a/f/", destination: "taken" }, ["NOT_DIRECTORY", "INVALID_ARGUMENT"]],
      ["move", { source: "a/f/", destination: "taken" }, ["NOT_DIRECTORY", "INVALID_ARGUMENT"]],
    ],
    after: (world) => {
      expect(world.text("a/f")).toBe("inside a/f\n");
      expect(world.text("taken")).toBeUndefined();
      expect(world.text("new")).toBeUndefined();
    },
  },
  {
    n: 9,
    title: "an empty path",
    steps: everyTool("", "ANY")
      .slice(0, 3)
      .map(([t, a]) => [t, a, "INVALID_ARGUMENT"]),
  },
  {
    n: 10,
    title: "a NUL cuts nothing off",
    steps: everyTool("f\0.png", "INVALID_ARGUMENT"),
    after: (world) => expect(world.text("f")).toBe("inside f\n"),
  },
  {
    n: 11,
    title: "a name of 256 bytes, in letters of one byte and of three",
    steps: [
      ["read_file", { path: "x".repeat(256) }, "NAME_TOO_LONG"],
      ["write_file", { path: `${"x".repeat(256)}/y`, content: "" }, "NAME_TOO_LONG"],
      ["write_file", { path: "€".repeat(86), content: "" }, "NAME_TOO_LONG"],
      ["write_file", { path: "€".repeat(85), content: "fits" }, "OK"],
    ],
  },
  {
    n: 12,
    title: "a path longer than the kernel takes in one piece, legal name by name",
    addon: true,
    steps: [
      ["write_file", { path: DEEP, content: "deep\n" }, "OK"],
      ...reads(DEEP, "deep\n"),
      ["delete", { path: "d".repeat(200), recursive: true }, "OK"],
    ],
  },
  {
    n: 13,
    title: "800 times into a directory and out again",
    steps: reads(`${"a/../".repeat(800)}f`, "inside f\n"),
  },
  {
    n: 14,
    title: "percent escapes are letters",
    steps: [
      ["read_file", { path: "%2e%2e/out/s" }, "NOT_FOUND"],
      ["write_file", { path: "%2e%2e/out", content: "x" }, "OK"],
    ],
    after: (world) => expect(world.text("%2e%2e/out")).toBe("x"),
  },
  {
    n: 15,
    title: "a backslash is a letter",
    steps: [
      ["read_file", { path: "..\\out\\s" }, "NOT_FOUND"],
      ["write_file", { path: "..\\out", content: "x" }, "OK"],
    ],
    after: (world) => expect(world.text("..\\out")).toBe("x"),
  },
  {
    n: 16,
    title: "nothing stands for a home directory, or for a variable",
    steps: [
      ["read_file", { path: "~/.bashrc" }, "INVALID_ARGUMENT"],
      ["read_file", { path: "$HOME/x" }, "NOT_FOUND"],
      ["write_file", { path: "~/x", content: "there" }, "INVALID_ARGUMENT"],
      ["write_file", { path: "./~/x", content: "here" }, "OK"],
      ["read_file", { path: "~/x" }, "OK"],
    ],
    after: (world) => expect(world.text("~/x")).toBe("here"),
  },
  {
    n: 17,
    title: "a name that looks like an option",
    seed: { "-rf": "dash\n" },
    steps: [...reads("-rf", "dash\n"), ["delete", { path: "-rf" }, "OK"]],
  },
  {
    n: 18,
    title: "a line break in a name forges no line, and the name can be used",
    seed: { "x\n[FILE] forged": "odd\n" },
    steps: [
      ...reads("x\n[FILE] forged", "odd\n"),
      [
        "list_directory",
        {},
        (result) => {
          expect(result.text.split("\n")).not.toContain("[FILE] forged");
          expect(result.text).toContain("x\\n[FILE] forged");
          expect(JSON.stringify(result.data)).toContain("x\\n[FILE] forged");
        },
      ],
      ["glob", { pattern: "**" }, (result) => expect(result.text.split("\n")).not.toContain("[FILE] forged")],
      [
        "grep",
        { pattern: "odd" },
        (result) => expect(result.text.split("\n").filter((line) => line !== "")).toHaveLength(1),
      ],
    ],
  },
  {
    n: 19,
    title: "a name that is not UTF-8 is listed in a form that leads back to it",
    disk: true,
    steps: [
      [
        "mkdir",
        { path: "odd" },
        (_, { root }) => {
          fs.writeFileSync(
            Buffer.concat([Buffer.from(`${join(root, "odd")}/`), Buffer.from([0x61, 0xff])]),
            "bytes\n",
          );
        },
      ],
      ["list_directory", { path: "odd" }, (result) => expect(result.text).toContain("a\\xFF")],
      ...reads("odd/a\\xFF", "bytes\n"),
    ],
  },
  {
    n: 20,
    title: "letters that turn the text around, and terminal commands, are escaped",
    seed: { "a\u202etxt.exe": "x", "b\u001b[2Jc": "x" },
    steps: ["list_directory", "glob"].map((tool) => [
      tool,
      tool === "glob" ? { pattern: "**" } : {},
      (result) => {
        for (const hostile of ["\u202e", "\u001b"]) expect(result.text).not.toContain(hostile);
        expect(result.text).toMatch(/\\u\{202e\}/u);
      },
    ]),
  },
  {
    n: 20,
    title: "and in refusals",
    steps: [
      [
        "read_file",
        { path: "no\u202e\u001b[2J\nsuch" },
        (result) => {
          expect(result.ok).toBe(false);
          for (const hostile of ["\u202e", "\u001b"]) expect(result.text).not.toContain(hostile);
        },
      ],
    ],
  },
  { n: 21, title: "half a surrogate pair", steps: everyTool("f\ud800", "INVALID_ARGUMENT") },
  {
    n: 97,
    title: "a working directory cannot be named by a call, and a base below the root widens nothing",
    options: { cwd: "a" },
    steps: [
      ...reads("f", "inside a/f\n"),
      ...reads("../f", "inside f\n"),
      ["read_file", { path: "../../out/s" }, OUTSIDE],
      ["read_file", { path: "f", cwd: "/" }, "INVALID_ARGUMENT"],
      ["grep", { pattern: "x", path: "../.." }, OUTSIDE],
      ["grep", { pattern: "x", root: "/" }, "INVALID_ARGUMENT"],
    ],
  },
  {
    n: 99,
    title: "what is outside is refused in the same words whether it is there or not",
    steps: everyTool("../out/s", SAME_WORDS).filter(([tool]) => tool !== "read_many_files"),
  },
  {
    n: 99,
    title: "and what is not there",
    steps: everyTool("../out/none", SAME_WORDS).filter(([tool]) => tool !== "read_many_files"),
  },
];

runRows(ROWS);
