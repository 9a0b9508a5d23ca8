// Runs the state machines of threads and locks (crates/fs/loom) in every order of their threads, with
// the model checker loom.
import { join } from "node:path";
import { cargoResults } from "../../scripts/lib/results.mjs";
import { root, runAndWait } from "../../scripts/lib/run.mjs";

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "the pool's queue, the cancel flag and the lock files in every order of threads",
  count: 8,
  share: 0,
  async run() {
    const args = ["test", "--quiet", "--manifest-path", "crates/fs/loom/Cargo.toml"];
    const env = { CARGO_TARGET_DIR: join(root, "target/loom") };
    const { status, stdout } = runAndWait("cargo", args, { env, capture: "stdout", check: false });
    const { passed, failed, why = [] } = cargoResults(stdout, status);
    return { cases: passed + failed, failures: failed > 0 ? [why.join("\n") || stdout] : [] };
  },
};
