// Runs the contract suite and the first uses of a workspace (use-package.mjs) with an addon, on a
// Node of the addon's platform: this machine's own, one with another C library, or an emulated one.
//
//   node scripts/release/try-addon.mjs [PLATFORM...]   default: all that can run on this machine
//     --addons DIR     the folder with the addons; default: .cache/release/addons
//     --tarballs DIR   instead: the tarballs of a release, which are installed first
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { readArguments } from "../lib/arguments.mjs";
import { buildTypeScript } from "../build.mjs";
import { BuildError, runAndWait, runScript, root } from "../lib/run.mjs";
import { ADDONS_FOLDER } from "./cross-build.mjs";
import { nodeCommand } from "./foreign-node.mjs";
import { findTarballs, installTarballs } from "./channels/tarballs.mjs";
import { addonFileName, releaseTargets } from "./targets.mjs";

/**
 * What was found on one platform.
 * @typedef {{
 *   node: string,
 *   contract: { passed: number, cases: number },
 *   uses: { passed: number, cases: number },
 *   engine: string,
 *   resolver?: string,
 *   kernel?: string,
 *   seconds: number,
 *   failures: string[],
 * }} Trial
 *   `resolver` is how paths are confined, `kernel` how far the kernel restricts the addon's threads
 */

/**
 * Tries the addon of a platform.
 *
 * @param {import("./targets.mjs").ReleaseTarget} target
 * @param {{ addons?: string, installed?: string }} options `addons` is the folder with the addons;
 *   `installed` is the folder of an installed package, which loads the addon that is installed with it
 * @returns {Trial | undefined} undefined if no Node for the platform runs on this machine
 * @throws BuildError if a case failed, with all that did
 */
export function tryAddon(target, { addons = ADDONS_FOLDER, installed } = {}) {
  const command = nodeCommand(target);
  if (command === undefined) return undefined;
  const addon = resolve(root, addons, addonFileName(target));
  if (installed === undefined && !existsSync(addon)) {
    throw new BuildError(`${addon} is missing; run: node scripts/release/cross-build.mjs ${target.platform}`);
  }
  const home = mkdtempSync(join(tmpdir(), "filewright-try-home-"));
  const script = join(root, "scripts/release/use-package.mjs");
  const [program, ...args] = [...command, script, installed ?? root];
  try {
    const { status, stdout, stderr } = runAndWait(program, args, {
      capture: true,
      check: false,
      // Nothing of this user, such as settings or grants, takes part.
      env: { HOME: home, XDG_STATE_HOME: undefined, FILEWRIGHT_ENGINE: installed ? undefined : addon },
    });
    const trial = lastLineAsJson(stdout);
    if (status !== 0 || trial === undefined) {
      throw new BuildError(`${target.platform}: Node ended with status ${status}\n${stdout}${stderr}`);
    }
    const failures = [...trial.failures];
    if (trial.engine !== "native") failures.push(`the engine is ${trial.engine}, not the addon`);
    if (failures.length > 0) throw new BuildError(`${target.platform}:\n  ${failures.join("\n  ")}`);
    return trial;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * Tries the package and the addon of a platform as they are installed from the tarballs of a release.
 *
 * @param {import("./targets.mjs").ReleaseTarget} target
 * @param {string} tarballs the folder with the tarballs
 * @returns {Trial | undefined} as {@link tryAddon}
 */
export function tryTarballsFor(target, tarballs) {
  const folder = mkdtempSync(join(tmpdir(), "filewright-try-tarballs-"));
  try {
    installTarballs(findTarballs(resolve(root, tarballs)), [target.platform], folder);
    return tryAddon(target, { installed: join(folder, "node_modules/filewright") });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the value that the last line of an output contains, or undefined. */
function lastLineAsJson(output) {
  try {
    return JSON.parse(output.trim().split("\n").at(-1));
  } catch {
    return undefined;
  }
}

/** Returns what a trial found, for people. */
export function describeTrial({ node, contract, uses, resolver, kernel }) {
  const counts = `${contract.passed} of ${contract.cases} contract, ${uses.passed} of ${uses.cases} uses`;
  return `${counts}; ${node}, ${resolver}, Landlock ${kernel}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(async () => {
    const { flags, rest } = readArguments(process.argv.slice(2), {
      "--addons": { value: "DIR", description: "the folder with the addons" },
      "--tarballs": { value: "DIR", description: "the tarballs of a release, instead" },
    });
    const tarballs = flags["--tarballs"];
    if (tarballs === undefined) await buildTypeScript();
    for (const target of releaseTargets(rest)) {
      const trial =
        tarballs === undefined
          ? tryAddon(target, { addons: flags["--addons"] })
          : tryTarballsFor(target, tarballs);
      const found = trial === undefined ? "cannot run on this machine" : describeTrial(trial);
      console.log(`${target.platform}: ${found}`);
    }
  });
}
