// A process with a copy of a storage, which its parent ends while the copy is filled or searched. The storage is the
// same in every process: its files follow from their numbers.
import process from "node:process";
import { memoryStorage, openWorkspace } from "../../../dist/cli/library.js";

/** The name of the workspace of the storage, by which every process finds the same copy. */
export const IDENTITY = "mirror-crash";
export const FILES = 1500;

/**
 * @param {() => import("../../../dist/cli/library.js").MemoryStorage} [make] makes a storage
 */
export async function makeStorage(make = memoryStorage) {
  const storage = make();
  const encoder = new TextEncoder();
  /** @type {import("../../../dist/cli/library.js").Op[]} */
  const ops = Array.from({ length: FILES }, (_, at) => ({
    op: "put",
    path: `/ws/d${at % 37}/f${at}.txt`,
    body: encoder.encode(`needle ${at}\n${`filler ${at} `.repeat(at % 200)}\n`),
  }));
  await storage.commit(ops);
  await storage.records.put("filewright_mirror", "workspace", IDENTITY);
  return storage;
}

if (process.argv[2] === "run") {
  const ws = await openWorkspace({ storage: await makeStorage(), root: "/ws", stateDir: process.argv[3] });
  for (;;) {
    const { data } = await ws.call("grep", { pattern: "needle", output: "count", max_results: 100_000 });
    process.stdout.write(`${data.fresh} ${data.total_matches}\n`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
