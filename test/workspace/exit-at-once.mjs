// Writes a file and ends the process by `process.exit`.   node exit-at-once.mjs ROOT STATE HISTORY
import process from "node:process";
import { openWorkspace } from "../../dist/index.node.js";

const [root, stateDir, history] = process.argv.slice(2);
const workspace = await openWorkspace({ root, stateDir, history: history === "true" });
const { ok, text } = await workspace.call("write_file", { path: "a", content: "content" });
if (!ok) throw new Error(text);
await workspace.close();
process.exit(0);
