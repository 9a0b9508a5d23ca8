/** `filewright mcp` with a config file and flags: what they say holds for every call. */
import { spawnSync } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { COMMAND, connect, scratch } from "./harness.ts";
import { startStreamServer } from "../support/in-process.ts";

const CANONICAL = ["--preset", "canonical"];

/** A workspace with a config file among its files. */
async function project(config: object): Promise<{ dir: string; file: string } & AsyncDisposable> {
  const at = await scratch();
  const file = join(at.dir, "filewright.json");
  await mkdir(join(at.dir, "src"));
  await mkdir(join(at.dir, "lib"));
  await writeFile(join(at.dir, "src/a.ts"), "one\n");
  await writeFile(join(at.dir, "lib/b.ts"), "two\n");
  await writeFile(file, JSON.stringify(config));
  return { dir: at.dir, file, [Symbol.asyncDispose]: () => at[Symbol.asyncDispose]() };
}

/** The end of a server that must not start. */
async function refused(args: readonly string[]): Promise<string> {
  const { program, ended } = startStreamServer(args, () => {});
  program.input.end();
  expect(await ended, program.err).toBe(2);
  expect(program.out).toBe("");
  expect(program.err).not.toMatch(/\n {4}at /u);
  return program.err;
}

describe("a config file", () => {
  test("its paths begin at its folder; rules, limits and read-only roots hold", async () => {
    await using at = await project({
      roots: ["src", { path: "lib", access: "read" }],
      rules: [{ tool: "delete", decision: "deny" }],
      limits: { outputBytes: 1000 },
      preset: "canonical",
    });
    await using server = await connect([COMMAND, "mcp", "--config", at.file]);
    const access = await server.call("access_info");
    expect(access.text).toContain(`May change: ${at.dir}/src\n`);
    expect(access.text).toContain(`May read: ${at.dir}/src, ${at.dir}/lib\n`);
    expect(await server.call("delete", { path: "a.ts" })).toMatchObject({
      isError: true,
      meta: { code: "APPROVAL_DENIED" },
    });
    expect(await server.call("write_file", { path: `${at.dir}/lib/c.ts`, content: "x" })).toMatchObject({
      isError: true,
    });
    expect(await server.call("write_file", { path: "c.ts", content: "x\n".repeat(4000) })).toMatchObject({
      isError: false,
    });
    expect((await server.call("read_file", { path: "c.ts" })).text.length).toBeLessThan(1600);
  });

  test("it is out of the tools' reach, by every name and with the directory that holds it", async () => {
    await using at = await project({ root: ".", preset: "canonical" });
    await mkdir(join(at.dir, "conf"));
    await writeFile(join(at.dir, "conf/real.json"), JSON.stringify({ root: "..", preset: "canonical" }));
    await symlink("conf/real.json", join(at.dir, "link.json"));
    for (const [file, names] of [
      ["filewright.json", ["filewright.json"]],
      ["link.json", ["link.json", "conf/real.json"]],
    ] as const) {
      await using server = await connect([COMMAND, "mcp", at.dir, "--config", join(at.dir, file)]);
      for (const name of names) {
        const before = await readFile(join(at.dir, name), "utf8");
        for (const [tool, args] of [
          ["write_file", { path: name, content: "{}" }],
          ["edit_file", { path: name, old_text: "canonical", new_text: "mcp" }],
          ["move", { source: name, destination: "other.json" }],
          ["delete", { path: name }],
          ["read_file", { path: name }],
          ["copy", { source: "src/a.ts", destination: name, overwrite: true }],
        ] as const)
          expect((await server.call(tool, args)).isError, `${tool} ${name}`).toBe(true);
        expect(await readFile(join(at.dir, name), "utf8")).toBe(before);
      }
      const moved = await server.call("move", { source: "conf", destination: "gone" });
      expect(moved.isError, file).toBe(file === "link.json");
      if (!moved.isError) await server.call("move", { source: "gone", destination: "conf" });
    }
  });

  test("the roots of a client do not replace those of the file", async () => {
    await using at = await project({ roots: [{ path: "lib", access: "read" }], preset: "mcp" });
    await using other = await scratch();
    await using server = await connect(
      [COMMAND, "mcp", "--config", at.file],
      { capabilities: { roots: {} } },
      (client) =>
        client.setRequestHandler("roots/list", () => ({
          roots: [{ uri: pathToFileURL(other.dir).href }],
        })),
    );
    expect((await server.call("list_allowed_directories")).text).toBe(`Allowed directories:\n${at.dir}/lib`);
  });

  test("an audit log and the server's options", async () => {
    await using at = await project({
      root: "src",
      server: { audit: "audit.jsonl", tools: ["read_text_file", "write_file"] },
      preset: "mcp",
      agent: "claude",
    });
    await using server = await connect([COMMAND, "mcp", "--config", at.file]);
    expect((await server.client.listTools()).tools.map(({ name }) => name)).toEqual([
      "read_text_file",
      "write_file",
    ]);
    await server.call("read_text_file", { path: "a.ts" });
    await expect(server.call("list_directory", { path: "." })).rejects.toThrow(/Unknown tool/u);
    const log = (): Promise<string> => readFile(join(at.dir, "audit.jsonl"), "utf8");
    await expect.poll(log).not.toBe("");
    expect(JSON.parse((await log()).trim())).toMatchObject({
      tool: "read_file",
      called_as: "read_text_file",
      agent: "claude",
      ok: true,
    });
  });

  test.each<[string, unknown, RegExp]>([
    ["an unknown option", { readonly: true, rot: "." }, /option '(?:readonly|rot)'/u],
    [
      "an option of a list",
      { limits: { outputByte: 1 } },
      /'limits\.outputByte'.*did you mean 'outputBytes'/u,
    ],
    ["a server option", { server: { tool: [] } }, /'server\.tool'.*'tools'/u],
    ["a function", { confirm: "yes" }, /option 'confirm': must be a function/u],
    ["a rule without decision", { rules: [{ tool: "delete" }] }, /rules\[0\]\.decision/u],
    [
      "a rule on no tool",
      { root: ".", rules: [{ tool: "delet", decision: "deny" }] },
      /did you mean 'delete'/u,
    ],
    ["a list", [], /must be an object of options/u],
    ["a preset that there is not", { preset: "claud" }, /preset/u],
  ])("%s is told with the place", async (_name, config, says) => {
    await using at = await project(config as object);
    expect(await refused(["--config", at.file])).toMatch(says);
  });

  test("a file that is missing or no JSON", async () => {
    await using at = await project({});
    expect(await refused(["--config", join(at.dir, "none.json")])).toMatch(/cannot read/u);
    await writeFile(at.file, "{ root: 1 }");
    expect(await refused(["--config", at.file])).toMatch(/is not JSON/u);
  });
});

describe("flags", () => {
  test("deny, protect, read-only roots and rules", async () => {
    await using at = await project([]);
    await writeFile(at.file, JSON.stringify([{ tool: "move", decision: "deny" }]));
    await using server = await connect([
      COMMAND,
      "mcp",
      join(at.dir, "src"),
      "--read-only-root",
      join(at.dir, "lib"),
      "--deny=*.secret",
      "--protect=*.lock",
      "--rules",
      at.file,
      ...CANONICAL,
    ]);
    const write = (path: string) => server.call("write_file", { path, content: "x" });
    expect((await write("a.secret")).isError).toBe(true);
    expect((await write("a.lock")).isError).toBe(true);
    expect((await write(join(at.dir, "lib/x.ts"))).isError).toBe(true);
    expect((await server.call("read_file", { path: join(at.dir, "lib/b.ts") })).isError).toBe(false);
    expect((await write("a.txt")).isError).toBe(false);
    expect((await server.call("move", { source: "a.txt", destination: "b.txt" })).meta["code"]).toBe(
      "APPROVAL_DENIED",
    );
  });

  test("tools, limits, secrets, the strict form of schemas, no history", async () => {
    await using at = await project({});
    await writeFile(join(at.dir, "src/.env"), "KEY=1\n");
    await using server = await connect([
      COMMAND,
      "mcp",
      join(at.dir, "src"),
      "--tools=read_file,glob",
      "--limit=outputBytes=2000",
      "--secrets=allow",
      "--strict-schemas",
      "--no-history",
      "--guard=off",
      ...CANONICAL,
    ]);
    const { tools } = await server.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["read_file", "glob"]);
    for (const { inputSchema } of tools) {
      expect([...(inputSchema.required ?? [])].sort()).toEqual(
        Object.keys(inputSchema.properties ?? {}).sort(),
      );
    }
    expect((await server.call("read_file", { path: ".env" })).text).toContain("KEY=1");
  });

  test.each<[string, readonly string[], RegExp]>([
    [
      "an option that is nearly one",
      [".", "--readonly"],
      /unknown option --readonly; did you mean --read-only\?/u,
    ],
    ["one with an underline", [".", "--read_only_root=x"], /did you mean --read-only-root\?/u],
    ["a missing value", [".", "--config"], /--config needs a value/u],
    ["a value too many", [".", "--ask=yes"], /--ask takes no value/u],
    ["a tool that there is not", [".", "--tools", "red_file"], /there is no tool 'red_file'.*did you mean/u],
    ["a limit that there is not", [".", "--limit", "outputByte=1"], /did you mean 'outputBytes'/u],
    ["a limit without figure", [".", "--limit", "outputBytes"], /NAME=NUMBER/u],
    ["a guard that there is not", [".", "--guard", "on"], /option 'guard'.*"refuse"/u],
    ["a level that there is not", [".", "--log-level", "loud"], /--log-level takes one of debug/u],
    ["a level that is nearly one", [".", "--log-level", "warn"], /did you mean warning\?/u],
    ["directories with commas between them", ["/a,/b"], /each directory as an argument of its own/u],
    ["a list whose directories exist", [".,js"], /each directory as an argument of its own/u],
    ["a preset that there is not", [".", "--preset", "claud"], /did you mean claude\?/u],
  ])("%s is told", async (_name, args, says) => {
    expect(await refused(args)).toMatch(says);
  });

  test("--version", () => {
    const { status, stdout } = spawnSync(process.execPath, [COMMAND, "mcp", "--version"], {
      encoding: "utf8",
    });
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+/u)]);
  });
});
