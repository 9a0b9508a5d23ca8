// Makes the calls of one side of a case, as a process whose system calls can be counted, and prints
// the turns of the event loop per counted run.
//   node bench/lib/repeat-file-call.mjs ours|node KEY WARM-UP-RUNS COUNTED-RUNS
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { openFileCall } from "./file-calls.mjs";

const [side, key, ...numbers] = process.argv.slice(2);
const [warmUpRuns, countedRuns] = numbers.map(Number);
const turnsSoFar = () => performance.nodeTiming.uvMetricsInfo.loopCount;
const scratch = mkdtempSync(join(tmpdir(), "filewright-bench-"));
const { run, close } = await openFileCall(side, key, scratch);
for (let count = 0; count < warmUpRuns; count++) await run();
const before = turnsSoFar();
for (let count = 0; count < countedRuns; count++) await run();
console.log((turnsSoFar() - before) / countedRuns);
await close();
rmSync(scratch, { recursive: true });
