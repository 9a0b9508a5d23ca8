/**
 * Calls as weak models make them: each answer must say what to send instead, or be right.
 *
 * The numbers are those of the list of 74 calls that the texts were measured with. Of each the words are fixed from which
 * the next call follows.
 */
import { expect, test } from "vitest";
import { place, type Seed } from "../tools/harness.ts";

const LINES = Array.from({ length: 40 }, (_, n) => `const line${n + 1} = ${n + 1};`).join("\n");
const SEED: Seed = {
  "README.md": "# Title\nIt calls foo(bar) once.\n// TODO: more\n",
  "src/a.ts": "export const a = 1;\nfunction compute() {\n  return a;\n}\n",
  "src/long.ts": `${LINES}\n`,
  "src/twice.ts": "one();\ntwo();\none();\n",
  "src/f.py": "print('a')\n",
  "full/x": "x\n",
  "app.config.json": '{\n  "port": 1\n}\n',
  "image.bin": Uint8Array.from([0, 1, 2, 3, 0, 255]),
  ".env": "SECRET=1\n",
};

interface Weak {
  readonly number: number;
  readonly tool: string;
  readonly args: unknown;
  /** True where the call must succeed. */
  readonly ok: boolean;
  readonly says: readonly RegExp[];
  readonly never?: RegExp;
}

const weak = (
  number: number,
  tool: string,
  args: unknown,
  ok: boolean,
  says: readonly RegExp[],
  never?: RegExp,
): Weak => ({ number, tool, args, ok, says, ...(never === undefined ? {} : { never }) });

const edit = (args: object): object => ({ path: "src/a.ts", ...args });

const CALLS: readonly Weak[] = [
  weak(1, "str_replace", {}, false, [/edit_file replaces text/]),
  weak(2, "search_files", {}, false, [/glob finds names, grep finds contents/]),
  weak(3, "Bash", { command: "ls" }, false, [/commands are not run here; grep, glob and list_directory/i]),
  weak(4, "create_file", { path: "n" }, false, [/write_file creates files/], /read_file/),
  weak(5, "read_file", { file_path: "src/a.ts" }, true, [/export const a/]),
  weak(6, "read_fil", { path: "src/a.ts" }, false, [/Did you mean 'read_file'/]),
  weak(7, "read_file", '{"path":"src/a.ts"}', true, [/export const a/]),
  weak(8, "read_file", { path: "src/long.ts", start_line: "3", max_lines: "2" }, true, [
    /line3 = 3[\s\S]*line4/,
  ]),
  weak(9, "list_directory", { path: ".", hidden: "true" }, true, [/src/]),
  weak(10, "list_directory", null, true, [/\[DIR\] src/]),
  weak(11, "read_file", { filename: "src/a.ts" }, false, [/did you mean 'path'/]),
  weak(12, "read_file", { path: "~/src/a.ts" }, false, [/'~' is not expanded.*did you mean 'src\/a\.ts'/i]),
  weak(13, "read_file", { path: "file:///base/ws/src/a.ts" }, false, [
    /is a URL; send the path: 'src\/a\.ts'/,
  ]),
  weak(14, "read_file", { path: "/src/a.ts" }, false, [
    /outside the allowed roots.*Did you mean 'src\/a\.ts'/,
  ]),
  weak(15, "read_file", { path: "src\\a.ts" }, false, [/separated by '\/': 'src\/a\.ts'/]),
  weak(16, "read_file", { path: "C:\\repo\\src\\a.ts" }, false, [/Did you mean 'src\/a\.ts'/]),
  weak(17, "read_file", { path: '"src/a.ts"' }, false, [/without the quotes: 'src\/a\.ts'/]),
  weak(18, "read_file", { path: "src/a.ts\n" }, false, [/Did you mean 'src\/a\.ts'/]),
  weak(19, "read_file", { path: "@src/a.ts" }, false, [/without the '@': 'src\/a\.ts'/]),
  weak(20, "read_file", { path: "src/a.ts:2:1" }, false, [/Did you mean 'src\/a\.ts'/]),
  weak(21, "read_file", { path: "scr/a.ts" }, false, [/Its directory 'scr' does not exist|Did you mean/]),
  weak(22, "read_file", { path: "src" }, false, [/is a directory; use list_directory/]),
  weak(23, "read_file", { path: "src/a.ts", start_line: 900 }, true, [
    /start_line 900 is past the end: 4 lines/,
  ]),
  weak(24, "read_file", { path: "src/a.ts", offset: 1, limit: 2 }, false, [
    /did you mean 'start_line'/,
    /'limit' \(did you mean 'max_lines'\?\)/,
  ]),
  weak(25, "read_file", { path: "image.bin" }, false, [/image\.bin.*binary/]),
  weak(26, "read_file", { path: ".env" }, false, [/\.env.*secrets/]),
  weak(27, "read_file", { path: "../out/x" }, false, [/outside the allowed/]),
  weak(28, "read_file", { path: "src/a.tx" }, false, [/Did you mean 'src\/a\.ts'/]),
  weak(29, "read_file", { path: "src/a.ts", explanation: "why" }, false, [
    /^Error: Invalid argument 'explanation': unknown argument of read_file; leave it out;[^\n]*$/,
  ]),
  weak(30, "edit_file", { file_path: "src/a.ts", old_text: "= 1;", new_text: "= 2;" }, true, [
    /\+export const a = 2;/,
  ]),
  weak(31, "edit_file", edit({ old_string: "= 1;", new_string: "= 2;" }), false, [
    /did you mean 'old_text'/,
    /'new_string' \(did you mean 'new_text'\?\)/,
  ]),
  weak(32, "edit_file", edit({ old_text: "     1\texport const a = 1;", new_text: "x" }), false, [
    /line number/,
    /Send this as old_text:\nexport const a = 1;/,
  ]),
  weak(33, "edit_file", edit({ old_text: "function compute() {\\n  return a;", new_text: "x" }), false, [
    /escaped/,
    /Send this as old_text:\nfunction compute\(\) \{/,
  ]),
  weak(
    34,
    "write_file",
    { path: "src/long.ts", content: "const line1 = 1;\n// ... rest of the file unchanged ...\n" },
    false,
    [/stands for lines 2-40/, /edit_file/, /whole_file: true/],
  ),
  weak(35, "write_file", { path: "src/long.ts", content: "const line1 = 1;\n" }, true, [
    /shrank from 40 lines/,
  ]),
  weak(
    36,
    "edit_file",
    edit({
      old_text: "function compute() {\n  return a;\n}",
      new_text: "function compute() {\n// ... existing code ...",
    }),
    false,
    [/existing code/, /stands for lines 3-4/],
  ),
  weak(37, "edit_file", { path: "src/twice.ts", old_text: "one();", new_text: "1" }, false, [
    /2[\s\S]*1[\s\S]*3[\s\S]*replace_all/,
  ]),
  weak(38, "edit_file", edit({ old_text: "export const b = 2;", new_text: "export const a = 1;" }), false, [
    /already/,
  ]),
  weak(39, "edit_file", edit({ old_text: "a = 1", new_text: "a = 1" }), false, [/different/]),
  weak(
    40,
    "edit_file",
    edit({
      old_text: "export const a = 1;\n// ... existing code ...\n  return a;",
      new_text: "export const a = 2;\n// ... existing code ...\n  return a;",
    }),
    false,
    [/Send this as old_text:\nexport const a = 1;/],
  ),
  weak(41, "edit_file", { path: "src/a.ts", old_text: "", new_text: "x" }, false, [
    /must not be empty\. To create a file.*write_file/,
  ]),
  weak(42, "edit_file", edit({ edits: '[{"old_text":"= 1;","new_text":"= 2;"}]' }), true, [
    /\+export const a = 2;/,
  ]),
  weak(43, "edit_file", edit({ edits: { old_text: "= 1;", new_text: "= 2;" } }), true, [
    /\+export const a = 2;/,
  ]),
  weak(44, "edit_file", edit({ old_text: "2: function compute() {\n3:   return b;", new_text: "x" }), false, [
    /compute/,
  ]),
  weak(45, "edit_file", edit({ old_text: "  return a;\n" }), false, [
    /'new_text': is required; send "" to delete/,
  ]),
  weak(46, "grep", { pattern: "(?<=x)foo" }, false, [/look-?(?:around|behind)/i]),
  weak(47, "grep", { pattern: "foo(bar)" }, true, [
    /As plain text it is there 1 time \(README\.md:2\); send regex: false/i,
  ]),
  weak(48, "grep", { pattern: "foo(" }, false, [/unclosed group.*regex:\s?false/]),
  weak(49, "grep", { pattern: "/TODO/i" }, true, [
    /searched with its slashes; send TODO with case="insensitive"/,
  ]),
  weak(50, "grep", { pattern: "compute", path: "src/a.ts" }, true, [/a\.ts:2:/]),
  weak(51, "grep", { pattern: "a", path: "src/**/*.ts" }, false, [
    /put the pattern into glob: path="src", glob="\*\*\/\*\.ts"/,
  ]),
  weak(52, "grep", { pattern: "compute", glob: "*.ts,*.tsx" }, true, [
    /no file was searched: no path matches glob '\*\.ts,\*\.tsx'/,
    /\["\*\.ts","\*\.tsx"\]/,
  ]),
  weak(53, "glob", { pattern: "*.ts,*.tsx" }, true, [/several globs are a list: \["\*\.ts","\*\.tsx"\]/]),
  weak(54, "grep", { pattern: "compute", case_sensitive: false }, false, [/did you mean 'case'/]),
  weak(55, "glob", { pattern: "[" }, false, [/\[/]),
  weak(56, "write_file", { path: "src", content: "x" }, false, [/'src' is a directory/]),
  weak(57, "write_file", { path: "n.txt" }, false, [/'content': is required/]),
  weak(58, "write_file", { path: "n.json", content: { a: 1 } }, false, [
    /must be a string, got an object; send an object as its JSON text/,
  ]),
  weak(59, "write_file", { path: "src/a.ts", content: "x", overwrite: false }, false, [/overwrite: true/]),
  weak(60, "write_file", { path: "n/m/k.txt", text: "x" }, false, [/did you mean 'content'/]),
  weak(61, "write_file", { path: "f.py", content: "```python\nprint(1)\n```\n" }, true, [/Markdown fence/]),
  weak(62, "write_file", { path: "src/", content: "x" }, false, [/is a directory/]),
  weak(
    63,
    "apply_patch",
    {
      patch:
        "```diff\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-export const a = 1;\n+export const a = 2;\n```",
    },
    true,
    [/Patched src\/a\.ts/],
  ),
  weak(
    64,
    "apply_patch",
    { patch: "--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-export const z = 1;\n+x\n" },
    false,
    [/hunk 1/],
  ),
  weak(65, "apply_patch", { patch: "hello" }, false, [/\w/]),
  weak(66, "apply_patch", { input: "x" }, false, [/did you mean 'patch'/]),
  weak(67, "delete", { path: "full" }, false, [/not empty.*recursive: true/]),
  weak(68, "delete", { path: "nowhere" }, false, [/does not exist/]),
  weak(
    69,
    "move",
    { source: "README.md", destination: "src/" },
    false,
    [/is a directory.*'src\/README\.md'/],
    /overwrite/,
  ),
  weak(70, "move", { from: "README.md", to: "src/R.md" }, false, [
    /did you mean 'source'/,
    /'to' \(did you mean 'destination'\?\)/,
  ]),
  weak(71, "copy", { source: "src", destination: "src/inner" }, false, [/cannot go into itself/]),
  weak(72, "batch", { operations: [{ tool: "stat", arguments: { path: "src" } }] }, false, [
    /did you mean 'args'/,
  ]),
  weak(
    73,
    "write_file",
    { path: "src/a.ts", content: "x", expected_hash: "abc" },
    false,
    [/sha256: and 64 hexadecimal digits, as read_file gives it/],
    /\[0-9a-fA-F\]/,
  ),
  weak(74, "write_file", { path: "n.sh", content: "x", mode: 755 }, false, [/such as "0755"/]),
];

/**
 * Two points where the right call follows from the answer, one where it follows after one more mistake, none where the
 * answer misleads or harms. All but these have two.
 */
const ONE_POINT = new Map([
  [21, "names the directory that is not there, and not the one that is meant"],
  [40, "shows the first line; that old_text leaves lines out has to be seen"],
  [44, "does not say that the numbers are what differs in its first line"],
  [54, "names 'case' and not its value"],
  [55, "says what is wrong with the glob and not how a [ is escaped"],
]);

test("the answers have at least 140 of 148 points", () => {
  for (const number of ONE_POINT.keys()) expect(CALLS.some((call) => call.number === number)).toBe(true);
  expect(CALLS.length * 2 - ONE_POINT.size).toBeGreaterThanOrEqual(140);
});

test("there are 74 calls", () => {
  expect(CALLS.map(({ number }) => number)).toEqual(Array.from({ length: 74 }, (_, at) => at + 1));
});

test.each(CALLS)("$number $tool", async ({ tool, args, ok, says, never }) => {
  const { ws } = await place("memory", SEED);
  const result = await ws.call(tool, args);
  expect(result.ok, result.text).toBe(ok);
  for (const words of says) expect(result.text).toMatch(words);
  if (never !== undefined) expect(result.text).not.toMatch(never);
});

test("a misspelt directory is named as it is written where the file is in it", async () => {
  const { ws } = await place("memory", SEED);
  for (const path of ["scr/a.ts", "./scr/a.ts"])
    expect((await ws.call("read_file", { path })).text).toContain("Did you mean 'src/a.ts'?");
  expect((await ws.call("read_file", { path: "scr/none.ts" })).text).toContain("Its directory 'scr'");
});
