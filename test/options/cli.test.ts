/** Command lines that are most likely mistakes: refused with exit status 2 and a sentence, never a stack. */
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const main = fileURLToPath(new URL("../../dist/bin/filewright.js", import.meta.url));
let home: string;
let project: string;

beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "filewright-home-")));
  project = join(home, "project");
  await mkdir(project);
  await writeFile(join(project, "a.txt"), "one\n");
  await symlink(home, join(project, "link-home"));
});
afterAll(() => rm(home, { recursive: true }));

/** Runs the command to its end, without input. */
async function run(args: readonly string[]): Promise<{ status: number | null; out: string; err: string }> {
  const env = { ...process.env, HOME: home, XDG_STATE_HOME: join(home, "state") };
  const child = spawn(process.execPath, [main, ...args], { cwd: project, env });
  let [out, err] = ["", ""];
  child.stdout.on("data", (data) => {
    out += data;
  });
  child.stderr.on("data", (data) => {
    err += data;
    // A server that starts is ended by a signal: its start fails the test.
    if (/filewright \S+ serving /u.test(err)) child.kill("SIGTERM");
  });
  child.stdin.end();
  const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { status, out, err };
}

describe("a command line is refused with", () => {
  test.each<[string, readonly string[], RegExp]>([
    ["a directory read-only of mcp", ["mcp", "project", "read-only"], /'read-only'.*--read-only/],
    ["readonly of serve", ["serve", "project", "readonly"], /'readonly'.*--read-only/],
    ["READ_ONLY", ["mcp", "READ_ONLY"], /--read-only/],
    ["a misspelt read-onyl", ["mcp", ".", "read-onyl"], /--read-only/],
    ["--read-only behind --", ["mcp", ".", "--", "--read-only"], /looks like an option/],
    ["--no-token behind --", ["serve", ".", "--", "--no-token"], /looks like an option/],
    ["no-token", ["serve", ".", "no-token"], /--no-token/],
    ["an empty directory of mcp", ["mcp", ""], /must not be empty/],
    ["an empty directory of serve", ["serve", ""], /must not be empty/],
    ["/ for mcp", ["mcp", "/"], /whole file system.*--yes/],
    ["/ for serve", ["serve", "/"], /whole file system.*--yes/],
    ["home for mcp", ["mcp", "~"], /home directory.*--yes/],
    ["home by a link", ["mcp", "link-home"], /home directory.*--yes/],
    ["what holds home", ["serve", tmpdir()], /above the home directory.*--yes/],
    ["/ as root of a search", ["grep", "one", "--root", "/"], /whole file system.*--yes/],
    ["home as root of a list", ["ls", "--root", ".."], /home directory.*--yes/],
    ["home for the demo", ["demo", ".."], /home directory.*--yes/],
    ["home for the benchmark", ["bench", ".."], /home directory.*--yes/],
    ["/ for undo", ["undo", "--root", "/"], /whole file system.*--yes/],
    ["an empty root", ["ls", "--root", ""], /--root must not be empty/],
    ["an empty host", ["serve", ".", "--host", ""], /--host must not be empty/],
    [
      "a port that there is not",
      ["serve", ".", "--port", "99999"],
      /--port must be from 0 to 65535, not 99999/,
    ],
    ["a negative port", ["serve", ".", "--port=-1"], /--port must be from 0/],
    ["a port that is a word", ["serve", ".", "--port", "http"], /--port must be a whole number/],
    ["a misspelt option", ["mcp", ".", "--readonly"], /readonly/],
    ["a misspelt preset", ["mcp", ".", "--preset", "claud"], /--preset/],
  ])("%s", async (_name, args, says) => {
    const { status, err } = await run(args);
    expect(err).toMatch(says);
    expect(err).not.toMatch(/\n {4}at /u);
    expect(status).toBe(2);
  });

  test("a port that is taken ends in a sentence", async () => {
    const { createServer } = await import("node:net");
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { readonly port: number };
    try {
      const { status, err } = await run(["serve", ".", "--port", String(port)]);
      expect(err).toMatch(/EADDRINUSE/);
      expect(err).not.toMatch(/\n {4}at /u);
      expect(status).toBe(1);
    } finally {
      server.close();
    }
  });
});

describe("a command line is accepted with", () => {
  test("the home directory and --yes", async () => {
    expect((await run(["ls", "--root", "..", "--yes"])).out).toContain("project");
    expect((await run(["mcp", "~", "--yes"])).err).toMatch(/filewright \S+ serving /u);
  });

  test("a directory that has the name of an option, where it is there", async () => {
    await mkdir(join(project, "read-only"));
    expect((await run(["mcp", "read-only"])).err).toMatch(/filewright \S+ serving /u);
  });

  test("commands about this machine alone, in any directory", async () => {
    expect((await run(["tools", "--root", ".."])).status).toBe(0);
  });
});
