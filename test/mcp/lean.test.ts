/** The default tools of `filewright mcp`: ours in their lean form. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { COMMAND, connect, connectToProcess, scratch } from "./harness.ts";

const LEAN_TOOLS = [
  "read_file",
  "write_file",
  "edit_file",
  "apply_patch",
  "grep",
  "glob",
  "list_directory",
  "move",
  "delete",
  "batch",
  "undo",
  "history",
  "access_info",
];

test("thirteen tools in at most 12,000 characters, in types that every client knows", async () => {
  await using at = await scratch();
  await using server = await connect([COMMAND, "mcp", at.dir]);
  const { tools } = await server.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(LEAN_TOOLS);
  expect(JSON.stringify({ tools }).length).toBeLessThanOrEqual(12_000);
  for (const { name, description = "", inputSchema } of tools) {
    expect(description.length, name).toBeGreaterThanOrEqual(20);
    expect(JSON.stringify(inputSchema), name).not.toMatch(/"type":\[|"not":|"pattern":"\^/u);
    for (const property of Object.values(inputSchema.properties ?? {}))
      expect((property as { description?: string }).description, name).toBeTruthy();
  }
});

test("no tool speaks of an argument that the lean schemas leave out", async () => {
  await using at = await scratch();
  await using server = await connect([COMMAND, "mcp", "--tools", "all", at.dir]);
  const { tools } = await server.client.listTools();
  const told = tools.filter(({ name }) => LEAN_TOOLS.includes(name) || name === "stat");
  expect(told).toHaveLength(LEAN_TOOLS.length + 1);
  expect(
    JSON.stringify(told.map(({ description, inputSchema }) => [description, inputSchema])),
  ).not.toContain("expected_hash");
});

test("arguments that the lean schemas leave out are accepted", async () => {
  await using at = await scratch();
  await using server = await connect([COMMAND, "mcp", at.dir]);
  await server.call("write_file", { path: "a.txt", content: "one\r\ntwo\r\n", eol: "lf" });
  expect(await readFile(join(at.dir, "a.txt"), "utf8")).toBe("one\ntwo\n");
  const read = await server.call("read_file", { path: "a.txt", line_numbers: "none" });
  expect(read.text).toMatch(/^one\ntwo/u);
  const found = await server.call("grep", {
    pattern: "TWO",
    case: "insensitive",
    glob: ["*.txt"],
    word: true,
  });
  expect(found.text).toContain("a.txt:2:");
});

test("the filesystem server's names are answered though not listed, with its spellings in ours", async () => {
  await using at = await scratch();
  await using server = await connect([COMMAND, "mcp", at.dir]);
  const path = join(at.dir, "a.txt");
  await server.call("write_file", { path, content: "one\ntwo\nthree\n" });
  expect((await server.call("read_text_file", { path, head: 1 })).text).toBe("one");
  expect((await server.call("read_file", { path, tail: 1, line_numbers: "none" })).text).toContain("three");
  expect((await server.call("read_file", { path, head: 1, line_numbers: "none" })).text).toMatch(/^one/u);
  expect(await server.call("read_file", { path, head: 1, tail: 1 })).toMatchObject({ isError: true });
  const edits = [{ oldText: "two", newText: "2" }];
  const dry = await server.call("edit_file", { path, edits, dryRun: true });
  expect(dry).toMatchObject({ isError: false, text: expect.stringContaining("+2") });
  expect(await readFile(path, "utf8")).toContain("two");
  expect((await server.call("edit_file", { path, edits })).isError).toBe(false);
  for (const [name, args] of [
    ["read_multiple_files", { paths: [path] }],
    ["create_directory", { path: join(at.dir, "d") }],
    ["list_directory_with_sizes", { path: at.dir }],
    ["directory_tree", { path: at.dir }],
    ["search_files", { path: at.dir, pattern: "*.txt" }],
    ["get_file_info", { path }],
    ["list_allowed_directories", {}],
    ["move_file", { source: path, destination: join(at.dir, "b.txt") }],
    ["read_media_file", { path: join(at.dir, "b.txt") }],
  ] as const)
    expect(await server.call(name, args), name).toMatchObject({ isError: false });
});

describe("--tools", () => {
  test("adds to the usual ones, or takes their place; what is not chosen is not answered", async () => {
    await using at = await scratch();
    await using more = await connect([COMMAND, "mcp", at.dir, "--tools", "+stat,+mkdir"]);
    const names = async (server: typeof more): Promise<readonly string[]> =>
      (await server.client.listTools()).tools.map(({ name }) => name);
    expect([...(await names(more))].sort()).toEqual([...LEAN_TOOLS, "stat", "mkdir"].sort());
    await using few = await connect([COMMAND, "mcp", at.dir, "--tools", "read_file,glob"]);
    expect(await names(few)).toEqual(["read_file", "glob"]);
    await expect(few.call("write_file", { path: "a", content: "" })).rejects.toThrow(/Unknown tool/u);
    await expect(few.call("create_directory", { path: "a" })).rejects.toThrow(/Unknown tool/u);
    // A remedy that cannot be followed is not given.
    expect((await few.call("read_file", { path: "none.txt" })).text).not.toContain("list_directory");
    await using all = await connect([COMMAND, "mcp", at.dir, "--tools", "all"]);
    expect(await names(all)).toContain("find_files");
  });
});

describe("undo and history", () => {
  test("undo the agent's own calls, the last one first, and no others", async () => {
    await using at = await scratch();
    await writeFile(join(at.dir, "a.txt"), "first\n");
    const env = { XDG_STATE_HOME: join(at.dir, "..", `${at.dir.split("/").at(-1)}-state`) };
    await using one = await connectToProcess([COMMAND, "mcp", at.dir], { env });
    await using two = await connectToProcess([COMMAND, "mcp", at.dir], { env });
    expect((await one.call("history")).text).toBe("No change to undo.");
    expect(await one.call("undo")).toMatchObject({ isError: true, meta: { code: "NOT_FOUND" } });
    await one.call("read_file", { path: "a.txt" });
    await one.call("edit_file", { path: "a.txt", old_text: "first", new_text: "second" });
    const other = await two.call("write_file", { path: "b.txt", content: "two" });
    await one.call("delete", { path: "a.txt" });
    expect((await one.call("history")).text.split("\n")).toHaveLength(2);
    expect((await one.call("history", { path: "b.txt" })).text).toBe("No change to undo.");
    expect(await one.call("undo", { call_id: other.meta["call_id"] })).toMatchObject({ isError: true });
    expect(await one.call("undo")).toMatchObject({ isError: false, text: "Undone: delete of a.txt" });
    expect(await readFile(join(at.dir, "a.txt"), "utf8")).toBe("second\n");
    expect((await one.call("undo")).text).toBe("Undone: edit_file of a.txt");
    expect(await readFile(join(at.dir, "a.txt"), "utf8")).toBe("first\n");
    expect((await one.call("undo")).isError).toBe(true);
    const listed = (await one.call("history", { limit: 1 })).text;
    expect(listed).toMatch(/undo of .*a\.txt\n\[more: cursor="/u);
    const cursor = /cursor="([^"]+)"/u.exec(listed)?.[1];
    expect((await one.call("history", { limit: 1, cursor })).text).toMatch(/undo of/u);
    expect(await readFile(join(at.dir, "b.txt"), "utf8")).toBe("two");
  });

  test("meet rules, the audit log and the approver", async () => {
    await using at = await scratch();
    await mkdir(join(at.dir, "w"));
    await writeFile(join(at.dir, "rules.json"), JSON.stringify([{ tool: "undo", decision: "deny" }]));
    await using server = await connect([
      COMMAND,
      "mcp",
      join(at.dir, "w"),
      "--rules",
      join(at.dir, "rules.json"),
      "--audit",
      join(at.dir, "audit.jsonl"),
    ]);
    await server.call("write_file", { path: "a.txt", content: "x" });
    expect(await server.call("undo")).toMatchObject({ isError: true, meta: { code: "APPROVAL_DENIED" } });
    await expect.poll(() => readFile(join(at.dir, "audit.jsonl"), "utf8")).toContain('"tool":"undo"');
    let shown = "";
    await using asking = await connect(
      [COMMAND, "mcp", join(at.dir, "w"), "--ask"],
      { capabilities: { elicitation: {} } },
      (client) =>
        client.setRequestHandler("elicitation/create", ({ params }) => {
          shown = params.message;
          return { action: "accept", content: { decision: "proceed_once" } };
        }),
    );
    await asking.call("write_file", { path: "b.txt", content: "brown\n" });
    await asking.call("undo");
    expect(shown).toMatch(/Undo write_file of b\.txt/u);
    expect(shown).toContain("-brown");
  });

  test("an undo refuses what was changed since", async () => {
    await using at = await scratch();
    await using server = await connect([COMMAND, "mcp", at.dir]);
    await server.call("write_file", { path: "a.txt", content: "x" });
    await writeFile(join(at.dir, "a.txt"), "somebody else");
    expect(await server.call("undo")).toMatchObject({ isError: true, meta: { code: "CONFLICT" } });
    expect(await readFile(join(at.dir, "a.txt"), "utf8")).toBe("somebody else");
  });
});

test("what was not read is not replaced", async () => {
  await using at = await scratch();
  await writeFile(join(at.dir, "a.txt"), "one\n");
  await using server = await connect([COMMAND, "mcp", at.dir]);
  expect(await server.call("write_file", { path: "a.txt", content: "two" })).toMatchObject({ isError: true });
  await using free = await connect([COMMAND, "mcp", at.dir, "--guard", "off"]);
  expect(await free.call("write_file", { path: "a.txt", content: "two" })).toMatchObject({ isError: false });
});
