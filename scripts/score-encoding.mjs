// Scores the detection of encodings and of binary files on a set of samples in a folder next to the
// checkout, with the scorer in that folder.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const resolvePath = (path) => fileURLToPath(new URL(path, import.meta.url));
const SCORER_SCRIPT = resolvePath("../../shared/corpus/encoding/score.mjs");
if (!existsSync(SCORER_SCRIPT)) {
  console.log("encoding samples: not here, nothing scored");
  process.exit(0);
}
if (!existsSync(resolvePath("../dist/engine/index.node.js"))) {
  console.error("encoding samples: run `npm run build` first");
  process.exit(1);
}
const scorerRun = spawnSync(
  process.execPath,
  [SCORER_SCRIPT, "--engine", resolvePath("lib/encoding-engine.mjs")],
  {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  },
);
process.stdout.write(scorerRun.stdout);
const scorerResult = JSON.parse(scorerRun.stdout.match(/^RESULT (.*)$/m)?.[1] ?? "null");
if (scorerResult === null) process.exit(1);
const rightSamples = scorerResult.text_right + scorerResult.binary_right;
const totalSamples = scorerResult.text_total + scorerResult.binary_total;
console.log(`encoding samples: ${rightSamples} of ${totalSamples} right`);
process.exit(rightSamples >= 0.97 * totalSamples ? 0 : 1);
