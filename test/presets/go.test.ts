/** The preset `go`: one case for each behaviour that its callers rely on. */
import { describe, test } from "vitest";
import { type Case, run } from "./harness.ts";

const CASES: readonly Case[] = [
  {
    title: "fs_read is raw, up to 10 MB",
    seed: { a: "x\ny\n", big: "x".repeat(10 * 1024 * 1024 + 1), e: "" },
    steps: [
      { call: "fs_read", args: { path: "a" }, text: "x\ny\n" },
      {
        call: "fs_read",
        args: { path: "big" },
        code: "TOO_LARGE",
        has: ["file exceeds maximum read size of 10 MB", "10485761", "10485760"],
      },
      { call: "fs_read", args: { file_path: "a" }, text: "x\ny\n" },
    ],
  },
  {
    title: "fs_write makes parents and says ok",
    seed: { a: "1" },
    steps: [
      { call: "fs_write", args: { path: "n/b", content: "2" }, text: "ok", files: { "n/b": "2" } },
      { call: "fs_write", args: { path: "a", content: "2" }, text: "ok", files: { a: "2" } },
    ],
  },
  {
    title: "fs_edit wants exactly one occurrence; without new_text it deletes",
    seed: { a: "x\ny\nx\n" },
    steps: [
      {
        call: "fs_edit",
        args: { path: "a", old_text: "x", new_text: "z" },
        code: "MATCH_NOT_UNIQUE",
        has: ["old_text appears 2 times, must be unique"],
        lacks: ["replace_all"],
      },
      {
        call: "fs_edit",
        args: { path: "a", old_text: "no such text", new_text: "z" },
        code: "MATCH_NOT_FOUND",
        has: ["old_text not found in file"],
      },
      { call: "fs_edit", args: { path: "a", old_text: "y\n" }, text: "ok", files: { a: "x\nx\n" } },
    ],
  },
  {
    title: "fs_list is JSON of name, type and size",
    seed: { a: "123", "d/e": "" },
    steps: [
      {
        call: "fs_list",
        args: { path: "." },
        json: [
          { name: "d", type: "dir", size: 0 },
          { name: "a", type: "file", size: 3 },
        ],
      },
      { call: "fs_mkdir", args: { path: "m" }, text: "ok" },
      { call: "fs_list", args: { path: "m" }, json: [] },
    ],
  },
  {
    title: "fs_delete needs recursive for what is not empty",
    seed: { "d/e": "", a: "" },
    steps: [
      { call: "fs_delete", args: { path: "d" }, code: "NOT_EMPTY", has: ["recursive"], files: { "d/e": "" } },
      { call: "fs_delete", args: { path: "d", recursive: true }, text: "ok", files: { "d/e": null } },
      { call: "fs_delete", args: { path: "a" }, text: "ok", files: { a: null } },
      { call: "fs_delete", args: { path: "a" }, code: "NOT_FOUND" },
    ],
  },
  {
    title: "fs_move and fs_copy take source and destination",
    seed: { a: "1", "d/e": "2" },
    steps: [
      { call: "fs_copy", args: { source: "d", destination: "c" }, text: "ok", files: { "c/e": "2" } },
      { call: "fs_move", args: { source: "a", destination: "b" }, text: "ok", files: { a: null, b: "1" } },
      {
        call: "fs_move",
        args: { source: "b", destination: "c/e" },
        code: "ALREADY_EXISTS",
        lacks: ["overwrite"],
      },
    ],
  },
  {
    title: "fs_stat is JSON of five keys",
    seed: { "d/a": "12" },
    steps: [
      {
        call: "fs_stat",
        args: { path: "d/a" },
        has: ['"name":"a"', '"size":2', '"mode":"-rw-r--r--"', '"is_dir":false'],
      },
      { call: "fs_stat", args: { path: "d" }, has: ['"mode":"drwxr-xr-x"', '"is_dir":true'] },
    ],
  },
  {
    title: "fs_diff compares two files",
    seed: { a: "1\n", b: "1\n", c: "2\n" },
    steps: [
      {
        call: "fs_diff",
        args: { file_a: "a", file_b: "b" },
        text: "files are identical",
        data: { identical: true, diff: "" },
      },
      { call: "fs_diff", args: { file_a: "a", file_b: "c" }, text: "--- a/a\n+++ b/c\n@@ -1 +1 @@\n-1\n+2" },
      { call: "fs_diff", args: { a: "a", b: "c" }, has: ["+2"] },
      { call: "fs_diff", args: { file_a: "a" }, code: "INVALID_ARGUMENT", has: ["file_b"] },
    ],
  },
  {
    title: "fs_patch applies hunks in order, all or none, and names the one that fails",
    seed: { a: "x\ny\nx\n" },
    steps: [
      {
        call: "fs_patch",
        args: {
          path: "a",
          hunks: [
            { old_text: "y", new_text: "w" },
            { old_text: "nowhere", new_text: "" },
          ],
        },
        code: "MATCH_NOT_FOUND",
        has: ["hunk 1"],
        files: { a: "x\ny\nx\n" },
      },
      {
        call: "fs_patch",
        args: { path: "a", hunks: [{ old_text: "x", new_text: "w" }] },
        code: "MATCH_NOT_UNIQUE",
        has: ["hunk 0", "2 times"],
      },
      {
        call: "fs_patch",
        args: { path: "a", hunks: [{ old_text: "y\n" }, { old_text: "x\nx", new_text: "q" }] },
        text: "ok",
        files: { a: "q\n" },
      },
      { call: "fs_patch", args: { path: "a", hunks: [] }, code: "INVALID_ARGUMENT", has: ["hunks"] },
      {
        call: "fs_patch",
        args: { path: "a", hunks: [{ new_text: "x" }] },
        code: "INVALID_ARGUMENT",
        has: ["hunks[0].old_text"],
      },
    ],
  },
  {
    title: "fs_mkdir makes parents, and an existing one is fine",
    seed: { f: "" },
    steps: [
      { call: "fs_mkdir", args: { path: "m/n" }, text: "ok" },
      { call: "fs_mkdir", args: { path: "m/n" }, text: "ok" },
      { call: "fs_mkdir", args: { path: "f" }, code: "ALREADY_EXISTS" },
    ],
  },
];

describe("preset go", () => {
  test.each(CASES.map((one) => [one.title, one] as const))("%s", (_, one) => run("go", one));
});
