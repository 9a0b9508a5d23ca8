// The rehearsal of a release: builds, packs and tries here what the release workflow publishes from
// its runners. Publishes nothing. It needs what scripts/release/tools.mjs installs.
import { npmProgram, BuildError, runAndWait } from "../lib/run.mjs";

const RELEASE_FOLDER = ".cache/release";
const TARBALLS = `${RELEASE_FOLDER}/tarballs`;

/** Returns a step that runs one of our scripts. */
const script = (name, path, ...args) => ({ name, command: process.execPath, args: [path, ...args] });

/**
 * Returns the steps in their order.
 *
 * @param {{ built: boolean }} options `built`: take the addons of an earlier run, whose build takes most of the time
 * @returns {readonly { name: string, command: string, args: readonly string[] }[]}
 */
export const rehearsalSteps = ({ built }) => [
  script("versions", "scripts/release.mjs", "--check"),
  script("workflows", "scripts/lint-workflows.mjs"),
  script("addons, built and tried", "scripts/release/rehearse-addons.mjs", ...(built ? ["--built"] : [])),
  script(
    "packages of npm",
    "scripts/release/pack.mjs",
    ...["--addons", `${RELEASE_FOLDER}/addons`, "--output", TARBALLS, "--all"],
  ),
  script("packages of npm, not uploaded", "scripts/release/publish.mjs", TARBALLS, "--dry-run"),
  script("packages of npm, installed", "scripts/release/try-tarballs.mjs", TARBALLS),
  script("packages of npm, on every platform", "scripts/release/try-addon.mjs", "--tarballs", TARBALLS),
  script("an application of Next.js", "scripts/release/try-bundlers.mjs"),
  script("without an addon, with the Node of Windows", "scripts/release/windows-in-wine.mjs"),
  script("Python wheels", "scripts/release/channels/wheel.mjs", TARBALLS, `${RELEASE_FOLDER}/wheels`),
  script("MCP bundle", "scripts/release/channels/mcpb.mjs", TARBALLS, `${RELEASE_FOLDER}/bundle`),
  script("image", "scripts/release/channels/image.mjs", TARBALLS, `${RELEASE_FOLDER}/image.tar`),
  script("image, tried", "scripts/release/channels/try-image.mjs", `${RELEASE_FOLDER}/image.tar`),
  {
    name: "every state of an installation, wheels and bundle as users install them",
    command: npmProgram("vitest"),
    args: [
      ...["run", "--project", "packed", "test/installed"],
      ...["test/package/wheel.slow.test.ts", "test/package/mcpb.slow.test.ts"],
    ],
  },
];

/**
 * Runs every step, and stops at the first that fails, because the later ones need its files.
 *
 * @param {{ built?: boolean }} options as for {@link rehearsalSteps}
 * @throws BuildError naming the step that failed
 */
export function rehearse({ built = false } = {}) {
  const steps = rehearsalSteps({ built });
  for (const { name, command, args } of steps) {
    console.log(`begun: ${name}`);
    const started = performance.now();
    const { status } = runAndWait(command, args, { check: false });
    if (status !== 0) throw new BuildError(`the rehearsal failed in: ${name}`);
    console.log(`${name}: done (${((performance.now() - started) / 1000).toFixed(1)} s)\n`);
  }
  console.log(`${steps.length} passed, 0 failed`);
}
