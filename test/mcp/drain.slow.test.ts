/** SIGTERM while calls run: every one is answered, whole or not begun, over HTTP and over standard input. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { COMMAND, scratch } from "./harness.ts";
import { bearer, callOver, send, serveProcess } from "./serving.ts";

const BATCHES = 200;
/** Files that one batch makes. */
const FILES = ["a", "b", "c"];

const filesOf = (batch: number): string[] => FILES.map((name) => `b${batch}/${name}.txt`);
const batchOf = (batch: number): object => ({
  operations: filesOf(batch).map((path) => ({
    tool: "write_file",
    args: { path, content: path, create_dirs: true },
  })),
});

/** Describes the outcome of a batch by its answer and the files on the disk. */
function outcome(dir: string, batch: number, result: Record<string, unknown> | undefined): string {
  const there = filesOf(batch).filter((path) => existsSync(join(dir, path)));
  const isWhole =
    there.length === FILES.length && there.every((path) => readFileSync(join(dir, path), "utf8") === path);
  const facts = (result?.["_meta"] as Record<string, Record<string, unknown>> | undefined)?.[
    "filewright/call"
  ];
  if (result === undefined) return `no answer, ${there.length} files`;
  if (result["isError"] !== true) return isWhole ? "whole" : `answered as made, ${there.length} files`;
  const isRefused = facts?.["code"] === "CANCELLED" && facts["reason"] === "shutting_down";
  return isRefused && there.length === 0 ? "not begun" : `${String(facts?.["code"])}, ${there.length} files`;
}

const tally = (outcomes: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const one of outcomes) counts[one] = (counts[one] ?? 0) + 1;
  return counts;
};

test("SIGTERM during 200 batches over HTTP leaves each answered, and whole or not begun", async () => {
  await using at = await scratch();
  await using server = await serveProcess([at.dir, "--preset", "canonical", "--grace", "60"]);
  let answered = 0;
  const calls = Array.from({ length: BATCHES }, (_, batch) =>
    callOver(server.url, "batch", batchOf(batch)).then(
      ({ result }) => {
        answered += 1;
        // In the middle of them all, whenever that is.
        if (answered === 10) server.kill("SIGTERM");
        return result;
      },
      () => undefined,
    ),
  );
  const results = await Promise.all(calls);
  expect(await server.ended).toBe(0);
  const counts = tally(results.map((result, batch) => outcome(at.dir, batch, result)));
  expect(Object.keys(counts).filter((one) => one !== "whole" && one !== "not begun")).toEqual([]);
  expect(counts["whole"]).toBeGreaterThanOrEqual(10);
}, 120_000);

/** `filewright mcp` as a process whose messages are lines. */
function overStdio(argv: readonly string[]): {
  readonly child: ChildProcess;
  write(message: object): void;
  readonly answers: Map<unknown, Record<string, unknown>>;
} {
  const child = spawn(process.execPath, [COMMAND, "mcp", ...argv], { stdio: ["pipe", "pipe", "ignore"] });
  const answers = new Map<unknown, Record<string, unknown>>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, result } = JSON.parse(line) as { id?: unknown; result?: Record<string, unknown> };
    if (id !== undefined && result !== undefined) answers.set(id, result);
  });
  return { child, answers, write: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`) };
}

test("SIGTERM during 200 batches over standard input leaves each answered, and whole or not begun", async () => {
  await using at = await scratch();
  const { child, answers, write } = overStdio([at.dir, "--preset", "canonical", "--grace", "60"]);
  const ended = once(child, "exit");
  const clientInfo = { name: "t", version: "0" };
  const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  write({ jsonrpc: "2.0", id: "hello", method: "initialize", params: hello });
  write({ jsonrpc: "2.0", method: "notifications/initialized" });
  await expect.poll(() => answers.has("hello")).toBe(true);
  const begin = (batch: number): void =>
    write({
      jsonrpc: "2.0",
      id: batch,
      method: "tools/call",
      params: { name: "batch", arguments: batchOf(batch) },
    });
  const before = BATCHES - 50;
  for (let batch = 0; batch < before; batch++) begin(batch);
  // Answered when it is read, so that everything before it was read.
  write({ jsonrpc: "2.0", id: "ping", method: "ping" });
  await expect.poll(() => answers.has("ping"), { interval: 1, timeout: 30_000 }).toBe(true);
  child.kill("SIGTERM");
  child.stdin?.on("error", () => {});
  for (let batch = before; batch < BATCHES; batch++) begin(batch);
  expect(await ended).toEqual([0, null]);
  const outcomes = Array.from({ length: BATCHES }, (_, batch) => outcome(at.dir, batch, answers.get(batch)));
  const unlike = (from: number, to: number, allowed: readonly string[]): string[] =>
    outcomes.slice(from, to).filter((one) => !allowed.includes(one));
  // A call that was read, but whose workspace was still being opened, had not begun.
  expect(unlike(0, before, ["whole", "not begun"])).toEqual([]);
  // What was still in the pipe when the process ended never began.
  expect(unlike(before, BATCHES, ["whole", "not begun", "no answer, 0 files"])).toEqual([]);
}, 120_000);

test("calls that go on for longer than the grace are cancelled and answered, and the process ends with 0", async () => {
  await using at = await scratch();
  // The call waits for an approval that never comes: only the end of the server ends it.
  await using server = await serveProcess(["--preset", "mcp", at.dir, "--approve", "--grace", "1"], {
    FILEWRIGHT_APPROVE_TOKEN: "a-token-of-the-approver",
  });
  const call = callOver(server.url, "write_file", { path: "f", content: "x" });
  const approver = { authorization: "Bearer a-token-of-the-approver" };
  const pending = async (): Promise<string> =>
    (await send(new URL("/approvals", server.url).href, approver, { method: "GET" })).text;
  await expect.poll(pending).toContain("write_file");
  server.kill("SIGTERM");
  expect((await call).result?.["isError"]).toBe(true);
  expect(await server.ended).toBe(0);
  expect(existsSync(join(at.dir, "f"))).toBe(false);
});

test("subscriptions end with the server, and no new one begins", async () => {
  await using at = await scratch();
  await writeFile(join(at.dir, "a.txt"), "a");
  await using server = await serveProcess(["--preset", "mcp", at.dir]);
  const client = new Client(
    { name: "t", version: "1" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: bearer } }),
  );
  await client.listen({ resourceSubscriptions: [`file://${join(at.dir, "a.txt")}`] });
  server.kill("SIGTERM");
  expect(await server.ended).toBe(0);
  await client.close().catch(() => {});
});

test("twelve bodies of 60 MB are refused and do not fill the memory", async () => {
  await using at = await scratch();
  await using server = await serveProcess(["--preset", "mcp", at.dir]);
  const rss = (): number =>
    Number(/VmRSS:\s+(\d+) kB/u.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) / 1024;
  await callOver(server.url, "list_allowed_directories", {});
  const before = rss();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, rss());
  }, 20);
  const content = "x".repeat(60 * 1024 * 1024);
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "write_file", arguments: { path: "f", content } },
  });
  const statuses = await Promise.all(
    Array.from({ length: 12 }, (_, index) => {
      const how: Record<string, string> = index % 2 === 0 ? {} : { "transfer-encoding": "chunked" };
      // The answer may come, and the connection end, before everything was sent.
      return send(server.url, { ...bearer, ...how }, { body }).then(
        ({ status }) => status,
        () => 413,
      );
    }),
  );
  clearInterval(timer);
  // Those without a length are read up to the bounds of one body and of all.
  expect(statuses.filter((status) => status !== 413 && status !== 503)).toEqual([]);
  expect(most - before).toBeLessThan(200);
  expect((await callOver(server.url, "list_allowed_directories", {})).status).toBe(200);
}, 120_000);

test("deep brackets, long batches of messages and 2,000 half-open clients are survived", async () => {
  await using at = await scratch();
  await using server = await serveProcess(["--preset", "mcp", at.dir]);
  const { port } = new URL(server.url);
  const sockets = Array.from({ length: 2000 }, () => {
    const socket = connect(Number(port), "127.0.0.1");
    socket.on("error", () => {}).write("POST /mcp HTTP/1.1\r\nHost: localhost\r\nConte");
    return socket;
  });
  const deep = await send(server.url, bearer, { body: "[".repeat(1_000_000) });
  expect(deep.status).toBe(400);
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  const many = await send(server.url, bearer, {
    body: JSON.stringify(Array.from({ length: 10_000 }, () => ping)),
  });
  expect(many.status).toBe(400);
  expect((await callOver(server.url, "list_allowed_directories", {})).status).toBe(200);
  for (const socket of sockets) socket.destroy();
}, 120_000);
