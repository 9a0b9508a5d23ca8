// Scores the detection of encodings and of binary files on a set of samples in a folder next to the
// checkout, with the scorer in that folder.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const scorer = at("../../shared/corpus/encoding/score.mjs");
if (!existsSync(scorer)) {
  console.log("encoding samples: not here, nothing scored");
  process.exit(0);
}
if (!existsSync(at("../dist/engine/index.node.js"))) {
  console.error("encoding samples: run `npm run build` first");
  process.exit(1);
}
const run = spawnSync(process.execPath, [scorer, "--engine", at("lib/encoding-engine.mjs")], {
  encoding: "utf8",
  stdio: ["ignore", "pipe", "inherit"],
});
process.stdout.write(run.stdout);
const result = JSON.parse(run.stdout.match(/^RESULT (.*)$/m)?.[1] ?? "null");
if (result === null) process.exit(1);
const right = result.text_right + result.binary_right;
const total = result.text_total + result.binary_total;
console.log(`encoding samples: ${right} of ${total} right`);
process.exit(right >= 0.97 * total ? 0 : 1);
