// The configuration of an MCP client (Claude Desktop, Cursor and others use this form), and a client in
// twenty lines that starts the server of this configuration.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const config = JSON.parse(readFileSync(new URL("mcp-config.json", import.meta.url), "utf8"));
const { command, args } = config.mcpServers.files;
// In a checkout the built command serves the current directory; `npx -y filewright` is for a published package.
const local = fileURLToPath(new URL("../dist/cli/main.node.js", import.meta.url));
const line = command === "npx" ? [process.execPath, local, ...args.slice(2, -1), "."] : [command, ...args];
const server = spawn(line[0], line.slice(1), { stdio: ["pipe", "pipe", "inherit"] });

const waiting = new Map();
createInterface({ input: server.stdout }).on("line", (text) => {
  const { id, result } = JSON.parse(text);
  waiting.get(id)?.(result);
});
let next = 1;
function request(method, params) {
  const id = next++;
  server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  return new Promise((resolve) => waiting.set(id, resolve));
}

const clientInfo = { name: "example", version: "1" };
const { serverInfo } = await request("initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo,
});
server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
const { tools } = await request("tools/list", {});
console.log(`${serverInfo.name} offers ${tools.length} tools: ${tools.map(({ name }) => name).join(", ")}`);

const listed = await request("tools/call", { name: "list_directory", arguments: { path: "." } });
console.log(listed.content[0].text.split("\n").slice(0, 3).join("\n"));
const refused = await request("tools/call", { name: "read_text_file", arguments: { path: "/etc/passwd" } });
console.log(refused.isError ? "What lies outside is refused." : "something is wrong");
server.kill();
