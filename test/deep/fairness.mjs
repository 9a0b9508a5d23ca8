// 64 agents search 40,000 files without a pause while one reads a small file every 100 ms.
//
// A case is one run of 30 s: with an index, then without. It fails where the slowest of a hundred
// reads takes longer than promised, or an agent has far fewer searches than the others. The times
// are those of the machine, so CI leaves this kind out; `test/workspace/scans.test.ts` has its rules.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";

const AGENTS = 64;
const FILES = 40_000;
const SECONDS = 30;
const READ_EVERY_MS = 100;
/** The most that 99 of 100 reads may take, in milliseconds. */
const MAX_READ_MS = { auto: 50, off: 150 };

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "64 agents search while one reads: reads stay quick, searches are shared out evenly",
  count: 2,
  share: 0,
  async run({ seed, count, isOver }) {
    const { openWorkspace } = await import("../../dist/cli/library.js");
    const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-fairness-")));
    const failures = [];
    let cases = 0;
    try {
      const root = makeTree(base, seededRandom(seed));
      for (const index of ["auto", "off"]) {
        if (cases >= count || isOver()) break;
        cases += 1;
        const ws = await openWorkspace({ root, stateDir: join(base, "state"), index });
        // The first search has the index made; the others meet it whole.
        for (let round = 0; index === "auto" && round < 3; round++) {
          await ws.call("grep", { pattern: "no such word" });
          await sleep(3000);
        }
        const { reads, searches, queued } = await measure(ws);
        await ws.close();
        const p99 = reads[Math.floor(reads.length * 0.99)];
        const mean = searches.reduce((sum, one) => sum + one, 0) / searches.length;
        const least = Math.min(...searches);
        console.log(
          `  index ${index}: ${reads.length} reads, p50 ${reads[reads.length >> 1].toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ` +
            `most ${reads.at(-1).toFixed(1)} ms; searches of an agent: mean ${mean.toFixed(1)}, least ${least}; ` +
            `longest wait for a turn ${queued} ms`,
        );
        if (p99 > MAX_READ_MS[index])
          failures.push(`index ${index}: the p99 of reads is ${p99.toFixed(1)} ms`);
        if (least < mean / 3)
          failures.push(`index ${index}: one agent has ${least} searches, the mean is ${mean.toFixed(1)}`);
      }
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
    return { cases, failures };
  },
};

function makeTree(base, random) {
  const root = join(base, "tree");
  for (let directory = 0; directory < FILES / 40; directory++) {
    const path = join(root, `part${directory % 25}`, `d${directory}`);
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < 40; file++) {
      const line = `const value${random.below(1e6)} = compute(${random.below(1e6)});\n`;
      writeFileSync(join(path, `f${file}.ts`), line.repeat(10 + random.below(40)));
    }
  }
  writeFileSync(join(root, "small.txt"), "0123456789abcde\n".repeat(256));
  return root;
}

/** @returns the times of reads (sorted, ms), the searches of each agent and the longest wait for a turn (ms) */
async function measure(ws) {
  let over = false;
  let queued = 0;
  const searches = Array.from({ length: AGENTS }, () => 0);
  const agents = searches.map(async (_, number) => {
    const agent = await ws.agent(`agent ${number}`);
    while (!over) {
      const { ok, text, meta } = await agent.call("grep", { pattern: `absent${number}word` });
      if (!ok && !over) throw new Error(text);
      queued = Math.max(queued, meta.queued_ms ?? 0);
      if (!over) searches[number] += 1;
    }
  });
  const reads = [];
  const end = performance.now() + SECONDS * 1000;
  for (let next = performance.now(); next < end; next += READ_EVERY_MS) {
    await sleep(Math.max(0, next - performance.now()));
    const { ok, text } = await ws.call("read_file", { path: "small.txt" });
    if (!ok) throw new Error(text);
    // From when it was due: a busy event loop delays the call itself too.
    reads.push(performance.now() - next);
  }
  over = true;
  await ws.close();
  await Promise.all(agents);
  return { reads: reads.sort((a, b) => a - b), searches, queued };
}
