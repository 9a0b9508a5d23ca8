// A whole tool call, against the MCP filesystem server over stdio.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { smallFiles } from "../lib/corpora.mjs";
import { calls, same } from "../lib/measure.mjs";

export const title = "call: a whole tool call, against the MCP filesystem server over stdio";

export async function* rows({ load }) {
  const { openWorkspace } = await load("index.node.js");
  const paths = smallFiles(50, 4096);
  const folder = dirname(dirname(paths[0]));
  const ws = await openWorkspace({ roots: [{ path: folder, access: "read" }] });
  const server = await connect(folder);
  try {
    const [path] = paths;
    const ours = async (one) => (await ws.call("read_file", { path: one, line_numbers: "none" })).text;
    const theirs = async (one) => (await server.call("read_text_file", { path: one })).content[0].text;
    same("texts", (await ours(path)).trimEnd(), (await theirs(path)).trimEnd());
    yield {
      name: "read_file, one by one",
      peer: "read_text_file",
      goal: 1,
      ...(await calls(
        () => ours(path),
        () => theirs(path),
      )),
    };
    const together = (read) => () => Promise.all(paths.map((one) => read(one)));
    yield {
      name: "read_file, 50 at once",
      peer: "read_text_file",
      goal: 1,
      ...(await calls(together(ours), together(theirs))),
    };
  } finally {
    server.close();
    await ws.close();
  }
}

/** A client for the few messages that a benchmark sends. */
async function connect(folder) {
  const manifest = createRequire(import.meta.url).resolve(
    "@modelcontextprotocol/server-filesystem/package.json",
  );
  const child = spawn(process.execPath, [join(dirname(manifest), "dist/index.js"), folder], {
    stdio: ["pipe", "pipe", "ignore"],
  });
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
  const request = (method, params) =>
    new Promise((resolve, reject) => {
      const id = next++;
      waiting.set(id, { resolve, reject });
      send({ id, method, params });
    });
  const clientInfo = { name: "filewright-bench", version: "0" };
  await request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  send({ method: "notifications/initialized" });
  return {
    call: (name, args) => request("tools/call", { name, arguments: args }),
    close: () => child.kill(),
  };
}
