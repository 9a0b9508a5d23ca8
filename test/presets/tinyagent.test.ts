/** The preset `tinyagent`: one case for each behaviour that its callers rely on. */
import { describe, test } from "vitest";
import { type Case, run } from "./harness.ts";

const LINES = (count: number): string => Array.from({ length: count }, (_, at) => `l${at + 1}\n`).join("");
const PNG = Uint8Array.from(
  atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="),
  (c) => c.charCodeAt(0),
);

const CASES: readonly Case[] = [
  {
    title: "read gives raw lines from a line counted from 1; without max_lines all",
    seed: { a: LINES(2100) },
    steps: [
      { call: "read_file", args: { file_path: "a" }, text: LINES(2100) },
      { call: "read_file", args: { file_path: "a", start_line: 2099, max_lines: 5 }, text: "l2099\nl2100\n" },
      {
        call: "read_file",
        args: { file_path: "a", start_line: 2, max_lines: 1 },
        has: ["l2\n[lines 2-2 of 2100; continue with start_line=3]"],
      },
      {
        call: "read_file",
        args: { file_path: "a", start_line: 0 },
        code: "INVALID_ARGUMENT",
        has: ["start_line"],
      },
      { call: "read_file", args: { file_path: "a", start_line: 5000 }, has: ["past the end"] },
    ],
  },
  {
    title: "what is no text is refused with what it is",
    seed: { "a.png": PNG, b: Uint8Array.from([0, 1, 2, 3, 0, 0]) },
    steps: [
      {
        call: "read_file",
        args: { file_path: "a.png" },
        code: "UNSUPPORTED_FORMAT",
        has: ["image/png", "a.png"],
      },
      { call: "read_file", args: { file_path: "b" }, code: "BINARY_FILE", has: ["binary"] },
    ],
  },
  {
    title: "paths are relative to the working directory or absolute",
    seed: { "d/a": "1" },
    steps: [
      { call: "read_file", args: { file_path: "d/a" }, text: "1" },
      { call: "read_file", args: { file_path: "/w/d/a" }, text: "1" },
      { call: "read_file", args: { path: "d/a" }, text: "1" },
    ],
  },
  {
    title: "write makes directories unless told not to, and reports lines and bytes",
    steps: [
      {
        call: "write_file",
        args: { file_path: "n/a", content: "é\n2\n", create_dirs: false },
        code: "NOT_FOUND",
        has: ["create_dirs", "n"],
        files: { "n/a": null },
      },
      {
        call: "write_file",
        args: { file_path: "n/a", content: "é\n2\n" },
        text: "Successfully wrote 2 lines (5 bytes) to n/a",
      },
      {
        call: "write_file",
        args: { file_path: "n/a", content: "x" },
        data: { operation: "update", bytes_written: 1 },
        files: { "n/a": "x" },
      },
      {
        call: "write_file",
        args: { file_path: "l", content: "é", encoding: "latin1" },
        data: { bytes_written: 1 },
      },
      {
        call: "write_file",
        args: { file_path: "l", content: "é", encoding: "klingon" },
        code: "INVALID_ARGUMENT",
        has: ["klingon"],
      },
    ],
  },
  {
    title: "update replaces exactly as many as expected, or nothing",
    seed: { a: "x\ny\nx\n" },
    steps: [
      {
        call: "update_file",
        args: { file_path: "a", old_content: "x", new_content: "z" },
        code: "MATCH_COUNT_MISMATCH",
        has: ["Expected 1", "2"],
        files: { a: "x\ny\nx\n" },
      },
      {
        call: "update_file",
        args: { file_path: "a", old_content: "x", new_content: "z", expected_matches: 3 },
        code: "MATCH_COUNT_MISMATCH",
        has: ["Expected 3", "2"],
      },
      {
        call: "update_file",
        args: { file_path: "a", old_content: "x", new_content: "z", expected_matches: "2" },
        data: { replacements: 2 },
        has: ["2 replacement"],
        files: { a: "z\ny\nz\n" },
      },
      {
        call: "update_file",
        args: { file_path: "a", old_content: "y", new_content: "q", expected_matches: 0 },
        code: "INVALID_ARGUMENT",
      },
    ],
  },
  {
    title: "old content that is not there exactly is not found",
    seed: { a: "    x = 1\n" },
    steps: [
      {
        call: "update_file",
        args: { file_path: "a", old_content: "\tx = 1", new_content: "y" },
        code: "MATCH_NOT_FOUND",
        has: ["Old content not found in file: a", "whitespace"],
        lacks: ["old_text"],
        files: { a: "    x = 1\n" },
      },
    ],
  },
  {
    title: "search is literal and does not mind letter case; lines have paths and numbers",
    seed: { "a.py": "Foo(1)\n", "b.js": "foo\n" },
    steps: [
      { call: "search_files", args: { pattern: "foo(" }, text: "a.py:1:Foo(1)" },
      { call: "search_files", args: { pattern: "FOO" }, data: { total_matches: 2 } },
      { call: "search_files", args: { pattern: "foo", case_sensitive: true }, text: "b.js:1:foo" },
      { call: "search_files", args: { pattern: "f.o", regex: true }, data: { total_matches: 2 } },
      { call: "search_files", args: { pattern: "(", regex: true }, code: "INVALID_REGEX", has: ["regex"] },
    ],
  },
  {
    title: "search is narrowed by directory and extensions, and finding nothing is a success",
    seed: { "s/a.py": "hit\n", "s/b.js": "hit\n", "c.py": "hit\n" },
    steps: [
      { call: "search_files", args: { pattern: "hit", file_types: [".py"] }, data: { total_matches: 2 } },
      {
        call: "search_files",
        args: { pattern: "hit", file_types: ["py", ".js"], directory: "s" },
        data: { total_matches: 2 },
      },
      {
        call: "search_files",
        args: { pattern: "nothing of the sort" },
        has: ["No matches"],
        data: { total_matches: 0 },
      },
    ],
  },
  {
    title: "refusals name the boundary",
    steps: [
      {
        call: "read_file",
        args: { file_path: "/o/x" },
        code: "OUTSIDE_ALLOWED",
        has: ["Access denied: Path outside readable boundaries: /o/x", "path '/o/x' is outside the allowed"],
      },
      {
        call: "write_file",
        args: { file_path: "/o/x", content: "" },
        code: "OUTSIDE_ALLOWED",
        has: ["Path outside writable boundaries: /o/x", "write"],
      },
      {
        call: "search_files",
        args: { pattern: "x", directory: "/o" },
        code: "OUTSIDE_ALLOWED",
        has: ["Directory outside readable boundaries: /o"],
      },
    ],
  },
];

describe("preset tinyagent", () => {
  test.each(CASES.map((one) => [one.title, one] as const))("%s", (_, one) => run("tinyagent", one));
});
