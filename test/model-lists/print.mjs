// Prints what a reader of a tool list is given: its tools, the files that are there, the tasks.
//
//   node test/model-lists/print.mjs LIST        after `npm run build`
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { MemoryBackend, openWorkspace } from "../../dist/index.node.js";
import { leanPreset } from "../../dist/presets/lean.js";
import { FILES, filesAtRoot, LISTS, ROOT } from "./seed.mjs";

const COMMAND = fileURLToPath(new URL("../../dist/bin/filewright.js", import.meta.url));

/** The tools that the server lists, as a client gets them. */
async function listedTools(list) {
  const dir = await mkdtemp(join(tmpdir(), "filewright-"));
  const client = new Client({ name: "print", version: "1" });
  try {
    const args = [COMMAND, "mcp", ...(list === "lean" ? [] : ["--preset", list]), dir];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "inherit" }));
    const { tools } = await client.listTools();
    return tools;
  } finally {
    await client.close();
    await rm(dir, { recursive: true });
  }
}

/** Runs the calls before a task and returns their answers: they contain the text of a file that the task needs. */
async function callsBefore(list, before) {
  const ws = await openWorkspace({
    backend: new MemoryBackend(filesAtRoot()),
    root: ROOT,
    preset: list === "lean" ? leanPreset() : list,
  });
  try {
    const told = [];
    for (const { tool, args } of before) {
      const answer = await ws.call(tool, args);
      if (!answer.ok) throw new Error(`${tool} before a task of ${list}: ${answer.text}`);
      told.push(`You have called ${tool} ${JSON.stringify(args)}. The answer:\n<<<\n${answer.text}\n>>>`);
    }
    return told;
  } finally {
    await ws[Symbol.asyncDispose]();
  }
}

const list = process.argv[2] ?? "";
if (!Object.hasOwn(LISTS, list)) {
  console.error(`name a list: ${Object.keys(LISTS).join(", ")}`);
  process.exit(2);
}
console.log(JSON.stringify({ tools: await listedTools(list) }, null, 1));
console.log(`\nThe directory is ${ROOT}. In it: ${Object.keys(FILES).join(", ")} (300 lines)\n`);
for (const [at, { task, before = [] }] of LISTS[list].entries())
  console.log([`${at + 1}. ${task}`, ...(await callsBefore(list, before))].join("\n"));
