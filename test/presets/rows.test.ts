/** The presets of other systems, one case for each behaviour that their callers rely on. */
import { describe, test } from "vitest";
import { type Case, run } from "./harness.ts";

const LINES = (count: number): string => Array.from({ length: count }, (_, at) => `l${at + 1}\n`).join("");
const PNG = Uint8Array.from(
  atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="),
  (c) => c.charCodeAt(0),
);

const ADK: readonly Case[] = [
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

const FLUENT: readonly Case[] = [
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

const TINYAGENT: readonly Case[] = [
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

const GEMINI: readonly Case[] = [
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

const GO: readonly Case[] = [
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

const AMPLIFIER: readonly Case[] = [
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

describe.each([
  ["adk", ADK],
  ["fluent", FLUENT],
  ["tinyagent", TINYAGENT],
  ["gemini", GEMINI],
  ["go", GO],
  ["amplifier", AMPLIFIER],
] as const)("preset %s", (preset, cases) => {
  test.each(cases.map((one) => [one.title, one] as const))("%s", (_, one) => run(preset, one));
});
