/** What a server tells of itself fits the tools that it lists. */
import { describe, expect, test } from "vitest";
import { COMMAND, connect, scratch } from "./harness.ts";

/** The tools whose names stand in texts; a name such as `read` is an ordinary word. */
const NAME = /\b(?:[a-z]+_[a-z_]+|glob|grep|undo|history|batch|delete|move|copy|stat)\b/gu;
/** Names of arguments, and words that are no calls. */
const WORDS = new Set(["glob", "delete", "move", "copy", "history"]);

async function listed(flags: readonly string[]) {
  const at = await scratch();
  const server = await connect([COMMAND, "mcp", ...flags, at.dir]);
  const { tools } = await server.client.listTools();
  const instructions = server.client.getInstructions() ?? "";
  return { at, server, tools, instructions, names: tools.map(({ name }) => name) };
}

describe("instructions and descriptions", () => {
  test.each([
    [[]],
    [["--read-only"]],
    [["--no-history"]],
    [["--tools", "read_file,write_file"]],
    [["--tools", "read_file,glob,delete"]],
    [["--tools", "+stat", "--read-only"]],
    [["--preset", "canonical"]],
    [["--preset", "canonical", "--read-only"]],
    [["--preset", "mcp"]],
    [["--preset", "mcp", "--read-only"]],
    [["--preset", "mcp", "--tools", "read_text_file,list_directory"]],
  ] as const)("%j: name only tools of the list", async (flags) => {
    const { at, server, tools, instructions, names } = await listed(flags);
    await using _ = at;
    await using __ = server;
    const told = instructions.match(NAME) ?? [];
    for (const name of told.filter((one) => !WORDS.has(one) || one === "history"))
      expect(names).toContain(name);
    const lean = !flags.includes("--preset" as never);
    const all = [
      "read_file",
      "write_file",
      "edit_file",
      "apply_patch",
      "grep",
      "glob",
      "undo",
      "access_info",
    ];
    for (const { name, description = "" } of lean ? tools : [])
      for (const other of all)
        if (new RegExp(`\\buse ${other}\\b|\\b${other} brings`, "u").test(description))
          expect(names, `${name}: ${description}`).toContain(other);
    const changes = names.some((one) => /write|edit|patch|move|delete|create/u.test(one));
    expect(/nothing can be changed/u.test(instructions)).toBe(!changes);
    expect(/overwritten/u.test(instructions)).toBe(changes);
    expect(/takes your last change back/u.test(instructions)).toBe(names.includes("undo"));
  });

  test.each([["--read-only"], ["--no-history"]])("%s: undo and history are not offered", async (flag) => {
    const { at, server, names } = await listed([flag]);
    await using _ = at;
    await using __ = server;
    expect(names).not.toContain("undo");
    expect(names).not.toContain("history");
    expect(names).toContain("read_file");
  });
});

test.each([
  [[], "read_many_files", "--tools +read_many_files"],
  [[], "find_files", "--tools +find_files"],
  [[], "read_fil", "did you mean read_file?"],
  [["--read-only"], "undo", "call tools/list"],
  [["--tools", "read_file,grep"], "grepp", "did you mean grep?"],
] as const)("%j: a call of %s is refused with what works", async (flags, name, remedy) => {
  const { at, server, names } = await listed(flags);
  await using _ = at;
  await using __ = server;
  const error = await server.client.callTool({ name, arguments: {} }).then(
    () => "no error",
    (thrown: Error) => thrown.message,
  );
  expect(error).toContain(remedy);
  const meant = /did you mean (\w+)\?/u.exec(error)?.[1];
  if (meant !== undefined) expect(names).toContain(meant);
});

test("a listing by size shows sizes", async () => {
  const { at, server } = await listed([]);
  await using _ = at;
  await using __ = server;
  await server.client.callTool({ name: "write_file", arguments: { path: "a", content: "1" } });
  await server.client.callTool({ name: "write_file", arguments: { path: "b", content: "12345" } });
  const call = async (args: object) => {
    const { content } = await server.client.callTool({ name: "list_directory", arguments: { ...args } });
    return (content as readonly { readonly text: string }[])[0]?.text;
  };
  expect(await call({ sort: "size", order: "desc" })).toBe("[FILE] b (5 bytes)\n[FILE] a (1 byte)");
  expect(await call({})).toBe("[FILE] a\n[FILE] b");
});
