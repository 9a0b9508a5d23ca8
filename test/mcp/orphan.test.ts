/**
 * A server over standard input and output whose client has ended, while another process holds the pipe open. Only
 * processes show it.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import process from "node:process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { COMMAND, scratch } from "./harness.ts";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

/**
 * A client that starts a server through a launcher. A process of its own holds the pipe open besides. The pid of the
 * server, which its first argument names, is told as soon as it runs.
 */
const CLIENT = `
import { spawn } from "node:child_process";
const [launcher, speaks, ...server] = JSON.parse(process.argv[2]);
const [command, ...args] = launcher.length === 0 ? server : [...launcher, ...server];
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
// A sibling has inherited the writing end of the pipe.
spawn("sleep", ["60"], { stdio: ["ignore", child.stdin, "ignore"], detached: true }).unref();
child.stdout.once("data", () => process.stdout.write("answered\\n"));
if (speaks) child.stdin.write(${JSON.stringify(`${JSON.stringify(INITIALIZE)}\n`)});
setTimeout(() => process.stdout.write("started\\n"), speaks ? 60_000 : 1500);
`;

/** Runs the server and writes its pid to a file. */
const serverIn = (dir: string): readonly string[] => [
  process.execPath,
  "--import",
  `data:text/javascript,import{writeFileSync as w}from"node:fs";w(${JSON.stringify(join(dir, "pid"))},String(process.pid))`,
  COMMAND,
  "mcp",
  dir,
];

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    // One that has ended and was not waited for yet.
    return !/^\d+ \(.*\) Z/su.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
};

async function startClient(
  dir: string,
  launcher: readonly string[],
  speaks: boolean,
): Promise<{ readonly client: ReturnType<typeof spawn>; readonly server: number }> {
  const file = join(dir, "client.mjs");
  await writeFile(file, CLIENT);
  const given = JSON.stringify([launcher, speaks, ...serverIn(dir)]);
  const client = spawn(process.execPath, [file, given], { stdio: ["ignore", "pipe", "ignore"] });
  await new Promise((resolve) => client.stdout.once("data", resolve));
  await expect.poll(() => existsSync(join(dir, "pid"))).toBe(true);
  return { client, server: Number(readFileSync(join(dir, "pid"), "utf8")) };
}

describe.skipIf(process.platform === "win32")("a server whose client was killed", () => {
  test.each([
    ["that had spoken", [], true],
    ["behind a shell", ["sh", "-c", '"$0" "$@"; true'], true],
    ["behind two launchers", ["sh", "-c", '"$0" "$@"; true', "sh", "-c", '"$0" "$@"; true'], true],
    ["before its first message", [], false],
  ])("ends: %s", { timeout: 30_000 }, async (_, launcher, speaks) => {
    await using at = await scratch();
    const { client, server } = await startClient(at.dir, launcher, speaks);
    expect(isRunning(server)).toBe(true);
    client.kill("SIGKILL");
    await expect.poll(() => isRunning(server), { timeout: 12_000, interval: 200 }).toBe(false);
  });
});

// At once: each waits for ten seconds.
describe.skipIf(process.platform === "win32").concurrent("a server whose launcher has ended", () => {
  test.for([
    ["much later", "exit 0", 2500],
    ["at once", "sleep 3; exit 0", 0],
  ] as const)(
    "goes on for the client that speaks to it %s",
    { timeout: 30_000 },
    async ([, end, pause], { expect }) => {
      await using at = await scratch();
      // The launcher puts the server in the background and ends.
      const args = ["-c", `"$@" <&3 & ${end}`, "sh", ...serverIn(at.dir)];
      const launcher = spawn("sh", args, { stdio: ["ignore", "pipe", "ignore", "pipe"] });
      const input = launcher.stdio[3] as NodeJS.WritableStream;
      let answers = "";
      launcher.stdout?.on("data", (text) => {
        answers += String(text);
      });
      await new Promise((resolve) => launcher.once("exit", resolve));
      await expect.poll(() => existsSync(join(at.dir, "pid")), { timeout: 5000 }).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, pause));
      input.write(`${JSON.stringify(INITIALIZE)}\n`);
      await expect.poll(() => answers, { timeout: 10_000 }).toContain('"serverInfo"');
      await new Promise((resolve) => setTimeout(resolve, 7000));
      input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list" })}\n`);
      await expect.poll(() => answers, { timeout: 10_000 }).toContain('"id":2');
      input.end();
      const pid = Number(readFileSync(join(at.dir, "pid"), "utf8"));
      await expect.poll(() => isRunning(pid), { timeout: 10_000 }).toBe(false);
    },
  );
});
