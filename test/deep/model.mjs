// Runs test/backends/model.test.ts with many new sequences: memory and the disk answer alike and end alike.
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { npmProgram, root, runAndWait as runProgram } from "../../scripts/lib/run.mjs";

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "random operations, with and without a policy: memory and disk answer alike and end alike",
  count: 100_000,
  share: 1_000,
  async run({ seed, count, secondsLeft }) {
    const tried = join(root, ".cache/test/model-tried");
    mkdirSync(join(root, ".cache/test"), { recursive: true });
    rmSync(tried, { force: true });
    const env = {
      FILEWRIGHT_MODEL_TRIED: tried,
      FILEWRIGHT_MODEL_RUNS: String(count),
      FILEWRIGHT_MODEL_SEED: String(seed),
      ...(Number.isFinite(secondsLeft())
        ? { FILEWRIGHT_MODEL_SECONDS: String(Math.max(1, Math.round(secondsLeft()))) }
        : {}),
    };
    const args = ["run", "--project", "fast", "test/backends/model.test.ts"];
    const { status } = runProgram(npmProgram("vitest"), args, { env, check: false });
    const failures = status === 0 ? [] : ["see the output above"];
    return { cases: Number(readFileSync(tried, "utf8")), failures };
  },
};
