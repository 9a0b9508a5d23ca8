// Serves a directory with the MCP server for hosts in the same process, and passes its messages
// through standard input and output, so that scripts/conformance.mjs can call it from another
// process.
import { createInterface } from "node:readline";
import { toClaudeAgentServer } from "../../dist/adapters/claude-agent.js";
import { openWorkspace } from "../../dist/index.node.js";

const ws = await openWorkspace(process.argv[2]);
const { instance } = toClaudeAgentServer(ws, { preset: "mcp" });
const transport = {
  start: async () => {},
  send: async (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
  close: async () => {},
};
await instance.connect(transport);
createInterface({ input: process.stdin })
  .on("line", (line) => transport.onmessage(JSON.parse(line)))
  .on("close", () => instance.close().then(() => ws.close()));
