// Prints what a reader of a tool list is given: its tools, the files that are there, the tasks.
//
//   node test/model-lists/print.mjs LIST        after `npm run build`
import { readFileSync } from "node:fs";
import { leanPreset } from "../../dist/mcp/lean-preset.js";
import { PRESETS } from "../../dist/presets/index.js";

const { root, seed, lists } = JSON.parse(readFileSync(new URL("tasks.json", import.meta.url), "utf8"));
const name = process.argv[2] ?? "";
if (!Object.hasOwn(lists, name)) {
  console.error(`name a list: ${Object.keys(lists).join(", ")}`);
  process.exit(2);
}
const { tools } = name === "lean" ? leanPreset() : PRESETS[name];
const listed = tools.map(({ name: tool, description, inputSchema }) => ({
  name: tool,
  description,
  inputSchema,
}));
console.log(JSON.stringify({ tools: listed }, null, 1));
console.log(
  `\nThe directory is ${root}. In it: ${[...Object.keys(seed), "log.txt (300 lines)"].join(", ")}\n`,
);
for (const [at, { task }] of lists[name].entries()) console.log(`${at + 1}. ${task}`);
