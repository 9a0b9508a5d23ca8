// Installs git hooks. `pre-commit` checks before each commit the format and lint of the staged files and
// the directions of imports, which takes under three seconds; `commit-msg` checks the subject.
//
//   npm run hooks            installs them
//   npm run hooks -- --run   runs the checks before a commit (the installed hook does this)
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { npmProgram, BuildError, runScript, root, runAndWait } from "./lib/run.mjs";

/** The command of each hook. */
const COMMAND_BY_HOOK = {
  "pre-commit": "node scripts/hooks.mjs --run",
  "commit-msg": 'node scripts/commit-subjects.mjs --message "$1"',
};

/** Writes one hook, unless it is there; a hook with another content stays as it is. */
function installHook(folder, name, command) {
  const file = join(folder, name);
  const script = `#!/bin/sh\n# Installed by \`npm run hooks\`.\nexec ${command}\n`;
  if (existsSync(file) && readFileSync(file, "utf8") !== script)
    throw new BuildError(`${file} exists; add '${command}' to it`);
  writeFileSync(file, script);
  chmodSync(file, 0o755);
  console.log(`installed ${file}`);
}

function installHooks() {
  const { stdout } = runAndWait("git", ["rev-parse", "--git-path", "hooks"], { capture: true });
  const folder = resolve(root, stdout.trim());
  mkdirSync(folder, { recursive: true });
  for (const [name, command] of Object.entries(COMMAND_BY_HOOK)) installHook(folder, name, command);
}

function checkStagedFiles() {
  const lint = ["check", "--staged", "--no-errors-on-unmatched", "--error-on-warnings"];
  const ok = [
    runAndWait(npmProgram("biome"), lint, { check: false }),
    runAndWait(process.execPath, ["scripts/arrows.mjs"], { check: false }),
  ].every(({ status }) => status === 0);
  if (!ok) process.exitCode = 1;
}

await runScript(() => (process.argv.includes("--run") ? checkStagedFiles() : installHooks()));
