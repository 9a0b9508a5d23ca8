/** Every tool in its human form, the commands around servers, and what shells are told. */
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callOf, optionsOf } from "../../js/cli/command.ts";
import { COMMANDS, findCommand } from "../../js/cli/commands.ts";
import { helpOfCommand } from "../../js/cli/help.ts";
import { parseCommandLine, shownOptionLines } from "../../js/schema/command-line.node.ts";
import { formatTable } from "../../js/cli/streams.ts";
import { TOOLS } from "../../js/tools/index.ts";
import { type Ran, runInProcess, SHELL } from "../support/in-process.ts";

const main = fileURLToPath(new URL("../../dist/bin/filewright.js", import.meta.url));
let root: string;

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "filewright-cli-commands-")));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const state = (): Record<string, string> => ({ XDG_STATE_HOME: `${root}-state` });

function run(args: readonly string[], input = "", env: Record<string, string> = {}): Promise<Ran> {
  return runInProcess(args, { cwd: root, env: { ...process.env, ...state(), ...env }, input });
}

/** For each tool a command line that calls it, with what must be there for it. */
const HUMAN: Readonly<Record<string, readonly string[]>> = {
  read_file: ["read", "f"],
  read_many_files: ["cat", "f"],
  write_file: ["write", "f", "--content", "x"],
  edit_file: ["edit", "f", "--old", "a", "--new", "b"],
  apply_patch: ["patch", fileURLToPath(import.meta.url)],
  diff: ["diff", "a", "b"],
  list_directory: ["ls"],
  glob: ["glob", "*"],
  find_files: ["find", "f"],
  grep: ["grep", "x"],
  stat: ["stat", "f"],
  changes_since: ["changes", "start"],
  outline: ["outline", "src"],
  search_code: ["search", "where is it"],
  find_symbol: ["symbol", "parse"],
  copy: ["copy", "a", "b"],
  move: ["move", "a", "b"],
  delete: ["delete", "a"],
  mkdir: ["mkdir", "d"],
  batch: ["batch", fileURLToPath(new URL("../../package.json", import.meta.url))],
  access_info: ["access"],
};

test("every tool has a human form", async () => {
  expect(Object.keys(HUMAN).sort()).toEqual(TOOLS.map(({ name }) => name).sort());
  for (const [tool, [name, ...argv]] of Object.entries(HUMAN)) {
    const command = findCommand(name ?? "");
    const call = await callOf(command, parseCommandLine(argv, optionsOf(command)), SHELL);
    expect(call?.tool, name).toBe(tool);
  }
});

test("the human form of each tool is a call that the tool accepts", async () => {
  const at = join(root, "every");
  for (const [tool, [name, ...argv]] of Object.entries(HUMAN)) {
    await rm(at, { recursive: true, force: true });
    await mkdir(join(at, "src"), { recursive: true });
    const files = { f: "a x\n", a: "a\n", "src/a.ts": "export function parse() {}\n" };
    for (const [path, text] of Object.entries(files)) await writeFile(join(at, path), text);
    const { status, err } = await runInProcess([name as string, ...argv], {
      cwd: at,
      env: { ...process.env, ...state() },
      input: "",
    });
    // These lines name what is no patch, no list of calls, no version and no file.
    const isRefused = ["apply_patch", "batch", "changes_since", "diff"].includes(tool);
    if (!isRefused) expect({ tool, status }, err).toEqual({ tool, status: 0 });
  }
});

test("every command explains itself, with examples", async () => {
  for (const command of COMMANDS) {
    const help = helpOfCommand(command);
    expect(help, command.name).toMatch(/^Usage: filewright [\s\S]*^Examples:\n {2}\S/mu);
    for (const [flags] of shownOptionLines(command.help)) expect(help).toContain(flags);
  }
  const [first] = COMMANDS;
  expect(await run([first?.name as string, "--help"])).toEqual({
    status: 0,
    out: `${helpOfCommand(first as (typeof COMMANDS)[number])}\n`,
    err: "",
  });
});

test("search prints the place alone of the blocks that --known names", async () => {
  await mkdir(join(root, "known"));
  await writeFile(join(root, "known/a.py"), "def expired_session():\n    return 1\n");
  await writeFile(join(root, "known/b.py"), "def expired_session_of(user):\n    return 2\n");
  const ask = (...more: string[]) => run(["search", "expired session", "known", ...more]);
  const { out } = await ask();
  const hashes = [...out.matchAll(/ (#[0-9a-f]{6})$/gmu)].map(([, hash]) => hash as string);
  expect(hashes).toHaveLength(2);
  const again = await ask(...hashes.flatMap((hash) => ["--known", hash]));
  expect([again.status, again.out.match(/\(known\)/gu)?.length]).toEqual([0, 2]);
  expect(again.out).not.toContain("def ");
  await rm(join(root, "known"), { recursive: true });
});

test("a session of changes, taken back at the end", async () => {
  const said = async (args: readonly string[], input = "") => {
    const { status, out, err } = await run(args, input);
    expect({ status, err }, args.join(" ")).toEqual({ status: 0, err: "" });
    return out;
  };
  await said(["write", "a/one.txt", "-"], "one\n");
  await said(["write", "a/one.txt", "--append", "--content", "two\n"]);
  expect(await said(["cat", "a"])).toContain("--- a/one.txt ---\n\none\ntwo\n");
  await said(["mkdir", "b/c"]);
  await said(["copy", "a", "b/a"]);
  await said(["move", "b/a/one.txt", "b/c/two.txt"]);
  expect(await said(["ls", "b", "-d", "3", "--format", "tree"])).toBe("a/\nc/\n  two.txt\n");
  expect(await said(["delete", "b", "-r"])).toMatch(/^Deleted b/u);
  await said(["undo"]);
  expect(await readFile(join(root, "b/c/two.txt"), "utf8")).toBe("one\ntwo\n");
  const steps = [
    { tool: "write_file", args: { path: "x", content: "1" } },
    { tool: "move", args: { source: "x", destination: "y" } },
  ];
  await said(["batch", "-"], JSON.stringify(steps));
  expect(await readFile(join(root, "y"), "utf8")).toBe("1");
  expect(await said(["access"])).toContain(root);
  expect((await run(["write", "y", "--content", "2", "--no-overwrite"])).status).toBe(2);
  expect((await run(["write", "y", "text"])).err).toContain("--content takes text");
});

describe("output for programs", () => {
  test("--jsonl prints an item a line, and nothing else", async () => {
    await writeFile(join(root, "l.txt"), "hit 1\nhit 2\n");
    const lines = (await run(["grep", "hit", "l.txt", "--jsonl"])).out.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).line)).toEqual([1, 2]);
    expect((await run(["tools", "--jsonl"])).out.split("\n")).toHaveLength(TOOLS.length + 1);
    expect(JSON.parse((await run(["read", "nope", "--jsonl"])).out)).toMatchObject({ ok: false });
  });

  test("bench measures on a directory that is only read", async () => {
    const { out, status } = await run(["bench", "--rounds", "1", "--json"]);
    expect([status, JSON.parse(out).rows.length]).toEqual([0, 7]);
    expect((await run(["bench", "--rounds", "0"])).status).toBe(2);
  });
});

test("tables are cut where the terminal ends", () => {
  const rows = [
    ["a", "x", "short"],
    ["long", "y", "a text that is longer than the terminal"],
  ];
  expect(formatTable(rows, 20)).toBe("a     x  short\nlong  y  a text tha…");
  expect(formatTable(rows, undefined).split("\n")[1]).toBe(
    "long  y  a text that is longer than the terminal",
  );
});

test("approve lists what waits at a server, and answers", async () => {
  const token = "a-token-of-this-test-alone";
  const env = { FILEWRIGHT_TOKEN: token, FILEWRIGHT_APPROVE_TOKEN: `${token}-of-the-approver` };
  const server = spawn(process.execPath, [main, "serve", root, "--approve", "--port", "0"], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  try {
    let said = "";
    const url = await new Promise<string>((resolve) =>
      server.stderr.on("data", (chunk) => {
        said += chunk;
        const [, found] = /at (http:\S+)\s/u.exec(said) ?? [];
        if (found !== undefined) resolve(found);
      }),
    );
    const write = (
      content: string,
    ): Promise<{ result: { isError?: boolean; content: { text: string }[] } }> =>
      fetch(url, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: "write_file", arguments: { path: "approved.txt", content } },
        }),
      })
        .then((response) => response.text())
        .then((text) => JSON.parse(/\{.*\}/su.exec(text)?.[0] as string));
    const at = ["--url", url];
    expect((await run(["approve", ...at], "", env)).out).toBe("Nothing waits.\n");
    const waiting = async (): Promise<string> => {
      for (;;) {
        const [, id] = /^([0-9a-f]{8}) {2}/u.exec((await run(["approve", ...at], "", env)).out) ?? [];
        if (id !== undefined) return id;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const allowed = write("yes\n");
    const id = await waiting();
    expect((await run(["approve", ...at], "", env)).out).toContain("+yes");
    expect((await run(["approve", id, ...at], "", env)).out).toMatch(/^Allowed /u);
    expect((await allowed).result.isError).toBeUndefined();
    expect(await readFile(join(root, "approved.txt"), "utf8")).toBe("yes\n");
    const refusedCall = write("no\n");
    await waiting();
    await run(["approve", "all", "--refuse", "--reason", "not today", ...at], "", env);
    expect((await refusedCall).result).toMatchObject({ isError: true });
    expect((await refusedCall).result.content[0]?.text).toContain("not today");
    expect((await run(["approve", "ffff", ...at], "", env)).status).toBe(2);
    expect(
      (await run(["approve", ...at], "", { FILEWRIGHT_TOKEN: "another-token-of-no-use" })).err,
    ).toContain("token");
  } finally {
    server.kill();
  }
}, 60_000);

test("a config file holds for commands: its root, its rules, and itself out of reach", async () => {
  const config = join(root, "conf.json");
  await mkdir(join(root, "work"), { recursive: true });
  await writeFile(join(root, "work/a.txt"), "one\n");
  await writeFile(config, JSON.stringify({ root: "work", rules: [{ tool: "delete", decision: "deny" }] }));
  expect(await run(["read", "a.txt", "--config", config])).toMatchObject({ status: 0 });
  expect((await run(["delete", "a.txt", "--config", config])).err).toContain("A rule forbids delete");
  expect((await run(["delete", "a.txt", "--config", config])).status).not.toBe(0);
  expect((await run(["read", "conf.json", "--config", config, "--root", root])).status).not.toBe(0);
  expect(await run(["read", "a.txt", "--config", join(root, "none.json")])).toMatchObject({
    status: 2,
    err: expect.stringContaining("cannot read"),
  });
});
