/** The preset `amplifier`: one case for each behaviour that its callers rely on. */
import { describe, test } from "vitest";
import { type Case, run } from "./harness.ts";

const LINES = (count: number): string => Array.from({ length: count }, (_, at) => `l${at + 1}\n`).join("");

const CASES: readonly Case[] = [
  {
    title: "read numbers as cat -n does, from an offset counted from 1",
    seed: { a: LINES(3) },
    steps: [
      {
        call: "read_file",
        args: { file_path: "a" },
        text: "     1\tl1\n     2\tl2\n     3\tl3",
        data: { total_lines: 3, lines_read: 3 },
      },
      {
        call: "read_file",
        args: { file_path: "a", offset: 2, limit: 1 },
        text: "     2\tl2\n[lines 2-2 of 3; continue with offset=3]",
      },
      { call: "read_file", args: { file_path: "a", offset: 0 }, code: "INVALID_ARGUMENT", has: ["offset"] },
    ],
  },
  {
    title: "lines are cut at 2000 characters",
    seed: { a: `${"é".repeat(2001)}\n` },
    steps: [
      { call: "read_file", args: { file_path: "a" }, text: `     1\t${"é".repeat(2000)}... [truncated]` },
    ],
  },
  {
    title: "an empty file is said to be empty",
    seed: { a: "" },
    steps: [{ call: "read_file", args: { file_path: "a" }, has: ["empty"] }],
  },
  {
    title: "reads everywhere, writes below the working directory",
    seed: { "/o/s": "there\n" },
    steps: [
      { call: "read_file", args: { file_path: "/o/s" }, text: "     1\tthere" },
      {
        call: "write_file",
        args: { file_path: "/o/n", content: "" },
        code: "OUTSIDE_ALLOWED",
        has: ["Access denied: /o/n is not within allowed write paths", "write"],
        files: { "/o/n": null },
      },
      {
        call: "edit_file",
        args: { file_path: "/o/s", old_string: "there", new_string: "x" },
        code: "OUTSIDE_ALLOWED",
        files: { "/o/s": "there\n" },
      },
      { call: "write_file", args: { file_path: "d/n", content: "1" }, files: { "d/n": "1" } },
    ],
  },
  {
    title: "what is denied is out of bounds all the same",
    seed: { "/o/s": "x", k: "x" },
    options: { access: { deny: ["k"] } },
    steps: [
      {
        call: "write_file",
        args: { file_path: "k", content: "y" },
        code: "OUTSIDE_ALLOWED",
        files: { k: "x" },
      },
      { call: "read_file", args: { file_path: "/o/s" } },
    ],
  },
  {
    title: "write overwrites, makes parents and reports bytes",
    seed: { a: "1" },
    steps: [
      {
        call: "write_file",
        args: { file_path: "a", content: "héllo" },
        has: ["6 bytes"],
        data: { bytes_written: 6 },
        files: { a: "héllo" },
      },
      { call: "write_file", args: { file_path: "n/m/b", content: "" }, files: { "n/m/b": "" } },
    ],
  },
  {
    title: "edit wants one occurrence, or replace_all",
    seed: { a: "x\ny\nx\n" },
    steps: [
      {
        call: "edit_file",
        args: { file_path: "a", old_string: "x", new_string: "z" },
        code: "MATCH_NOT_UNIQUE",
        has: ["2", "replace_all"],
        files: { a: "x\ny\nx\n" },
      },
      {
        call: "edit_file",
        args: { file_path: "a", old_string: "nothing like it", new_string: "z" },
        code: "MATCH_NOT_FOUND",
        has: ["old_string"],
      },
      {
        call: "edit_file",
        args: { file_path: "a", old_string: "x", new_string: "z", replace_all: true },
        has: ["2 replacement(s)", "6 bytes"],
        data: { replacements: 2, bytes_written: 6 },
        files: { a: "z\ny\nz\n" },
      },
    ],
  },
  {
    title: "edit must change something",
    seed: { a: "x\n" },
    steps: [
      {
        call: "edit_file",
        args: { file_path: "a", old_string: "x", new_string: "x" },
        code: "NO_CHANGE",
        has: ["old_string and new_string must be different"],
      },
    ],
  },
  {
    title: "a pasted line number is recognised",
    seed: { a: "one\n" },
    steps: [
      {
        call: "edit_file",
        args: { file_path: "a", old_string: "     1\tone", new_string: "two" },
        code: "MATCH_NOT_FOUND",
        has: ["line number"],
      },
    ],
  },
  {
    title: "a directory is listed",
    seed: { "d/a": "", "d/e/f": "" },
    steps: [
      { call: "read_file", args: { file_path: "d" }, text: "  DIR  e\n  FILE a" },
      { call: "read_file", args: { file_path: "gone" }, code: "NOT_FOUND", has: ["Path not found: gone"] },
    ],
  },
];

describe("preset amplifier", () => {
  test.each(CASES.map((one) => [one.title, one] as const))("%s", (_, one) => run("amplifier", one));
});
