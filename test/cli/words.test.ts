/** Errors for a person name commands and options; those for a model name tools and arguments. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COMMANDS, findCommand } from "../../js/cli/commands.ts";
import { COMMAND_BY_TOOL, presetOfCommandLine } from "../../js/cli/names.ts";
import {
  openWorkspace,
  type ToolDefinition,
  type ToolResult,
  toolsFor,
  type Workspace,
} from "../../js/index.node.ts";
import type { Preset } from "../../js/presets/preset.ts";
import { TOOLS } from "../../js/tools/index.ts";
import { type CliFixture, place } from "./running.ts";

let at: CliFixture;
let ws: Workspace;
beforeAll(async () => {
  at = await place({
    "a.txt": "one\ntwo\ntwo\n",
    "list_directory.txt": "start_line list_directory\n",
    "d/x.txt": "x\n",
    bin: "\u0000\u0001\u0002",
  });
  ws = await openWorkspace({ root: at.root, guard: "off", history: false });
});
afterAll(async () => {
  await ws.close();
  await at.remove();
});

test("every tool has a command, and every command is there", () => {
  const commands = new Set(COMMANDS.map(({ name }) => name));
  for (const { name } of TOOLS) expect(commands).toContain(COMMAND_BY_TOOL[name]);
  for (const name of Object.values(COMMAND_BY_TOOL)) expect(commands).toContain(name);
});

/** Calls that fail, with the text for a person. */
const CASES: readonly (readonly [tool: string, args: Record<string, unknown>, says: RegExp])[] = [
  [
    "read_file",
    { path: "nope.ts" },
    /^Error: 'nope\.ts' does not exist\. filewright ls shows what is there\.$/u,
  ],
  ["read_file", { path: "d" }, /use filewright ls to see what is in it\.$/u],
  ["read_file", { path: "bin" }, /filewright stat tells its size and kind\.$/u],
  [
    "read_file",
    { path: "a.txt", start_line: 0 },
    /^Error: Invalid argument '--start': must be an integer other than 0/u,
  ],
  ["read_file", { path: "/etc/passwd" }, /; filewright access lists them\.$/u],
  ["list_directory", { path: "a.txt" }, /; use filewright read to read it\.$/u],
  ["grep", { pattern: "(" }, /correct the regex, or add -F to search the text as it is\.$/u],
  ["grep", { pattern: "a\\nb" }, /; add -U\.$/u],
  [
    "grep",
    { pattern: "x", path: "*.txt" },
    /A path is a directory or a file; put the pattern into --glob: \., --glob '\*\.txt'\.$/u,
  ],
  ["glob", { pattern: "x", path: "*.txt" }, /; filewright glob finds paths by a pattern\.$/u],
  [
    "edit_file",
    { path: "a.txt", old_text: "two", new_text: "x" },
    /^Error: the old text occurs 2 times .*Send this as the old text:.*\nAdd surrounding lines to the old text, or add --all\.$/su,
  ],
  [
    "edit_file",
    { path: "a.txt", old_text: "zzz", new_text: "x" },
    /^Error: the old text not found in a\.txt/u,
  ],
  ["mkdir", { path: "d", exist_ok: false }, /; leave out --new if that is fine\.$/u],
  ["copy", { source: "a.txt", destination: "d/x.txt" }, /; add --overwrite to replace it\.$/u],
  [
    "copy",
    { source: "a.txt", destination: "e/x.txt", create_dirs: false },
    /Leave out --no-parents to make it\.$/u,
  ],
  [
    "write_file",
    { path: "a.txt", content: "x", overwrite: false },
    /; leave out --no-overwrite to replace it\.$/u,
  ],
  ["delete", { path: "d" }, /; add -r to delete it with all it holds\.$/u],
];

/** Calls a tool as its command does. */
async function told(tool: string, args: Record<string, unknown>): Promise<ToolResult> {
  const command = findCommand(COMMAND_BY_TOOL[tool] as string);
  const [definition] = toolsFor(ws, presetOfCommandLine(command, tool) as Preset);
  return (definition as ToolDefinition).execute(args);
}

describe("errors for a person name commands and options", () => {
  test.each(CASES)("%s %j", async (tool, args, says) => {
    const { ok, text } = await told(tool, args);
    expect(ok, text).toBe(false);
    expect(text).toMatch(says);
    // Beside what is quoted no name of a tool or an argument is left.
    expect(text.replaceAll(/'[^']*'/gu, "")).not.toMatch(/\b[a-z]+_[a-z_]+\b|: ?true|: ?false/u);
  });

  test("names of files stay as they are", async () => {
    expect((await told("read_file", { path: "list_directory" })).text).toBe(
      "Error: 'list_directory' does not exist. Did you mean 'list_directory.txt'?",
    );
    expect((await told("read_file", { path: "d/start_line" })).text).toBe(
      "Error: 'd/start_line' does not exist. filewright ls shows what is there.",
    );
  });

  test.each<[readonly string[], string]>([
    [["read", "nope.ts"], "Error: 'nope.ts' does not exist. filewright ls shows what is there.\n"],
    [
      ["undo", "last"],
      "filewright: There is no call 'last' in the history; filewright history lists them.\n",
    ],
    [
      ["call", "read_file", "--args", '{"path":"nope.ts"}'],
      "Error: 'nope.ts' does not exist. list_directory shows what is there.\n",
    ],
  ])("%j", async (args, err) => expect(await at.run(args)).toEqual({ status: 2, out: "", err }));

  test.each<[string, Record<string, unknown>, object]>([
    ["write_file", { path: "a.txt", content: "x", overwrite: false }, { argument: "overwrite", value: true }],
    ["mkdir", { path: "d", exist_ok: false }, { argument: "exist_ok", value: true }],
    ["delete", { path: "d" }, { argument: "recursive", value: true }],
    ["grep", { pattern: "(" }, { argument: "regex", value: false }],
    ["grep", { pattern: "a\\nb" }, { argument: "multiline", value: true }],
    [
      "copy",
      { source: "a.txt", destination: "e/x.txt", create_dirs: false },
      { argument: "create_dirs", value: true },
    ],
  ])("the remedy of %s %j is data, too", async (tool, args, remedy) => {
    const result = await ws.call(tool, args);
    expect(result).toMatchObject({ ok: false, error: { details: { remedy: { kind: "set", ...remedy } } } });
    expect(
      await told(tool, {
        ...args,
        [(remedy as { argument: string }).argument]: (remedy as { value: unknown }).value,
      }),
    ).toMatchObject({ ok: true });
  });
});
