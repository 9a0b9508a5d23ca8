// Begins worker threads one after the other, of which each works with the addon and ends in one of three ways
// (unloading.test.ts). The main thread does not load the addon, so Node unloads it with each of them.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";

const WAYS = ["leave", "close", "terminate"];
const ROUNDS = 12;

async function runThread(folder, way) {
  const worker = new Worker(new URL(import.meta.url), { workerData: { folder, way } });
  const ended = new Promise((done, fail) => worker.once("exit", done).once("error", fail));
  await new Promise((done) => worker.once("message", done));
  if (way === "terminate") await worker.terminate();
  await ended;
}

async function work({ folder, way }) {
  const { openWorkspace } = await import("../../dist/cli/library.js");
  const ws = await openWorkspace({ root: join(folder, "ws"), stateDir: join(folder, "state") });
  await ws.writeFile({ path: "a.txt", content: "needle\n".repeat(10_000) });
  await ws.grep({ pattern: "needle" });
  if (way === "close") await ws.close();
  parentPort.postMessage("done");
  if (way === "terminate") setInterval(() => {}, 1000);
  if (way === "leave") process.exit();
}

if (isMainThread) {
  const folder = mkdtempSync(join(tmpdir(), "filewright-unloading-"));
  mkdirSync(join(folder, "ws"));
  for (let round = 0; round < ROUNDS; round++) await runThread(folder, WAYS[round % WAYS.length]);
  rmSync(folder, { recursive: true });
  console.log("all ended");
} else await work(workerData);
