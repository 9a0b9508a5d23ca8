// Runs the acceptance kit and compares with pending.json: a case that waits for a
// later step may fail; every other one must pass, and one that passes must not wait.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "filewright-acceptance-"));
const report = join(scratch, "report.json");
const extra = process.argv.slice(2);
const verbose = extra.includes("--verbose");

const child = spawnSync(
  process.execPath,
  [
    join(here, "runner.mjs"),
    "--adapter",
    join(here, "adapter.mjs"),
    "--cases",
    join(here, "public.jsonl"),
    "--json",
    report,
    ...extra,
  ],
  {
    stdio: ["ignore", verbose ? "inherit" : "pipe", "inherit"],
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  },
);

let results;
try {
  ({ results } = JSON.parse(readFileSync(report, "utf8")));
} catch {
  console.error(child.stdout ?? "");
  console.error("the acceptance runner could not start");
  process.exit(2);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

const pending = JSON.parse(readFileSync(join(here, "pending.json"), "utf8"));
const count = { passed: 0, failed: 0, skipped: 0 };
let wrong = 0;
for (const { id, title, status, errors, reason } of results) {
  const waits = pending[id];
  if (status === "pass") {
    count.passed += 1;
    if (waits === undefined) continue;
    wrong += 1;
    console.log(`PASSES, BUT WAITS FOR ${waits}  ${id}  ${title}: take it out of pending.json`);
  } else if (status === "fail") {
    if (waits !== undefined) {
      count.skipped += 1;
      continue;
    }
    count.failed += 1;
    wrong += 1;
    console.log(`FAIL  ${id}  ${title}`);
    for (const { step, at, expected, got } of (errors ?? []).slice(0, 2)) {
      console.log(
        `  step ${step}: ${at}\n    expected ${String(expected).slice(0, 300)}\n    got      ${String(got).slice(0, 300)}`,
      );
    }
  } else {
    count.skipped += 1;
    if (waits === undefined) console.log(`skipped  ${id}  ${title}: ${reason}`);
  }
}
const ids = new Set(results.map((result) => result.id));
if (extra.length === 0) {
  for (const id of Object.keys(pending)) {
    if (ids.has(id)) continue;
    wrong += 1;
    console.log(`pending.json names ${id}, which is no case`);
  }
}
console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
process.exit(wrong === 0 ? 0 : 1);
