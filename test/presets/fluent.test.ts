/** The preset `fluent`: one case for each behaviour that its callers rely on. */
import { describe, test } from "vitest";
import { type Case, run } from "./harness.ts";

const LINES = (count: number): string => Array.from({ length: count }, (_, at) => `l${at + 1}\n`).join("");

const CASES: readonly Case[] = [
  {
    title: "read numbers plainly, offset counts from 0, nothing is added at the end",
    seed: { a: LINES(5), e: "" },
    steps: [
      { call: "read_file", args: { path: "a" }, text: "1\tl1\n2\tl2\n3\tl3\n4\tl4\n5\tl5" },
      {
        call: "read_file",
        args: { path: "a", offset: 1, limit: 2 },
        text: "2\tl2\n3\tl3",
        data: { truncated: true },
      },
      { call: "read_file", args: { path: "a", offset: 0, limit: 1 }, text: "1\tl1" },
      { call: "read_file", args: { path: "a", offset: 7 }, has: ["past the end", "offset 7"] },
      { call: "read_file", args: { path: "e" }, text: "[empty file: e]" },
      { call: "read_file", args: { path: "a", offset: -1 }, code: "INVALID_ARGUMENT", has: ["offset"] },
      { call: "read_file", args: { path: "a", limit: 0 }, code: "INVALID_ARGUMENT", has: ["limit"] },
      {
        call: "read_file",
        args: { path: "a", start_line: 2 },
        code: "INVALID_ARGUMENT",
        has: ["start_line"],
      },
    ],
  },
  {
    title: "a page has 2000 lines by default",
    seed: { a: LINES(2500) },
    steps: [
      {
        call: "read_file",
        args: { path: "a" },
        has: ["2000\tl2000"],
        lacks: ["2001\t"],
        data: { lines_read: 2000, total_lines: 2500 },
      },
    ],
  },
  {
    title: "edit replaces what occurs exactly once, and says so in fixed words",
    seed: { a: "x\ny\nx\n", b: "  x\n" },
    steps: [
      {
        call: "edit_file",
        args: { path: "a", old_string: "z", new_string: "q" },
        code: "MATCH_NOT_FOUND",
        text: "Error: old_string not found in a",
      },
      {
        call: "edit_file",
        args: { path: "a", old_string: "x", new_string: "q" },
        code: "MATCH_NOT_UNIQUE",
        text: "Error: old_string appears 2 times in a. Must be unique.",
        files: { a: "x\ny\nx\n" },
      },
      {
        call: "edit_file",
        args: { path: "a", old_string: "y", new_string: "Y" },
        text: "Successfully edited a",
        files: { a: "x\nY\nx\n" },
      },
      {
        call: "edit_file",
        args: { path: "a", old_string: "Y", new_string: "Y" },
        code: "NO_CHANGE",
        has: ["different", "old_string"],
      },
      {
        call: "edit_file",
        args: { path: "a", old_string: "", new_string: "Y" },
        code: "INVALID_ARGUMENT",
        has: ["old_string"],
      },
      // Exact: white space is not forgiven.
      {
        call: "edit_file",
        args: { path: "b", old_string: "\tx", new_string: "y" },
        code: "MATCH_NOT_FOUND",
        files: { b: "  x\n" },
      },
      { call: "edit_file", args: { path: "a", old_string: "Y\n", new_string: "" }, files: { a: "x\nx\n" } },
    ],
  },
  {
    title: "list_dir marks with d and f, directories first, and says when there is nothing",
    seed: { "b/x": "", a: "", "c/y": "" },
    steps: [
      { call: "list_dir", text: "d b\nd c\nf a" },
      { call: "list_dir", args: { path: "b" }, text: "f x" },
      { call: "list_dir", args: { path: "a" }, code: "NOT_DIRECTORY", has: ["read_file"] },
    ],
  },
  {
    title: "list_dir shows 200 entries and says that there are more",
    seed: Object.fromEntries(Array.from({ length: 205 }, (_, at) => [`f${String(at).padStart(3, "0")}`, ""])),
    steps: [
      {
        call: "list_dir",
        has: ["f f199\n[200 of 205 entries"],
        lacks: ["f f200", "cursor"],
        data: { total: 205 },
      },
    ],
  },
  {
    title: "glob_search gives paths, at most 100, or says that there are none",
    seed: Object.fromEntries(
      Array.from({ length: 101 }, (_, at) => [`d/f${String(at).padStart(3, "0")}.ts`, ""]),
    ),
    steps: [
      { call: "glob_search", args: { pattern: "*.js" }, text: "No files found matching the pattern." },
      {
        call: "glob_search",
        args: { pattern: "d/f00?.ts" },
        data: { total: 10 },
        has: ["d/f000.ts\nd/f001.ts"],
      },
      {
        call: "glob_search",
        args: { pattern: "**/*.ts" },
        has: ["d/f099.ts\n[100 of 101"],
        lacks: ["cursor"],
      },
    ],
  },
  {
    title: "grep_search gives path:line: text, at most 50, or says that there is nothing",
    seed: { "a.txt": "hit\n".repeat(60), "b.md": "Hit\n" },
    steps: [
      { call: "grep_search", args: { pattern: "nope" }, text: "No matches found." },
      { call: "grep_search", args: { pattern: "Hit" }, text: "b.md:1: Hit" },
      { call: "grep_search", args: { pattern: "(?i)hit", glob: "*.md" }, text: "b.md:1: Hit" },
      {
        call: "grep_search",
        args: { pattern: "hit" },
        has: ["a.txt:50: hit\n[", "more"],
        lacks: ["a.txt:51:"],
      },
      { call: "grep_search", args: { pattern: "hit", max_results: 1 }, has: ["a.txt:1: hit\n["] },
      { call: "grep_search", args: { pattern: "(" }, code: "INVALID_REGEX", has: ["Invalid regex: "] },
    ],
  },
  {
    title: "outside in fixed words, as typed, for every tool that takes a path",
    steps: [
      {
        call: "read_file",
        args: { path: "/etc/passwd" },
        code: "OUTSIDE_ALLOWED",
        text: "Error: path '/etc/passwd' is outside the allowed workspace.",
      },
      {
        call: "write_file",
        args: { path: "../n", content: "" },
        code: "OUTSIDE_ALLOWED",
        text: "Error: path '../n' is outside the allowed workspace.",
      },
      {
        call: "edit_file",
        args: { path: "/o/n", old_string: "a", new_string: "b" },
        code: "OUTSIDE_ALLOWED",
        text: "Error: path '/o/n' is outside the allowed workspace.",
      },
      {
        call: "list_dir",
        args: { path: "/" },
        code: "OUTSIDE_ALLOWED",
        text: "Error: path '/' is outside the allowed workspace.",
      },
    ],
  },
  {
    title: "write overwrites and says only that",
    seed: { a: "1" },
    steps: [
      {
        call: "write_file",
        args: { path: "a", content: "2" },
        text: "Successfully wrote a",
        data: { operation: "update" },
        files: { a: "2" },
      },
      {
        call: "write_file",
        args: { path: "n/b", content: "2" },
        text: "Successfully wrote n/b",
        files: { "n/b": "2" },
      },
    ],
  },
  {
    title: "an answer is at most 100,000 bytes",
    seed: { a: `${"x".repeat(99)}\n`.repeat(1900) },
    steps: [
      {
        call: "grep_search",
        args: { pattern: "x", max_results: 100_000 },
        data: { truncated: true, total_matches: 1900 },
      },
    ],
  },
  {
    title: "a read-only policy refuses what it does not offer",
    seed: { a: "1" },
    options: { access: { read: ["/w"], write: ["/w"], readOnly: true } },
    steps: [
      { call: "read_file", args: { path: "a" }, text: "1\t1" },
      { call: "write_file", args: { path: "a", content: "2" }, code: "READ_ONLY", files: { a: "1" } },
    ],
  },
];

describe("preset fluent", () => {
  test.each(CASES.map((one) => [one.title, one] as const))("%s", (_, one) => run("fluent", one));
});
