// A minimal MCP client that starts a server as a process. It uses no SDK, whose time would be
// measured too.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

/**
 * Returns the path of the script of the reference server,
 * `@modelcontextprotocol/server-filesystem`.
 */
export function referenceServerScript() {
  const manifest = createRequire(import.meta.url).resolve(
    "@modelcontextprotocol/server-filesystem/package.json",
  );
  return join(dirname(manifest), "dist/index.js");
}

/**
 * Starts a server and initializes the connection. `start_ms` in the result is the time that took.
 */
export async function startAndConnect(argv) {
  const began = performance.now();
  const child = spawn(process.execPath, argv, { stdio: ["pipe", "pipe", "ignore"] });
  const waiting = new Map();
  let next = 1;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, result, error } = JSON.parse(line);
    const { resolve, reject } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (error) reject?.(new Error(error.message));
    else resolve?.(result);
  });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const request = (method, params) => {
    const id = next++;
    const answer = new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
    send({ id, method, params });
    return Object.assign(answer, { id });
  };
  const clientInfo = { name: "filewright-bench", version: "0" };
  await request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  const start_ms = performance.now() - began;
  send({ method: "notifications/initialized" });
  return {
    pid: child.pid,
    start_ms,
    tools: async () => (await request("tools/list", {})).tools,
    call: (name, args) => request("tools/call", { name, arguments: args }),
    cancel: (id) => send({ method: "notifications/cancelled", params: { requestId: id } }),
    close: () => child.kill(),
  };
}
