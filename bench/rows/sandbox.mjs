// Measures what the sandbox of commands costs: the start of `true`, and work in it, against the
// same commands without a sandbox. The goals are those of the tier `fast`; the tier `strict` is
// shown for comparison.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compareLongRuns } from "../lib/measure.mjs";
import { Skip } from "../lib/skip.mjs";

export const title = "sandbox: commands under Landlock and seccomp, against plain ones";

/**
 * The number of starts in one measurement, because other load disturbs a single short one too much.
 */
const STARTS_PER_MEASUREMENT = 20;

export async function* rows({ load }) {
  if (process.platform !== "linux") throw new Skip("Landlock is for Linux");
  const { linuxSandbox, sandboxFor } = await load("index.node.js");
  const root = mkdtempSync(join(tmpdir(), "filewright-bench-"));
  const plain = (argv) =>
    new Promise((resolve, reject) => {
      const child = spawn(argv[0], argv.slice(1), { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
      child.once("error", reject);
      child.once("close", (code) => (code === 0 ? resolve() : reject(new Error(`${argv[0]}: ${code}`))));
    });
  const under = (sandbox) => async (argv) => {
    const ran = await sandbox.run({ argv, cwd: root, timeoutMs: 60_000, maxOutputBytes: 1024 });
    if (ran.exitCode !== 0) throw new Error(`${argv[0]}: ${ran.stderr}`);
  };
  const times = (count, run, argv) => async () => {
    for (let n = 0; n < count; n += 1) await run(argv);
  };
  // One command that only computes, and one that only accesses files.
  const counts = ["/bin/sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"];
  const files = ["/bin/sh", "-c", "i=0; while [ $i -lt 20000 ]; do echo x > f; i=$((i+1)); done"];
  try {
    const fast = under(linuxSandbox({ writableRoots: [root] }));
    const start = ["/bin/true"];
    // `goal` is the ratio of the peer's time to ours: 2/3 allows 1.5 times the peer's time.
    yield {
      name: "the start of true",
      peer: "child_process.spawn",
      goal: 1 / 1.5,
      ...(await compareLongRuns(
        times(STARTS_PER_MEASUREMENT, fast, start),
        times(STARTS_PER_MEASUREMENT, plain, start),
      )),
    };
    yield {
      name: "computing",
      peer: "the same, plain",
      ...(await compareLongRuns(times(1, fast, counts), times(1, plain, counts))),
    };
    yield {
      name: "20,000 files opened and written",
      peer: "the same, plain",
      ...(await compareLongRuns(times(1, fast, files), times(1, plain, files))),
    };
    const strict = under(sandboxFor({ tier: "strict", writableRoots: [root] }));
    yield {
      name: "the start of true, strict tier (bubblewrap)",
      peer: "child_process.spawn",
      ...(await compareLongRuns(
        times(STARTS_PER_MEASUREMENT, strict, start),
        times(STARTS_PER_MEASUREMENT, plain, start),
      )),
    };
  } catch (error) {
    if (error.code === "SANDBOX_SETUP_FAILED") throw new Skip(error.message);
    throw error;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
