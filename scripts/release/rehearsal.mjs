// The rehearsal of a release: builds, packs and tries here what the release workflow publishes from
// its runners. Publishes nothing.
import { BuildError, runAndWait } from "../lib/run.mjs";

/**
 * The steps in their order: a name, a program and its arguments.
 * @type {readonly (readonly [string, string, ...string[]])[]}
 */
const STEPS = [
  ["versions", process.execPath, "scripts/release.mjs", "--check"],
  ["addons of all platforms", process.execPath, "scripts/release/rehearse-addons.mjs"],
  ["packages of npm, not uploaded", "npm", "publish", "--dry-run", "--ignore-scripts", "--loglevel=warn"],
];

/** Runs every step, and stops at the first that fails, because the later ones need its files. */
export function rehearse() {
  for (const [name, command, ...args] of STEPS) {
    console.log(`begun: ${name}`);
    const started = performance.now();
    const { status } = runAndWait(command, args, { check: false });
    if (status !== 0) throw new BuildError(`the rehearsal failed in: ${name}`);
    console.log(`${name}: done (${((performance.now() - started) / 1000).toFixed(1)} s)\n`);
  }
  console.log(`${STEPS.length} passed, 0 failed`);
}
