/** The preset `adk`: one case for each behaviour that its callers rely on. */
import { describe, test } from "vitest";
import { type Case, run } from "./harness.ts";

const LINES = (count: number): string => Array.from({ length: count }, (_, at) => `l${at + 1}\n`).join("");

const CASES: readonly Case[] = [
  {
    title: "read gives the whole file raw, however long",
    seed: { a: LINES(2500) },
    steps: [{ call: "read_file", args: { path: "a" }, text: LINES(2500) }],
  },
  {
    title: "a byte order mark is hidden, an old encoding is recognised",
    seed: { a: "\ufeffx\n", b: Uint8Array.from([0x63, 0x61, 0x66, 0xe9, 0x0a]) },
    steps: [
      { call: "read_file", args: { path: "a" }, text: "x\n" },
      { call: "read_file", args: { path: "b" }, text: "café\n" },
    ],
  },
  {
    title: "write refuses an existing file unless told otherwise",
    seed: { a: "old" },
    steps: [
      {
        call: "write_file",
        args: { path: "a", content: "n" },
        code: "ALREADY_EXISTS",
        has: ["overwrite"],
        files: { a: "old" },
      },
      { call: "write_file", args: { path: "a", content: "n", overwrite: true }, files: { a: "n" } },
      { call: "write_file", args: { path: "b", content: "n", overwrite: "true" }, files: { b: "n" } },
    ],
  },
  {
    title: "write makes new files and their parents",
    steps: [{ call: "write_file", args: { path: "n/m/a", content: "x" }, files: { "n/m/a": "x" } }],
  },
  {
    title: "edit takes a list of oldText and newText and returns the diff alone",
    seed: { a: "1\n2\n3\n" },
    steps: [
      {
        call: "edit_file",
        args: { path: "a", edits: [{ oldText: "2", newText: "two" }] },
        text: "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3",
        data: {
          diff: "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n",
          applied: true,
          replacements: 1,
        },
      },
    ],
  },
  {
    title: "edits are applied in order, all or none, and the failing one is named",
    seed: { a: "1\n2\n" },
    steps: [
      {
        call: "edit_file",
        args: {
          path: "a",
          edits: [
            { oldText: "1", newText: "A" },
            { oldText: "nowhere at all", newText: "B" },
          ],
        },
        code: "MATCH_NOT_FOUND",
        has: ["oldText", "edits[1]"],
        lacks: ["old_text"],
        files: { a: "1\n2\n" },
      },
      {
        call: "edit_file",
        args: {
          path: "a",
          edits: [
            { oldText: "1", newText: "A" },
            { oldText: "A", newText: "B" },
          ],
        },
        files: { a: "B\n2\n" },
      },
    ],
  },
  {
    title: "dry_run shows the diff and writes nothing",
    seed: { a: "1\n" },
    steps: [
      {
        call: "edit_file",
        args: { path: "a", edits: [{ oldText: "1", newText: "2" }], dry_run: true },
        has: ["-1", "+2", "@@"],
        data: { applied: false },
        files: { a: "1\n" },
      },
    ],
  },
  {
    title: "of several occurrences the first is replaced",
    seed: { a: "k=1\nk=1\n" },
    steps: [
      {
        call: "edit_file",
        args: { path: "a", edits: [{ oldText: "k=1", newText: "k=2" }] },
        has: ["+k=2", "[warning: matches: 2; only the one at line 1 was replaced]"],
        data: { replacements: 1, edits: [{ matches: 2 }] },
        files: { a: "k=2\nk=1\n" },
      },
      {
        call: "edit_file",
        args: { path: "a", edits: [{ oldText: "k=2", newText: "k=3" }] },
        lacks: ["warning"],
        data: { edits: [{ matches: 1 }] },
      },
    ],
  },
  {
    title: "lines that differ in indentation match, and keep the file's",
    seed: { a: "def f():\n        a()\n        b()\n" },
    steps: [
      {
        call: "edit_file",
        args: { path: "a", edits: [{ oldText: "a()\nb()", newText: "if x:\n    c()" }] },
        files: { a: "def f():\n        if x:\n            c()\n" },
      },
    ],
  },
  {
    title: "CRLF files match LF texts and stay CRLF",
    seed: { a: "1\r\n2\r\n" },
    steps: [
      {
        call: "edit_file",
        args: { path: "a", edits: [{ oldText: "1\n2", newText: "3\n4" }] },
        files: { a: "3\r\n4\r\n" },
      },
    ],
  },
  {
    title: "copy takes source_path and destination_path, files and directories",
    seed: { a: "1", "d/e/f": "2" },
    steps: [
      { call: "copy", args: { source_path: "a", destination_path: "b" }, files: { b: "1" } },
      { call: "copy", args: { source_path: "d", destination_path: "c" }, files: { "c/e/f": "2" } },
      { call: "copy", args: { source: "a", destination: "x" }, files: { x: "1" } },
      { call: "copy", args: { source_path: "a", destination_path: "b" }, code: "ALREADY_EXISTS" },
    ],
  },
  {
    title: "delete takes files, and directories with all they hold, but no root",
    seed: { a: "1", "d/e/f": "2" },
    steps: [
      { call: "delete", args: { path: "a" }, files: { a: null } },
      { call: "delete", args: { path: "d" }, data: { files: 1 }, files: { "d/e/f": null } },
      { call: "delete", args: { path: "." }, code: "PROTECTED_PATH" },
    ],
  },
  {
    title: "list_directory gives names with indicators",
    seed: { a: "1", "d/f": "2" },
    steps: [
      {
        call: "list_directory",
        args: { path: "." },
        text: "[DIR] d\n[FILE] a",
        data: { entries: [{ name: "d" }, { name: "a" }] },
      },
    ],
  },
  {
    title: "get_info tells size, times and type",
    seed: { a: "123" },
    steps: [
      {
        call: "get_info",
        args: { path: "a" },
        has: ["size: 3", "type: file", "created: ", "modified: "],
        data: { size: 3, type: "file" },
      },
    ],
  },
  {
    title: "search finds files and directories, with exclusions",
    seed: { "src/test_a.py": "", "src/test_dir/x.txt": "", "v/test_b.py": "" },
    steps: [
      {
        call: "search",
        args: { path: ".", pattern: "**/test_*", exclude_patterns: ["v/**"] },
        text: "src/test_a.py\nsrc/test_dir",
        data: { matches: ["src/test_a.py", "src/test_dir"] },
      },
      { call: "search", args: { path: "src", pattern: "*.py" }, data: { matches: ["src/test_a.py"] } },
      { call: "search", args: { path: ".", pattern: "*.rb" }, has: ["No files match"] },
    ],
  },
  {
    title: "outside the directories nothing is read or written",
    seed: { "/o/s": "secret" },
    steps: [
      {
        call: "read_file",
        args: { path: "/o/s" },
        code: "OUTSIDE_ALLOWED",
        has: ["path '/o/s' is outside the allowed"],
      },
      { call: "write_file", args: { path: "../o/n", content: "" }, code: "OUTSIDE_ALLOWED", has: ["write"] },
      {
        call: "copy",
        args: { source_path: "/o/s", destination_path: "s" },
        code: "OUTSIDE_ALLOWED",
        files: { s: null },
      },
    ],
  },
  {
    title: "other spellings of paths are understood, two different values are not",
    seed: { a: "1" },
    steps: [
      { call: "read_file", args: { file_path: "a" }, text: "1" },
      { call: "read_file", args: { absolute_path: "/w/a" }, text: "1" },
      { call: "read_file", args: { path: "a", file_path: "a" }, text: "1" },
      { call: "read_file", args: { path: "a", file_path: "b" }, code: "INVALID_ARGUMENT", has: ["path"] },
      {
        call: "copy",
        args: { source: "a", source_path: "b", destination_path: "c" },
        code: "INVALID_ARGUMENT",
      },
    ],
  },
  {
    title: "our own arguments and tools that the preset lacks are refused with the nearest",
    seed: { a: "1" },
    steps: [
      { call: "delete", args: { path: "a", recursive: true }, code: "INVALID_ARGUMENT", has: ["recursive"] },
      {
        call: "write_file",
        args: { path: "a", contents: "x" },
        code: "INVALID_ARGUMENT",
        has: ["'content'"],
      },
      { call: "copi", args: {}, code: "UNKNOWN_TOOL", has: ["'copy'"] },
      { call: "grep", args: { pattern: "1" }, code: "UNKNOWN_TOOL", has: ["search"] },
    ],
  },
];

describe("preset adk", () => {
  test.each(CASES.map((one) => [one.title, one] as const))("%s", (_, one) => run("adk", one));
});
