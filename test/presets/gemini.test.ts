/** The preset `gemini`: one case for each behaviour that its callers rely on. */
import { describe, test } from "vitest";
import { type Case, run } from "./harness.ts";

const LINES = (count: number): string => Array.from({ length: count }, (_, at) => `l${at + 1}\n`).join("");
const PNG = Uint8Array.from(
  atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="),
  (c) => c.charCodeAt(0),
);

const CASES: readonly Case[] = [
  {
    title: "write says whether the file is new, and what the user changed",
    steps: [
      {
        call: "write_file",
        args: { file_path: "/w/n/a", content: "1" },
        has: ["Successfully created and wrote to new file: /w/n/a."],
        data: { operation: "create" },
      },
      {
        call: "write_file",
        args: { file_path: "/w/n/a", content: "2" },
        has: ["Successfully overwrote file: /w/n/a."],
        data: { operation: "update" },
        files: { "n/a": "2" },
      },
      {
        call: "write_file",
        args: { file_path: "/w/n/a", content: "3", modified_by_user: true },
        has: ["User modified the `content` to be: 3"],
      },
    ],
  },
  {
    title: "paths must be absolute, everywhere",
    seed: { a: "1" },
    steps: [
      { call: "read_file", args: { absolute_path: "a" }, code: "INVALID_ARGUMENT", has: ["absolute"] },
      {
        call: "write_file",
        args: { file_path: "a", content: "" },
        code: "INVALID_ARGUMENT",
        has: ["absolute"],
        files: { a: "1" },
      },
      {
        call: "replace",
        args: { file_path: "./a", old_string: "1", new_string: "2" },
        code: "INVALID_ARGUMENT",
        has: ["absolute"],
      },
      { call: "list_directory", args: { path: "." }, code: "INVALID_ARGUMENT", has: ["absolute"] },
      { call: "read_file", args: { path: "/w/a" }, text: "1" },
      { call: "read_file", args: { file_path: "/w/a" }, text: "1" },
      { call: "read_file", args: { absolute_path: "/w/a", file_path: "/w/b" }, code: "INVALID_ARGUMENT" },
      { call: "read_file", args: { absolute_path: "/o/x" }, code: "OUTSIDE_ALLOWED" },
    ],
  },
  {
    title: "read is raw; a cut one begins with which lines it shows",
    seed: { a: LINES(10), long: "x".repeat(2001) },
    steps: [
      { call: "read_file", args: { absolute_path: "/w/a" }, text: LINES(10) },
      {
        call: "read_file",
        args: { absolute_path: "/w/a", offset: 2, limit: 3 },
        text: "[File content truncated: showing lines 3-5 of 10 total lines. Use offset/limit parameters to view more.]\nl3\nl4\nl5\n",
      },
      { call: "read_file", args: { absolute_path: "/w/long" }, has: ["... [truncated]"] },
    ],
  },
  {
    title: "2000 lines are the default",
    seed: { a: LINES(2001) },
    steps: [
      {
        call: "read_file",
        args: { absolute_path: "/w/a" },
        has: ["[File content truncated: showing lines 1-2000 of 2001 total lines.", "l2000"],
        lacks: ["l2001"],
      },
    ],
  },
  {
    title: "images are blocks",
    seed: { "a.png": PNG },
    steps: [{ call: "read_file", args: { absolute_path: "/w/a.png" }, has: ["image/png"] }],
  },
  {
    title: "replace is literal and counts",
    seed: { a: "f(.*)\nf(.*)\n" },
    steps: [
      {
        call: "replace",
        args: { file_path: "/w/a", old_string: "(.*)", new_string: "$1" },
        code: "MATCH_COUNT_MISMATCH",
        has: ["Expected 1 occurrences but found 2"],
      },
      {
        call: "replace",
        args: { file_path: "/w/a", old_string: "(.*)", new_string: "$1", expected_replacements: 2 },
        data: { replacements: 2 },
        files: { a: "f$1\nf$1\n" },
      },
      {
        call: "replace",
        args: { file_path: "/w/a", old_string: "not there at all", new_string: "q" },
        code: "MATCH_NOT_FOUND",
        has: ["could not find the string to replace"],
      },
      {
        call: "replace",
        args: { file_path: "/w/a", old_string: "f", new_string: "f" },
        code: "NO_CHANGE",
        has: ["different"],
      },
    ],
  },
  {
    title: "an empty old_string makes a new file, and never touches an old one",
    seed: { a: "1" },
    steps: [
      {
        call: "replace",
        args: { file_path: "/w/n", old_string: "", new_string: "x" },
        has: ["Created new file: /w/n"],
        files: { n: "x" },
      },
      {
        call: "replace",
        args: { file_path: "/w/a", old_string: "", new_string: "x" },
        code: "ALREADY_EXISTS",
        has: ["Attempted to create a file that already exists"],
        files: { a: "1" },
      },
      {
        call: "replace",
        args: { file_path: "/w/zz", old_string: "q", new_string: "x" },
        code: "NOT_FOUND",
        has: ["empty old_string"],
        files: { zz: null },
      },
    ],
  },
  {
    title: "search groups hits by file and does not mind letter case",
    seed: { "a.ts": "Foo\nbar\nfoo\n", "b.md": "FOO\n" },
    steps: [
      {
        call: "search_file_content",
        args: { pattern: "fo+" },
        has: [
          'Found 3 matches for pattern "fo+"',
          "---\nFile: a.ts\nL1: Foo\nL3: foo\n---\nFile: b.md\nL1: FOO\n---",
        ],
      },
      {
        call: "search_file_content",
        args: { pattern: "foo", include: "*.md" },
        has: ["Found 1 match ", "File: b.md"],
        lacks: ["a.ts"],
      },
      { call: "search_file_content", args: { pattern: "nope", path: "/w" }, has: ["No matches"] },
      { call: "search_file_content", args: { pattern: "[" }, code: "INVALID_REGEX" },
    ],
  },
  {
    title: "glob sorts what is recent first, minds ignore files, and no letter case",
    seed: { ".gitignore": "skip.txt\n", "b.TXT": "", "skip.txt": "" },
    steps: [
      { call: "glob", args: { pattern: "*.txt" }, text: "b.TXT", data: { ignored: 1 } },
      { call: "glob", args: { pattern: "*.txt", case_sensitive: true }, has: ["No files match"] },
      { call: "glob", args: { pattern: "*.txt", respect_git_ignore: false }, data: { total: 2 } },
      { call: "glob", args: { pattern: "*.txt", path: "/w" }, text: "b.TXT" },
    ],
  },
  {
    title: "read_many_files separates contents and leaves out the usual",
    seed: { "a.txt": "1\n", "node_modules/x.txt": "2\n", "b.txt": "3\n" },
    steps: [
      {
        call: "read_many_files",
        args: { paths: ["**/*.txt"] },
        has: ["--- a.txt ---\n\n1\n", "--- b.txt ---"],
        lacks: ["node_modules"],
      },
      {
        call: "read_many_files",
        args: { paths: ["**/*.txt"], exclude: ["b.*"], useDefaultExcludes: false },
        has: ["node_modules/x.txt"],
        lacks: ["b.txt"],
      },
      { call: "read_many_files", args: { paths: ["*.rb"], recursive: true }, has: ["No files"] },
      {
        call: "read_many_files",
        args: { paths: ["a.txt"], include: ["b.*"], file_filtering_options: { respect_git_ignore: false } },
        data: { files: [{ path: "a.txt" }, { path: "b.txt" }] },
      },
    ],
  },
  {
    title: "list_directory leaves out what ignore names",
    seed: { "a.txt": "", "b.log": "", "d/x": "" },
    steps: [
      { call: "list_directory", args: { path: "/w", ignore: ["*.log"] }, text: "[DIR] d\n[FILE] a.txt" },
    ],
  },
];

describe("preset gemini", () => {
  test.each(CASES.map((one) => [one.title, one] as const))("%s", (_, one) => run("gemini", one));
});
