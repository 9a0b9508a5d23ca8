/** `approve --watch`: questions of a server as they come, asked at a terminal and printed in a pipe. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasTerminal, type CliFixture, place } from "./running.ts";

const main = fileURLToPath(new URL("../../dist/bin/filewright.js", import.meta.url));
const token = "a-token-of-this-test-alone";
const env = { FILEWRIGHT_TOKEN: token, FILEWRIGHT_APPROVE_TOKEN: `${token}-of-the-approver` };
let at: CliFixture;
let server: ChildProcess;
let url: string;

beforeAll(async () => {
  at = await place({ "a.txt": "one\n" });
  server = spawn(process.execPath, [main, "serve", at.root, "--approve", "--port", "0"], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  url = await new Promise<string>((resolve) =>
    server.stderr?.on("data", (chunk) => {
      said += chunk;
      const [, found] = /at (http:\S+)\s/u.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    }),
  );
});
/** Standard error of the server. */
let said = "";

afterAll(async () => {
  server.kill();
  await at.remove();
});

/** A change by a client of the server; gives the text of the answer. */
async function write(content: string): Promise<string> {
  const params = { name: "write_file", arguments: { path: "a.txt", content, whole_file: true } };
  const response = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  return response.text();
}

describe.skipIf(!hasTerminal)("at a terminal", () => {
  test("asks each question as it comes, and sends the answers", async () => {
    const steps = [
      { wait: "Waiting for questions" },
      { wait: "+two" },
      { wait: "Allow this?", send: "y\r" },
      { wait: "Allowed " },
      { wait: "+three" },
      { wait: "Allow this?", send: "perhaps\r" },
      { wait: "Allow this?", send: "n\r" },
      { wait: "Why not?", send: "not today\r" },
      { wait: "Refused ", send: "\u0003", after: 0.5 },
    ];
    const drawn = at.draw(["approve", "--watch", "--url", url], { env: { ...env, NO_COLOR: "1" }, steps });
    expect(await write("two\n")).not.toContain('"isError":true');
    expect(await readFile(join(at.root, "a.txt"), "utf8")).toBe("two\n");
    expect(await write("three\n")).toContain("not today");
    const { status, output } = await drawn;
    expect(status).toBe(0);
    expect(output.split("\u0007")).toHaveLength(3);
    expect(await readFile(join(at.root, "a.txt"), "utf8")).toBe("two\n");
  });
});

test("the server names the command that answers its questions", () => {
  expect(said).toContain(`Changes wait for: filewright approve --watch --url ${new URL(url).origin}\n`);
});

test("in a pipe each question is a line of JSON, printed once", async () => {
  const child = spawn(process.execPath, [main, "approve", "--watch", "--json", "--url", url], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  const first = new Promise<void>((resolve) =>
    child.stdout.on("data", (chunk) => {
      out += chunk;
      if (out.includes("\n")) resolve();
    }),
  );
  const change = write("four\n");
  await first;
  // Two more rounds of asking the server.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const lines = out.trimEnd().split("\n");
  expect(lines).toHaveLength(1);
  const { id, details } = JSON.parse(lines[0] as string);
  expect(details.fileDiff).toContain("+four");
  await at.run(["approve", id, "--url", url], "", env);
  await change;
  const ended = new Promise((resolve) => child.on("close", resolve));
  child.kill("SIGINT");
  expect(await ended).toBe(0);
});
