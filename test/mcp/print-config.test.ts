/** The printed configuration of each client, and the error where a client left a variable unexpanded. */
import { execFile } from "node:child_process";
import { homedir } from "node:os";
import { promisify } from "node:util";
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { CONFIG_BY_CLIENT } from "../../js/mcp/print-config.ts";
import { COMMAND, connect, scratch } from "./harness.ts";
import { startStreamServer } from "../support/in-process.ts";

/** Runs `filewright mcp` without a client. */
async function mcp(args: readonly string[]) {
  const { program, ended } = startStreamServer(args, () => {});
  program.input.end();
  return { status: await ended, stdout: program.out, stderr: program.err };
}

describe("--print-config", () => {
  test.each(Object.keys(CONFIG_BY_CLIENT))(
    "%s: the arguments start a server with the same flags",
    async (client) => {
      await using at = await scratch();
      const { status, stdout, stderr } = await mcp([
        "--print-config",
        client,
        at.dir,
        "--read-only",
        "--deny=*.pem",
      ]);
      expect([status, stderr]).toEqual([0, expect.stringMatching(/settings|config|mcp/iu)]);
      const args = JSON.parse(/"?args"?\s*[:=]\s*(\[[\s\S]*?\])/u.exec(stdout)?.[1] ?? "null") as string[];
      expect(args.slice(-5)).toEqual(
        ["filewright", "mcp", at.dir, "--deny=*.pem", "--read-only"].sort(bySource),
      );
      await using server = await connect([COMMAND, ...args.slice(args.indexOf("mcp"))]);
      expect((await server.client.listTools()).tools.map(({ name }) => name)).not.toContain("write_file");
      if (client !== "codex") JSON.parse(stdout);
      // The guide has a section for each client, with the same file.
      const guide = await readFile(new URL("../../docs/mcp.md", import.meta.url), "utf8");
      expect(guide).toContain(`--print-config ${client}`);
    },
  );

  test("paths are absolute, and what the server would refuse is refused", async () => {
    const { stdout } = await mcp(["--print-config", "cursor", "js", "--audit", "a.jsonl"]);
    expect(stdout).toContain(`"${process.cwd()}/js"`);
    expect(stdout).toContain(`"--audit=${process.cwd()}/a.jsonl"`);
    expect(await mcp(["--print-config", "curser", "js"])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("did you mean cursor?"),
    });
    expect((await mcp(["--print-config", "cursor", homedir()])).status).toBe(2);
  });
});

/** Flags stand in the order of the options. */
function bySource(a: string, b: string): number {
  const order = ["filewright", "mcp", "--read-only", "--deny=*.pem"];
  const at = (one: string): number => (order.includes(one) ? order.indexOf(one) : 1.5);
  return at(a) - at(b);
}

const variable = (name: string): string => `$\{${name}}`;

test.each([variable("workspaceFolder"), `/x/${variable("HOME")}/y`, "%USERPROFILE%"])(
  "the variable in %s is named where the client did not replace it",
  async (dir) => {
    const { status, stderr } = await mcp([dir]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/a variable that the client did not replace/u);
  },
);

describe("from a checkout", () => {
  test("--print-config prints what starts there", async () => {
    await using at = await scratch();
    const { stdout } = await promisify(execFile)(process.execPath, [
      COMMAND,
      "mcp",
      "--print-config",
      "cursor",
      at.dir,
    ]);
    const { command, args } = JSON.parse(stdout).mcpServers.filewright;
    expect([command, args[0]]).toEqual([process.execPath, COMMAND]);
    await using server = await connect(args as string[]);
    expect((await server.client.listTools()).tools.map(({ name }) => name)).toContain("read_file");
  });

  test.each(["/nonexistent", "package.json"])("%s, which is no directory, is refused", async (dir) => {
    const { status, stdout, stderr } = await mcp(["--print-config", "cursor", dir]);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`there is no directory '${dir}'`);
  });
});
