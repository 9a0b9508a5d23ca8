// One page in a fresh process: prints milliseconds and how many bytes it grew.
import { createReadStream } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";

const [who, file, json] = process.argv.slice(2);
const page = JSON.parse(json);
const lines = 200;

const { openWorkspace } = await import("../../dist/index.node.js");
const ws = await openWorkspace({ roots: [{ path: dirname(file), access: "read" }] });
// The library is loaded and has served one call; the file has not been touched.
await ws.call("stat", { path: "." });

const ours = async () => {
  const result = await ws.call("read_file", { path: file, max_lines: lines, ...page });
  if (!result.ok) throw new Error(result.text);
};
const readline = async () => {
  let line = 0;
  const input = createReadStream(file);
  const kept = [];
  for await (const text of createInterface({ input })) {
    line += 1;
    if (line >= page.start_line) kept.push(text);
    if (kept.length === lines) break;
  }
  input.destroy();
};

const run = who === "ours" ? ours : readline;
const time = async () => {
  const started = performance.now();
  await run();
  return performance.now() - started;
};
const before = process.resourceUsage().maxRSS;
const ms = await time();
const grown_bytes = (process.resourceUsage().maxRSS - before) * 1024;
const again_ms = who === "ours" ? await time() : undefined;
console.log(JSON.stringify({ ms, again_ms, grown_bytes }));
await ws.close();
