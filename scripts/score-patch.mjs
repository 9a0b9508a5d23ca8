// Scores the patch engine on a set of cases in a folder next to the checkout, with the scorer in
// that folder. Prints a note and does nothing if the folder does not exist.
//
//   node scripts/score-patch.mjs [options of the scorer]
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const resolvePath = (path) => fileURLToPath(new URL(path, import.meta.url));
const SCORER_SCRIPT = resolvePath("../../shared/corpus/patch/score.mjs");
if (!existsSync(SCORER_SCRIPT)) {
  console.log("patch cases: not here, nothing scored");
  process.exit(0);
}
if (!existsSync(resolvePath("../dist/engine/index.node.js"))) {
  console.error("patch cases: run `npm run build` first");
  process.exit(1);
}
const ENGINE_SCRIPT = resolvePath("lib/patch-engine.mjs");
const scorerRun = spawnSync(
  process.execPath,
  [SCORER_SCRIPT, "--engine", ENGINE_SCRIPT, ...process.argv.slice(2)],
  {
    stdio: "inherit",
  },
);
process.exit(scorerRun.status ?? 1);
