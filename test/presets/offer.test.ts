/** The tools of the presets, which share everything else with the workspace. */
import { describe, expect, test } from "vitest";
import { FilewrightError, type Hook, MemoryBackend, openWorkspace, toolsFor } from "../../js/index.node.ts";
import { PRESET_NAMES, PRESETS, type PresetName } from "../../js/presets/index.ts";
import type { Schema } from "../../js/tools/lib/schema.ts";
import { open } from "./harness.ts";

const NAMES = {
  adk: ["read_file", "write_file", "edit_file", "copy", "delete", "list_directory", "get_info", "search"],
  fluent: ["read_file", "edit_file", "write_file", "list_dir", "glob_search", "grep_search"],
  tinyagent: ["read_file", "write_file", "update_file", "search_files"],
  gemini: [
    "write_file",
    "read_file",
    "replace",
    "search_file_content",
    "glob",
    "read_many_files",
    "list_directory",
  ],
  go: [
    "fs_read",
    "fs_write",
    "fs_edit",
    "fs_list",
    "fs_delete",
    "fs_move",
    "fs_copy",
    "fs_stat",
    "fs_diff",
    "fs_patch",
    "fs_mkdir",
  ],
  amplifier: ["read_file", "write_file", "edit_file"],
  "gemini-cli": [
    "read_file",
    "write_file",
    "replace",
    "grep_search",
    "glob",
    "list_directory",
    "read_many_files",
  ],
  claude: ["Read", "Write", "Edit", "MultiEdit", "Glob", "Grep"],
  anthropic: ["str_replace_based_edit_tool", "memory"],
  codex: ["apply_patch", "read_file", "list_dir", "grep_files", "view_image"],
} as const;

describe("what a preset offers", () => {
  test.each(Object.entries(NAMES))("%s: exactly its tools", async (preset, names) => {
    const { ws } = await open(preset as PresetName);
    expect(ws.tools.map((tool) => tool.name)).toEqual(names);
  });

  test.each([
    ["fluent", ["read_file", "list_dir", "glob_search", "grep_search"]],
    ["go", ["fs_read", "fs_list", "fs_stat", "fs_diff"]],
    ["amplifier", ["read_file"]],
  ] as const)("%s: read-only leaves out what changes files", async (preset, names) => {
    const { ws } = await open(
      preset,
      {},
      { cwd: "/w", access: { readOnly: true, read: ["/w"], write: ["/w"] } },
    );
    expect(ws.tools.map((tool) => tool.name)).toEqual(names);
  });

  test.each(
    Object.values(PRESETS).flatMap((preset) =>
      preset.tools.map((tool) => [preset.name, tool.name, tool] as const),
    ),
  )("%s %s is described, with every property", (_preset, _name, tool) => {
    expect(tool.description.length).toBeGreaterThan(60);
    expect(tool.inputSchema).toMatchObject({ type: "object", additionalProperties: false });
    for (const name of tool.inputSchema.required) expect(tool.inputSchema.properties).toHaveProperty(name);
    wellDescribed(tool.inputSchema);
  });

  function wellDescribed(schema: Schema): void {
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      expect(property.description?.length ?? 0, name).toBeGreaterThan(8);
      wellDescribed(property);
      if (property.items !== undefined) wellDescribed(property.items);
    }
  }
});

describe("opening with a preset", () => {
  test("an unknown one is refused with the nearest", async () => {
    const backend = new MemoryBackend({});
    await expect(openWorkspace({ backend, root: "/w", preset: "gemni" as PresetName })).rejects.toMatchObject(
      {
        code: "INVALID_ARGUMENT",
        message: expect.stringContaining('"gemini"'),
      },
    );
  });

  test.each([
    ["a relative root", { root: "w" }],
    ["a relative entry", { cwd: "/w", access: { read: ["w"], write: [] } }],
    ["a relative entry to write", { cwd: "/w", access: { read: ["/w"], write: ["w"] } }],
    ["no list", { cwd: "/w", access: { read: null, write: ["/w"] } }],
    ["an empty list", { cwd: "/w", access: { read: [], write: [] } }],
    ["no roots", { cwd: "/w" }],
  ])("adk refuses %s", async (_title, options) => {
    const backend = new MemoryBackend({ "/w": { type: "dir" } });
    const error = await openWorkspace({ backend, preset: "adk", ...options }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(FilewrightError);
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("adk takes a list of absolute directories", async () => {
    const backend = new MemoryBackend({ "/w/a": "1", "/v/b": "2" });
    const ws = await openWorkspace({ backend, preset: "adk", roots: ["/w", "/v"] });
    expect((await ws.call("read_file", { path: "/v/b" })).text).toBe("2");
  });

  test("go asks for each directory, in its roots", async () => {
    const asked: string[] = [];
    const ask = async (question: string) => {
      asked.push(question);
      return "yes";
    };
    const permissions = { ask };
    const { ws } = await open("go", { "d/a": "1", "/o/b": "2" }, { permissions });
    expect((await ws.call("fs_read", { path: "d/a" })).text).toBe("1");
    expect((await ws.call("fs_stat", { path: "d/a" })).ok).toBe(true);
    expect((await ws.call("fs_read", { path: "/o/b" })).error?.code).toBe("OUTSIDE_ALLOWED");
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain("/w/d");
  });

  test("go without anybody to ask refuses", async () => {
    const { ws } = await open("go", { "d/a": "1" }, { permissions: {} });
    expect((await ws.call("fs_read", { path: "d/a" })).error?.code).toBe("GRANT_DENIED");
  });

  test("amplifier: roots of one's own replace its defaults", async () => {
    const seed = { "/o/s": "x" };
    const { ws } = await open("amplifier", seed, { access: { read: ["/w"], write: ["/w/d"] } });
    expect((await ws.call("read_file", { file_path: "/o/s" })).error?.code).toBe("OUTSIDE_ALLOWED");
    expect((await ws.call("write_file", { file_path: "n", content: "" })).error?.code).toBe(
      "OUTSIDE_ALLOWED",
    );
    expect((await ws.call("write_file", { file_path: "d/n", content: "" })).ok).toBe(true);
  });

  test("limits of one's own win over those of the preset", async () => {
    const { ws } = await open(
      "fluent",
      { a: `${"x".repeat(99)}\n`.repeat(50) },
      { limits: { outputBytes: 1000 } },
    );
    const result = await ws.call("read_file", { path: "a" });
    expect(result.text.length).toBeLessThan(1600);
  });

  test("data and error keep our form, whatever the text", async () => {
    const { ws } = await open("go", { a: "x\n" });
    const list = await ws.call("fs_list", { path: "." });
    expect(list.data).toMatchObject({
      path: ".",
      entries: [{ name: "a", path: "a", type: "file" }],
      total: 1,
    });
    const failed = await ws.call("fs_edit", { path: "a", old_text: "not there", new_text: "" });
    expect(failed.error).toMatchObject({ code: "MATCH_NOT_FOUND", path: "a", details: { edit_index: 0 } });
  });

  test("the methods stay ours", async () => {
    const { ws } = await open("go", { a: "x\n" });
    expect((await ws.readFile({ path: "a" })).content).toBe("x\n");
  });
});

describe("toolsFor", () => {
  test("gives the list of any preset over one workspace", async () => {
    const { ws, backend } = await open("canonical", { a: "x\n" });
    for (const name of PRESET_NAMES) expect(toolsFor(ws, name).length).toBeGreaterThan(1);
    const edit = toolsFor(ws, "fluent").find((tool) => tool.name === "edit_file");
    expect((await edit?.execute({ path: "a", old_string: "x", new_string: "y" }))?.text).toBe(
      "Successfully edited a",
    );
    expect(new TextDecoder().decode(await backend.readBytes("/w/a"))).toBe("y\n");
    expect(toolsFor(ws, "canonical")).toBe(ws.tools);
  });

  test("a closed workspace refuses", async () => {
    const { ws } = await open("go", {});
    const [read] = toolsFor(ws, "go");
    await ws.close();
    expect((await read?.execute({ path: "a" }))?.error?.code).toBe("UNSUPPORTED_OPERATION");
    expect((await ws.call("fs_read", { path: "a" })).error?.code).toBe("UNSUPPORTED_OPERATION");
  });
});

describe("names in refusals", () => {
  test("a path that holds one of our names stays as it is", async () => {
    const { ws } = await open("fluent", { "old_text.ts": "x\n" });
    const result = await ws.call("edit_file", { path: "old_text.ts", old_string: "x", new_string: "x" });
    expect(result.text).toBe(
      "Error: old_string and new_string must be different, nothing to change in old_text.ts",
    );
  });
});

describe("hooks, rules and confirmations see our names", () => {
  test("a hook for our name, for theirs, and for all", async () => {
    const seen: unknown[] = [];
    const hook = (tool: string): Hook => ({
      stage: "before",
      tool,
      run: ({ tool_name, called_as, args }) => void seen.push([tool, tool_name, called_as, args]),
    });
    const { ws } = await open(
      "tinyagent",
      { a: "x\n" },
      { hooks: [hook("edit_file"), hook("update_file"), hook("*"), hook("write_file")] },
    );
    await ws.call("update_file", { file_path: "a", old_content: "x", new_content: "y" });
    const args = { path: "a", old_text: "x", new_text: "y", expected_matches: 1, match: "exact" };
    expect(seen).toEqual(
      ["edit_file", "update_file", "*"].map((tool) => [tool, "edit_file", "update_file", args]),
    );
  });

  test.each([
    ["ours", { new_text: "z" }],
    ["the preset's", { new_content: "z" }],
  ])("a hook changes arguments under %s names", async (_title, modified_args) => {
    const hooks: Hook[] = [{ stage: "before", tool: "update_file", run: () => ({ modified_args }) }];
    const { ws, backend } = await open("tinyagent", { a: "x\n" }, { hooks });
    const result = await ws.call("update_file", { file_path: "a", old_content: "x", new_content: "y" });
    expect(result.text).toMatch(/modified/);
    expect(new TextDecoder().decode(await backend.readBytes("/w/a"))).toBe("z\n");
  });

  test("a rule names our tool", async () => {
    const { ws } = await open("go", { a: "x\n" }, { rules: [{ tool: "delete", decision: "deny" }] });
    expect((await ws.call("fs_delete", { path: "a" })).error?.code).toBe("APPROVAL_DENIED");
  });

  test("what the approver changed is said", async () => {
    const { ws } = await open(
      "gemini",
      {},
      {
        confirm: async () => ({
          outcome: "modify_with_editor",
          payload: { newContent: "human", final: true },
        }),
      },
    );
    const result = await ws.call("write_file", { file_path: "/w/a", content: "model" });
    expect(result.text).toMatch(/modified/i);
  });
});
