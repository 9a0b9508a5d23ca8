// One page in a fresh process: prints milliseconds and how many bytes it grew.
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { createInterface } from "node:readline";

const [who, path, json] = process.argv.slice(2);
const page = JSON.parse(json);
const lines = 200;

const { openWorkspace } = await import("../../dist/index.node.js");
const ws = await openWorkspace({ roots: [{ path: dirname(path), access: "read" }] });
// The library is loaded and has served one call; the file has not been touched.
await ws.call("stat", { path: "." });

const ours = async () => {
  const result = await ws.call("read_file", { path, max_lines: lines, ...page });
  if (!result.ok) throw new Error(result.text);
};
const readline = async () => {
  let line = 0;
  const input = createReadStream(path);
  const kept = [];
  for await (const text of createInterface({ input })) {
    line += 1;
    if (line >= page.start_line) kept.push(text);
    if (kept.length === lines) break;
  }
  input.destroy();
};

// What one writes by hand to be fast: pieces of a megabyte, and `indexOf` over each.
const buffer = async () => {
  const file = await open(path, "r");
  const piece = Buffer.allocUnsafe(1 << 20);
  let [line, offset] = [1, 0];
  const kept = [];
  while (kept.length < lines) {
    const { bytesRead } = await file.read(piece, 0, piece.length, offset);
    if (bytesRead === 0) break;
    const view = piece.subarray(0, bytesRead);
    let from = 0;
    for (let at = view.indexOf(10); at >= 0 && kept.length < lines; at = view.indexOf(10, from)) {
      if (line >= page.start_line) kept.push(view.toString("utf8", from, at));
      line += 1;
      from = at + 1;
    }
    offset += from === 0 ? bytesRead : from;
  }
  await file.close();
};

const run = { ours, readline, buffer }[who];
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
