// The rehearsal of a release: builds, packs and tries here what the release workflow publishes from
// its runners. Publishes nothing. It needs what scripts/release/tools.mjs installs.
import { BuildError, runAndWait } from "../lib/run.mjs";

const TARBALLS = ".cache/release/tarballs";

/**
 * The steps in their order: a name, a program and its arguments. The addons take most of the time.
 * @type {readonly (readonly [string, string, ...string[]])[]}
 */
const STEPS = [
  ["versions", process.execPath, "scripts/release.mjs", "--check"],
  ["workflows", process.execPath, "scripts/lint-workflows.mjs"],
  ["addons, built and tried", process.execPath, "scripts/release/rehearse-addons.mjs"],
  [
    "packages of npm",
    process.execPath,
    ...["scripts/release/pack.mjs", "--addons", ".cache/release/addons", "--output", TARBALLS, "--all"],
  ],
  ["packages of npm, not uploaded", process.execPath, "scripts/release/publish.mjs", TARBALLS, "--dry-run"],
  ["packages of npm, installed", process.execPath, "scripts/release/try-tarballs.mjs", TARBALLS],
  [
    "packages of npm, on every platform",
    process.execPath,
    ...["scripts/release/try-addon.mjs", "--tarballs", TARBALLS],
  ],
  [
    "Python wheels",
    process.execPath,
    "scripts/release/channels/wheel.mjs",
    TARBALLS,
    ".cache/release/wheels",
  ],
  ["MCP bundle", process.execPath, "scripts/release/channels/mcpb.mjs", TARBALLS, ".cache/release/bundle"],
  ["image", process.execPath, "scripts/release/channels/image.mjs", TARBALLS, ".cache/release/image.tar"],
  ["image, tried", process.execPath, "scripts/release/channels/try-image.mjs", ".cache/release/image.tar"],
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
