// Measures reading and writing whole files of 4 KiB to 100 MB through the backend of a workspace
// against direct calls of node:fs, small calls at the same time, and the memory of a second
// workspace.
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  collectGarbage,
  compareShortCalls,
  median,
  compareLongRuns,
  assertSameResult,
} from "../lib/measure.mjs";
import { startMemoryGrowth } from "../lib/process.mjs";

export const title = "disk: ws.fs and small calls on a local disk, against node:fs";

const FILE_SIZES = [
  ["4 KiB", 4096],
  ["64 KiB", 64 << 10],
  ["1 MiB", 1 << 20],
  ["100 MB", 100e6],
];
/** The goal: at most 20 % slower than a direct call. */
const GOAL_SPEED_RATIO = 1 / 1.2;
/**
 * The maximum number of bytes by which a second workspace and thousands of small calls may enlarge
 * the process, garbage included.
 */
const MAX_GROWN_BYTES = 20e6;
/** The calls of the second workspace, and those after which garbage is collected. */
const [CALLS_OF_SECOND, CALLS_PER_COLLECTION] = [2000, 100];
const CONCURRENT_CALLS = 16;
const GOAL_CALLS_PER_SECOND = 20_000;

export async function* rows({ load }) {
  const { openWorkspace } = await load("index.node.js");
  const folder = mkdtempSync(join(tmpdir(), "filewright-bench-"));
  const root = join(folder, "root");
  const options = { root, stateDir: join(folder, "state") };
  mkdirSync(root);
  const ws = await openWorkspace({ ...options, history: false });
  try {
    yield await concurrentCallsRow(ws);
    // The heap has grown to its working size by now, so that further growth is that of the second
    // workspace.
    const growing = startMemoryGrowth();
    const second = await openWorkspace(options);
    for (let count = 0; count < CALLS_OF_SECOND; count++) {
      if (count % CALLS_PER_COLLECTION === 0) collectGarbage();
      await second.call("write_file", { path: "b.txt", content: `${count}\n` });
    }
    const grown = growing();
    await second.close();
    const met = grown < MAX_GROWN_BYTES;
    yield { name: "growth by a second workspace and its calls", met, note: `${(grown / 1e6).toFixed(0)} MB` };
    yield* wholeFileRows(ws.fs, root);
  } finally {
    await ws.close();
    rmSync(folder, { recursive: true });
  }
}

/** Measures reading and replacing whole files. */
async function* wholeFileRows(fs, root) {
  for (const [name, bytes] of FILE_SIZES) {
    const content = randomBytes(bytes);
    const [ours, direct, by] = ["ours", "direct", "renamed"].map((file) => join(root, `${file}-${bytes}`));
    const measure = bytes > 1e7 ? compareLongRuns : compareShortCalls;
    const write = () => fs.writeBytes(ours, content);
    const byRename = async () => {
      await writeFile(`${by}.tmp`, content);
      await rename(`${by}.tmp`, by);
    };
    await Promise.all([write(), writeFile(direct, content)]);
    assertSameResult("bytes", Buffer.from(await fs.readBytes(ours)).equals(await readFile(direct)), true);
    yield {
      name: `read ${name}`,
      peer: "fs.promises.readFile",
      goal: GOAL_SPEED_RATIO,
      ...(await measure(
        () => fs.readBytes(ours),
        () => readFile(direct),
      )),
    };
    yield {
      name: `replace ${name}, atomically`,
      peer: "writeFile and rename",
      goal: GOAL_SPEED_RATIO,
      ...(await measure(write, byRename)),
    };
    yield {
      name: `replace ${name}, atomically`,
      peer: "writeFile in place",
      ...(await measure(write, () => writeFile(direct, content))),
    };
  }
}

/** Measures the calls per second of processor time of all threads, with several calls at once. */
async function concurrentCallsRow(ws) {
  await ws.call("write_file", { path: "a.txt", content: "hello\n" });
  const batch = () =>
    Promise.all(Array.from({ length: CONCURRENT_CALLS }, () => ws.call("read_file", { path: "a.txt" })));
  for (let warm = 0; warm < 200; warm++) await batch();
  const samples = [];
  for (let round = 0; round < 9; round++) {
    const start = process.cpuUsage();
    for (let count = 0; count < 100; count++) await batch();
    const { user, system } = process.cpuUsage(start);
    samples.push((user + system) / (100 * CONCURRENT_CALLS));
  }
  const us = median(samples);
  return {
    name: `read_file, ${CONCURRENT_CALLS} at once, processor time of all threads`,
    peer: "20,000 calls/s",
    goal: 1,
    ours_ms: us / 1000,
    peer_ms: 1000 / GOAL_CALLS_PER_SECOND,
    faster: 1e6 / GOAL_CALLS_PER_SECOND / us,
    note: `${Math.round(1e6 / us).toLocaleString("en")} calls/s`,
  };
}
