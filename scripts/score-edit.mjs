// Scores the edit matcher on a set of cases in a folder next to the checkout, with the scorer in
// that folder. Prints a note and does nothing if the folder does not exist.
//
//   node scripts/score-edit.mjs [options of the scorer]
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const scorer = at("../../shared/corpus/edit/score.mjs");
if (!existsSync(scorer)) {
  console.log("edit cases: not here, nothing scored");
  process.exit(0);
}
if (!existsSync(at("../dist/engine/index.node.js"))) {
  console.error("edit cases: run `npm run build` first");
  process.exit(1);
}
const engine = at("lib/edit-engine.mjs");
const run = spawnSync(process.execPath, [scorer, "--engine", engine, ...process.argv.slice(2)], {
  stdio: "inherit",
});
process.exit(run.status ?? 1);
