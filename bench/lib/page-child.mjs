// Reads one page of a file in a new process, and prints its time in milliseconds and the bytes by
// which the process grew; then the time of further pages of the same file, whose lines are indexed
// by now.
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { median } from "./measure.mjs";
import { growth } from "./process.mjs";

const [who, path, json] = process.argv.slice(2);
const page = JSON.parse(json);
const lines = 200;
/** The number of further pages. The code of the first few is still being optimised. */
const AGAIN = 50;

const { openWorkspace } = await import("../../dist/index.node.js");
const ws = await openWorkspace({ roots: [{ path: dirname(path), access: "read" }] });
// One call that does not read the file, so that loading the library is not measured.
await ws.call("stat", { path: "." });

const ours = async (wanted = page) => {
  const result = await ws.call("read_file", { path, max_lines: lines, ...wanted });
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

// Fast code as a programmer would write it by hand: reads pieces of one megabyte, and searches each
// with `indexOf`.
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

/** Returns the position of another page in the part of the file that was read before. */
const elsewhere = (round) => {
  const { start_line, start_byte } = page;
  if (start_byte !== undefined) return { start_byte: start_byte + round * 10_007 };
  if (start_line < 0) return { start_line: start_line - round * 7 };
  return { start_line: 1 + ((round * 7_919 * 4_001) % start_line) };
};

const run = { ours, readline, buffer }[who];
const time = async (wanted) => {
  const started = performance.now();
  await run(wanted);
  return performance.now() - started;
};
const grown = growth();
const ms = await time();
const grown_bytes = grown();
const again_ms = [];
for (let round = 1; who === "ours" && round <= AGAIN; round++) again_ms.push(await time(elsewhere(round)));
console.log(JSON.stringify({ ms, second_ms: again_ms[0], again_ms: median(again_ms), grown_bytes }));
await ws.close();
