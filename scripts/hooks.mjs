// Installs a git hook that runs checks before each commit: format and lint of the staged files, and
// the directions of imports. They take under three seconds.
//
//   npm run hooks            installs them
//   npm run hooks -- --run   runs them (the installed hook does this)
import { chmodSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { bin, BuildError, main, root, run } from "./lib/run.mjs";

const HOOK = "#!/bin/sh\n# Installed by `npm run hooks`.\nexec node scripts/hooks.mjs --run\n";

function install() {
  const { stdout } = run("git", ["rev-parse", "--git-path", "hooks"], { capture: true });
  const file = join(resolve(root, stdout.trim()), "pre-commit");
  try {
    writeFileSync(file, HOOK, { flag: "wx" });
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    throw new BuildError(`${file} exists; add 'node scripts/hooks.mjs --run' to it`);
  }
  chmodSync(file, 0o755);
  console.log(`installed ${file}`);
}

function check() {
  const lint = ["check", "--staged", "--no-errors-on-unmatched", "--error-on-warnings"];
  const ok = [
    run(bin("biome"), lint, { check: false }),
    run(process.execPath, ["scripts/arrows.mjs"], { check: false }),
  ].every(({ status }) => status === 0);
  if (!ok) process.exitCode = 1;
}

await main(() => (process.argv.includes("--run") ? check() : install()));
