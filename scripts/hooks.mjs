// Installs a git hook that runs checks before each commit: format and lint of the staged files, and
// the directions of imports. They take under three seconds.
//
//   npm run hooks            installs them
//   npm run hooks -- --run   runs them (the installed hook does this)
import { chmodSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { npmProgram, BuildError, runScript, root, runAndWait } from "./lib/run.mjs";

const HOOK_SCRIPT = "#!/bin/sh\n# Installed by `npm run hooks`.\nexec node scripts/hooks.mjs --run\n";

function installHook() {
  const { stdout } = runAndWait("git", ["rev-parse", "--git-path", "hooks"], { capture: true });
  const file = join(resolve(root, stdout.trim()), "pre-commit");
  try {
    writeFileSync(file, HOOK_SCRIPT, { flag: "wx" });
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    throw new BuildError(`${file} exists; add 'node scripts/hooks.mjs --run' to it`);
  }
  chmodSync(file, 0o755);
  console.log(`installed ${file}`);
}

function checkStagedFiles() {
  const lint = ["check", "--staged", "--no-errors-on-unmatched", "--error-on-warnings"];
  const ok = [
    runAndWait(npmProgram("biome"), lint, { check: false }),
    runAndWait(process.execPath, ["scripts/arrows.mjs"], { check: false }),
  ].every(({ status }) => status === 0);
  if (!ok) process.exitCode = 1;
}

await runScript(() => (process.argv.includes("--run") ? checkStagedFiles() : installHook()));
