// Reads one page of a file in a new process, and prints its time in milliseconds and the bytes by
// which the process grew; then the time of further pages of the same file, whose lines are indexed
// by now.
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { median } from "./measure.mjs";
import { startMemoryGrowth } from "./process.mjs";

const [who, path, json] = process.argv.slice(2);
const requestedPage = JSON.parse(json);
const LINES_PER_PAGE = 200;
/** The number of further pages. The code of the first few is still being optimised. */
const FURTHER_PAGES = 50;

const { openWorkspace } = await import("../../dist/index.node.js");
const workspace = await openWorkspace({ roots: [{ path: dirname(path), access: "read" }] });
// One call that does not read the file, so that loading the library is not measured.
await workspace.call("stat", { path: "." });

const readWithWorkspace = async (wanted = requestedPage) => {
  const result = await workspace.call("read_file", { path, max_lines: LINES_PER_PAGE, ...wanted });
  if (!result.ok) throw new Error(result.text);
};
const readWithReadline = async () => {
  let line = 0;
  const input = createReadStream(path);
  const kept = [];
  for await (const text of createInterface({ input })) {
    line += 1;
    if (line >= requestedPage.start_line) kept.push(text);
    if (kept.length === LINES_PER_PAGE) break;
  }
  input.destroy();
};

// Fast code as a programmer would write it by hand: reads pieces of one megabyte, and searches each
// with `indexOf`.
const readWithIndexOf = async () => {
  const file = await open(path, "r");
  const piece = Buffer.allocUnsafe(1 << 20);
  let [line, offset] = [1, 0];
  const kept = [];
  while (kept.length < LINES_PER_PAGE) {
    const { bytesRead } = await file.read(piece, 0, piece.length, offset);
    if (bytesRead === 0) break;
    const view = piece.subarray(0, bytesRead);
    let from = 0;
    for (let at = view.indexOf(10); at >= 0 && kept.length < LINES_PER_PAGE; at = view.indexOf(10, from)) {
      if (line >= requestedPage.start_line) kept.push(view.toString("utf8", from, at));
      line += 1;
      from = at + 1;
    }
    offset += from === 0 ? bytesRead : from;
  }
  await file.close();
};

/** Returns the position of another page in the part of the file that was read before. */
const furtherPageOfRound = (round) => {
  const { start_line, start_byte } = requestedPage;
  if (start_byte !== undefined) return { start_byte: start_byte + round * 10_007 };
  if (start_line < 0) return { start_line: start_line - round * 7 };
  return { start_line: 1 + ((round * 7_919 * 4_001) % start_line) };
};

const readPage = { ours: readWithWorkspace, readline: readWithReadline, buffer: readWithIndexOf }[who];
const timePage = async (wanted) => {
  const started = performance.now();
  await readPage(wanted);
  return performance.now() - started;
};
const memoryGrowth = startMemoryGrowth();
const ms = await timePage();
const grown_bytes = memoryGrowth();
const again_ms = [];
for (let round = 1; who === "ours" && round <= FURTHER_PAGES; round++)
  again_ms.push(await timePage(furtherPageOfRound(round)));
console.log(JSON.stringify({ ms, second_ms: again_ms[0], again_ms: median(again_ms), grown_bytes }));
await workspace.close();
