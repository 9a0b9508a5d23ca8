/** The presets of today's model families and of the Model Context Protocol. */
import { describe, test } from "vitest";
import { type Case, run } from "./harness.ts";

/** A case, with the tools that it calls. */
interface ToolCase extends Case {
  readonly tools: string;
}

const EDITOR = "str_replace_based_edit_tool";

const MCP: readonly ToolCase[] = [
  {
    tools: "read",
    title: "whole, head or tail, raw",
    seed: { a: "1\n2\n3\n", e: "" },
    steps: [
      { call: "read_text_file", args: { path: "/w/a" }, text: "1\n2\n3\n" },
      { call: "read_file", args: { path: "a" }, text: "1\n2\n3\n" },
      { call: "read_text_file", args: { path: "a", head: 2 }, text: "1\n2" },
      { call: "read_text_file", args: { path: "a", tail: 1 }, text: "3" },
      { call: "read_text_file", args: { path: "a", head: 99 }, text: "1\n2\n3" },
      { call: "read_text_file", args: { path: "e" }, text: "" },
      {
        call: "read_text_file",
        args: { path: "a", head: 1, tail: 1 },
        code: "INVALID_ARGUMENT",
        has: ["both head and tail"],
      },
      { call: "read_text_file", args: { path: "a", head: 0 }, code: "INVALID_ARGUMENT", has: ["head"] },
      { call: "read_text_file", args: { path: "a", head: 1.5 }, code: "INVALID_ARGUMENT" },
      {
        call: "read_text_file",
        args: { path: "/etc/passwd" },
        code: "OUTSIDE_ALLOWED",
        has: ["Access denied - path outside allowed directories: /etc/passwd"],
      },
    ],
  },
  {
    tools: "read_multiple_files",
    title: "in the order asked for, failures in their place",
    seed: { a: "1\n", "d/b": "2" },
    steps: [
      {
        call: "read_multiple_files",
        args: { paths: ["d/b", "gone", "/w/a", "/o/x", "d"] },
        text: "d/b:\n2\n\n---\ngone: Error - does not exist\n---\n/w/a:\n1\n\n\n---\n/o/x: Error - outside the allowed roots\n---\nd: Error - is a directory",
      },
    ],
  },
  {
    tools: "edit_file",
    title: "a fenced diff; what is ambiguous is refused",
    seed: { a: "x\ny\nx\n", f: "```\n" },
    steps: [
      {
        call: "edit_file",
        args: { path: "a", edits: [{ oldText: "y", newText: "z" }], dryRun: true },
        text: "```diff\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n x\n-y\n+z\n x\n```\n",
        files: { a: "x\ny\nx\n" },
      },
      {
        call: "edit_file",
        args: { path: "a", edits: [{ oldText: "x", newText: "z" }] },
        code: "MATCH_NOT_UNIQUE",
        has: ["2"],
        files: { a: "x\ny\nx\n" },
      },
      {
        call: "edit_file",
        args: { path: "a", edits: [{ oldText: "never there", newText: "z" }] },
        code: "MATCH_NOT_FOUND",
        has: ["Could not find exact match for edit:\nnever there"],
      },
      {
        call: "edit_file",
        args: { path: "f", edits: [{ oldText: "```", newText: "~" }] },
        has: ["````diff\n"],
      },
    ],
  },
  {
    tools: "write_file create_directory move_file",
    title: "say what they did, and a move replaces nothing",
    seed: { a: "1" },
    steps: [
      { call: "write_file", args: { path: "n/b", content: "2" }, text: "Successfully wrote to n/b" },
      { call: "create_directory", args: { path: "q/r" }, text: "Successfully created directory q/r" },
      {
        call: "move_file",
        args: { source: "n/b", destination: "c" },
        text: "Successfully moved n/b to c",
        files: { c: "2", "n/b": null },
      },
      {
        call: "move_file",
        args: { source: "a", destination: "c" },
        code: "ALREADY_EXISTS",
        files: { c: "2" },
      },
    ],
  },
  {
    tools: "list_directory directory_tree",
    title: "by name; sizes in a column; nested JSON",
    seed: { "b/x": "12345", a: "x".repeat(2048), "b/c/y": "" },
    steps: [
      { call: "list_directory", args: { path: "." }, text: "[FILE] a\n[DIR] b" },
      {
        call: "list_directory_with_sizes",
        args: { path: "b" },
        text: `[DIR] ${"c".padEnd(30)} \n[FILE] ${"x".padEnd(30)} ${"5 B".padStart(10)}\n\nTotal: 1 files, 1 directories\nCombined size: 5 B`,
      },
      {
        call: "list_directory_with_sizes",
        args: { path: ".", sortBy: "size" },
        has: [`[FILE] ${"a".padEnd(30)} ${"2.00 KB".padStart(10)}`],
      },
      {
        call: "directory_tree",
        args: { path: "." },
        json: [
          { name: "a", type: "file" },
          {
            name: "b",
            type: "directory",
            children: [
              { name: "c", type: "directory", children: [{ name: "y", type: "file" }] },
              { name: "x", type: "file" },
            ],
          },
        ],
      },
      {
        call: "directory_tree",
        args: { path: "b", excludePatterns: ["c"] },
        json: [{ name: "x", type: "file" }],
      },
    ],
  },
  {
    tools: "search_files",
    title: "names below the path, absolutely where asked so",
    seed: { "a.ts": "", "s/b.ts": "", "v/c.ts": "", ".gitignore": "v\n" },
    steps: [
      { call: "search_files", args: { path: ".", pattern: "*.ts" }, text: "a.ts" },
      {
        call: "search_files",
        args: { path: "/w", pattern: "**/*.ts" },
        text: "/w/a.ts\n/w/s/b.ts\n/w/v/c.ts",
      },
      {
        call: "search_files",
        args: { path: ".", pattern: "**/*.ts", excludePatterns: ["s"] },
        text: "a.ts\nv/c.ts",
      },
      { call: "search_files", args: { path: ".", pattern: "*.rb" }, text: "No matches found" },
    ],
  },
  {
    tools: "get_file_info list_allowed_directories",
    title: "facts under the server's keys",
    seed: { a: "123" },
    steps: [
      {
        call: "get_file_info",
        args: { path: "a" },
        has: ["size: 3\ncreated: ", "\nisDirectory: false\nisFile: true\npermissions: 644"],
      },
      { call: "list_allowed_directories", text: "Allowed directories:\n/w" },
    ],
  },
];

const GEMINI_CLI: readonly ToolCase[] = [
  {
    tools: "read_file",
    title: "from line to line",
    seed: { a: "1\n2\n3\n4\n" },
    steps: [
      { call: "read_file", args: { file_path: "a" }, text: "1\n2\n3\n4\n" },
      {
        call: "read_file",
        args: { file_path: "a", start_line: 2, end_line: 3 },
        text: "[File content truncated: showing lines 2-3 of 4 total lines. Use start_line/end_line parameters to view more.]\n2\n3\n",
      },
      {
        call: "read_file",
        args: { file_path: "a", start_line: 3, end_line: 2 },
        code: "INVALID_ARGUMENT",
        has: ["end_line"],
      },
    ],
  },
  {
    tools: "replace",
    title: "one place, or all with allow_multiple",
    seed: { a: "x\ny\nx\n" },
    steps: [
      {
        call: "replace",
        args: { file_path: "a", old_string: "x", new_string: "z", instruction: "why" },
        code: "MATCH_NOT_UNIQUE",
        has: ["found 2", "allow_multiple"],
        lacks: ["replace_all"],
      },
      {
        call: "replace",
        args: { file_path: "a", old_string: "x", new_string: "z", allow_multiple: true },
        files: { a: "z\ny\nz\n" },
      },
      { call: "replace", args: { file_path: "n", old_string: "", new_string: "new" }, files: { n: "new" } },
      {
        call: "replace",
        args: { file_path: "a", old_string: "", new_string: "new" },
        code: "ALREADY_EXISTS",
        files: { a: "z\ny\nz\n" },
      },
    ],
  },
  {
    tools: "grep_search",
    title: "letter case aside, with context, exclusions and literal patterns",
    seed: { "a.py": "def f():\n  Foo(1)\n", "b.md": "foo\n", ".gitignore": "c.md\n", "c.md": "foo\n" },
    steps: [
      {
        call: "grep_search",
        args: { pattern: "foo|def", context: 1, dir_path: "a.py" },
        has: ["L1: def f():\nL2:   Foo(1)\n---"],
        lacks: ["L1-"],
      },
      {
        call: "grep_search",
        args: { pattern: "foo|def", exclude_pattern: "^def" },
        has: ["Found 2 matches"],
        lacks: ["def f"],
      },
      {
        call: "grep_search",
        args: { pattern: "foo(", fixed_strings: true },
        has: ["L2:   Foo(1)"],
        lacks: ["b.md"],
      },
      { call: "grep_search", args: { pattern: "foo", case_sensitive: true, names_only: true }, text: "b.md" },
      {
        call: "grep_search",
        args: { pattern: "foo", no_ignore: true, names_only: true },
        text: "a.py\nb.md\nc.md",
      },
      { call: "grep_search", args: { pattern: "foo", exclude_pattern: "(" }, code: "INVALID_REGEX" },
    ],
  },
  {
    tools: "glob list_directory read_many_files",
    title: "under dir_path and include",
    seed: { "d/a.ts": "1\n", "b.log": "" },
    steps: [
      { call: "glob", args: { pattern: "*.TS" }, text: "d/a.ts" },
      { call: "list_directory", args: { dir_path: ".", ignore: ["*.log"] }, text: "[DIR] d" },
      { call: "read_many_files", args: { include: ["*.ts"] }, has: ["--- d/a.ts ---\n\n1"] },
    ],
  },
];

const CLAUDE: readonly ToolCase[] = [
  {
    tools: "Read",
    title: "numbers and arrows, from an offset counted from 1",
    seed: { a: "x\ny\n" },
    steps: [
      { call: "Read", args: { file_path: "a" }, text: "1\tx\n2\ty" },
      {
        call: "Read",
        args: { file_path: "a", offset: 1, limit: 1 },
        text: "1\tx\n[lines 1-1 of 2; continue with offset=2]",
      },
      { call: "Read", args: { file_path: "gone" }, code: "NOT_FOUND", has: ["File does not exist."] },
    ],
  },
  {
    tools: "Write Edit MultiEdit",
    title: "exact, one place or all, all edits or none",
    seed: { a: "x\ny\nx\n" },
    steps: [
      { call: "Write", args: { file_path: "n", content: "1" }, text: "File created successfully at: n" },
      { call: "Write", args: { file_path: "n", content: "2" }, text: "The file n has been updated." },
      {
        call: "Edit",
        args: { file_path: "a", old_string: "x", new_string: "z" },
        code: "MATCH_NOT_UNIQUE",
        has: ["Found 2 matches", "replace_all"],
      },
      { call: "Edit", args: { file_path: "a", old_string: "y", new_string: "y" }, code: "NO_CHANGE" },
      {
        call: "Edit",
        args: { file_path: "a", old_string: "nowhere at all", new_string: "y" },
        code: "MATCH_NOT_FOUND",
        has: ["String to replace not found in file."],
      },
      {
        call: "MultiEdit",
        args: {
          file_path: "a",
          edits: [
            { old_string: "y", new_string: "w" },
            { old_string: "nowhere at all", new_string: "w" },
          ],
        },
        code: "MATCH_NOT_FOUND",
        has: ["edits[1]"],
        files: { a: "x\ny\nx\n" },
      },
      {
        call: "MultiEdit",
        args: {
          file_path: "a",
          edits: [
            { old_string: "y", new_string: "w" },
            { old_string: "x", new_string: "v", replace_all: true },
          ],
        },
        has: ["Applied 2 edits"],
        files: { a: "v\nw\nv\n" },
      },
    ],
  },
  {
    tools: "Glob Grep",
    title: "paths first, lines on request",
    seed: { "a.ts": "Foo\nbar\nfoo\n", "b.md": "foo\n" },
    steps: [
      { call: "Glob", args: { pattern: "*.rb" }, text: "No files found" },
      { call: "Glob", args: { pattern: "*.ts" }, text: "a.ts" },
      { call: "Grep", args: { pattern: "foo" }, text: "Found 2 files\na.ts\nb.md" },
      {
        call: "Grep",
        args: { pattern: "foo", "-i": true, output_mode: "content", "-C": 1, glob: "*.ts" },
        text: "a.ts:1:Foo\na.ts-2-bar\na.ts:3:foo",
      },
      { call: "Grep", args: { pattern: "foo", output_mode: "count" }, has: ["a.ts:1\nb.md:1"] },
      {
        call: "Grep",
        args: { pattern: "foo", output_mode: "content", head_limit: 1, offset: 1 },
        text: "b.md:1:foo",
      },
      {
        call: "Grep",
        args: { pattern: "foo", output_mode: "content", "-n": false, type: "md" },
        text: "b.md:foo",
      },
      { call: "Grep", args: { pattern: "zzz" }, text: "No files found" },
      { call: "Grep", args: { pattern: "zzz", output_mode: "content" }, text: "No matches found" },
    ],
  },
];

const ANTHROPIC: readonly ToolCase[] = [
  {
    tools: EDITOR,
    title: "view, create, str_replace, insert",
    seed: { a: "x\ny\nx\n", "d/e/f": "1", "d/.h": "", "node_modules/m": "" },
    steps: [
      {
        call: EDITOR,
        args: { command: "view", path: "a", view_range: [2, -1] },
        text: "     2\ty\n     3\tx",
      },
      {
        call: EDITOR,
        args: { command: "view", path: "a", view_range: [3, 2] },
        code: "INVALID_ARGUMENT",
        has: ["view_range"],
      },
      {
        call: EDITOR,
        args: { command: "view", path: "d" },
        has: ["2 levels deep in d", "\td/e/f"],
        lacks: [".h"],
      },
      { call: EDITOR, args: { command: "view", path: "." }, lacks: ["node_modules/m"] },
      {
        call: EDITOR,
        args: { command: "create", path: "n", file_text: "1\n" },
        text: "File created successfully at: n",
        files: { n: "1\n" },
      },
      {
        call: EDITOR,
        args: { command: "create", path: "n", file_text: "2\n" },
        code: "ALREADY_EXISTS",
        files: { n: "1\n" },
      },
      { call: EDITOR, args: { command: "create", path: "m" }, code: "INVALID_ARGUMENT", has: ["file_text"] },
      {
        call: EDITOR,
        args: { command: "str_replace", path: "a", old_str: "x", new_str: "z" },
        code: "MATCH_NOT_UNIQUE",
        has: ["lines 1, 3"],
      },
      {
        call: EDITOR,
        args: { command: "str_replace", path: "a", old_str: "nowhere at all", new_str: "" },
        code: "MATCH_NOT_FOUND",
        has: ["did not appear verbatim"],
        lacks: ["old_text"],
      },
      {
        call: EDITOR,
        args: { command: "str_replace", path: "a", old_str: "y\n", new_str: "" },
        has: ["has been edited"],
        files: { a: "x\nx\n" },
      },
      {
        call: EDITOR,
        args: { command: "insert", path: "a", insert_line: 1, insert_text: "new\n" },
        files: { a: "x\nnew\nx\n" },
      },
      {
        call: EDITOR,
        args: { command: "insert", path: "a", insert_line: 0, new_str: "top" },
        files: { a: "top\nx\nnew\nx\n" },
      },
      {
        call: EDITOR,
        args: { command: "insert", path: "a", insert_line: 4, insert_text: "end\n" },
        files: { a: "top\nx\nnew\nx\nend\n" },
      },
      {
        call: EDITOR,
        args: { command: "insert", path: "a", insert_line: 99, insert_text: "end\n" },
        code: "PATCH_FAILED",
      },
      { call: EDITOR, args: { command: "view" }, code: "INVALID_ARGUMENT", has: ["path"] },
    ],
  },
  {
    tools: "memory",
    title: "notes below /memories and nowhere else",
    seed: { "memories/a.md": "one\ntwo\n", secret: "s" },
    steps: [
      { call: "memory", args: { command: "view", path: "/memories" }, has: ["\t/memories/a.md"] },
      {
        call: "memory",
        args: { command: "view", path: "/memories/a.md" },
        text: "Here's the content of /memories/a.md with line numbers:\n     1\tone\n     2\ttwo",
      },
      {
        call: "memory",
        args: { command: "create", path: "/memories/d/b.md", file_text: "b" },
        files: { "memories/d/b.md": "b" },
      },
      {
        call: "memory",
        args: { command: "str_replace", path: "/memories/a.md", old_str: "one", new_str: "1" },
        files: { "memories/a.md": "1\ntwo\n" },
      },
      {
        call: "memory",
        args: { command: "insert", path: "/memories/a.md", insert_line: 2, insert_text: "three" },
        files: { "memories/a.md": "1\ntwo\nthree\n" },
      },
      {
        call: "memory",
        args: { command: "rename", old_path: "/memories/a.md", new_path: "/memories/c.md" },
        files: { "memories/c.md": "1\ntwo\nthree\n" },
      },
      {
        call: "memory",
        args: { command: "delete", path: "/memories/c.md" },
        text: "Successfully deleted /memories/c.md",
        files: { "memories/c.md": null },
      },
      {
        call: "memory",
        args: { command: "delete", path: "/memories" },
        code: "INVALID_ARGUMENT",
        files: { "memories/d/b.md": "b" },
      },
      { call: "memory", args: { command: "view", path: "/memories/../secret" }, code: "INVALID_ARGUMENT" },
      {
        call: "memory",
        args: { command: "view", path: "/secret" },
        code: "INVALID_ARGUMENT",
        has: ["/memories"],
      },
      {
        call: "memory",
        args: { command: "view", path: "/memories/gone" },
        code: "NOT_FOUND",
        has: ["The path /memories/gone does not exist"],
      },
    ],
  },
];

const CODEX: readonly ToolCase[] = [
  {
    tools: "apply_patch",
    title: "in the *** Begin Patch form, all or nothing",
    seed: { a: "x\ny\n", old: "1\n" },
    steps: [
      {
        call: "apply_patch",
        args: {
          input:
            "*** Begin Patch\n*** Add File: n\n+hi\n*** Update File: a\n@@\n x\n-y\n+z\n*** Delete File: old\n*** End Patch",
        },
        text: "Success. Updated the following files:\nA n\nM a\nD old",
        files: { n: "hi\n", a: "x\nz\n", old: null },
      },
      {
        call: "apply_patch",
        args: {
          input:
            "*** Begin Patch\n*** Add File: q\n+hi\n*** Update File: a\n@@\n-nothing like it\n+z\n*** End Patch",
        },
        code: "PATCH_FAILED",
        has: ["apply_patch verification failed", "a"],
        files: { q: null, a: "x\nz\n" },
      },
    ],
  },
  {
    tools: "read_file list_dir grep_files",
    title: "lines and entries counted from 1",
    seed: { a: "x\ny\n", "d/b": "x" },
    steps: [
      { call: "read_file", args: { file_path: "a", offset: 2 }, text: "2\ty" },
      { call: "list_dir", args: { dir_path: "." }, text: "Absolute path: /w\na\nd/\n  b" },
      { call: "list_dir", args: { dir_path: "/w/d", limit: 1 }, text: "Absolute path: /w/d\nb" },
      {
        call: "list_dir",
        args: { dir_path: ".", offset: 2, limit: 1 },
        text: "Absolute path: /w\nd/\nMore than 1 entry found",
      },
      { call: "grep_files", args: { pattern: "x" }, text: "a\nd/b" },
      { call: "grep_files", args: { pattern: "zzz" }, text: "No matches found." },
    ],
  },
];

describe.each([
  ["mcp", MCP],
  ["gemini-cli", GEMINI_CLI],
  ["claude", CLAUDE],
  ["anthropic", ANTHROPIC],
  ["codex", CODEX],
] as const)("preset %s", (preset, cases) => {
  test.each(cases)("$tools: $title", (kase) => run(preset, kase));
});
