// Scores an engine on a corpus that the repository does not contain, with the scorer of the corpus.
//
//   node test/deep/scores/run.mjs edit|encoding|patch SCORER [options of the scorer]
//
// SCORER is a script that takes `--engine FILE`; FILE is the engine in the form that scorers call, and lies in this
// folder. The exit status is that of the scorer. Needs a built checkout.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { BuildError, root, runScript } from "../../../scripts/lib/run.mjs";

const KINDS = ["edit", "encoding", "patch"];

await runScript(() => {
  const [kind, scorer, ...options] = process.argv.slice(2);
  if (!KINDS.includes(kind)) throw new BuildError(`name an engine: ${KINDS.join(", ")}`);
  if (scorer === undefined || !existsSync(scorer))
    throw new BuildError("name the script that scores the corpus");
  const engine = join(root, `test/deep/scores/${kind}.mjs`);
  const { status } = spawnSync(process.execPath, [scorer, "--engine", engine, ...options], {
    stdio: "inherit",
  });
  process.exitCode = status ?? 1;
});
