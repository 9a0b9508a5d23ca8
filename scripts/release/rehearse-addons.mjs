// Builds the addons of all platforms, tries those that a Node on this machine can load, and prints a
// table of what came out. It is the part of a release that needs no account and changes nothing.
//
//   node scripts/release/rehearse-addons.mjs [PLATFORM...]
//     --profile dev-native   compiles faster; default: release
//     --output DIR           where the addons are put; default: .cache/release/addons
//     --built                tries the addons of an earlier run without building them
//
// The last line is `N passed, N failed`, with a platform as the unit.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { readArguments } from "../lib/arguments.mjs";
import { buildTypeScript } from "../build.mjs";
import { BuildError, runScript, root } from "../lib/run.mjs";
import { ADDONS_FOLDER, BUILD_FLAGS, buildAddon } from "./cross-build.mjs";
import { inspectAddon, megabytes } from "./inspect-addon.mjs";
import { addonFileName, releaseTargets } from "./targets.mjs";
import { describeTrial, tryAddon } from "./try-addon.mjs";

/**
 * What became of one platform. `error` says why its addon cannot be released; `trial` is absent where
 * nothing on this machine can load it.
 * @typedef {{
 *   platform: string,
 *   addon?: import("./inspect-addon.mjs").Addon & { seconds?: number },
 *   trial?: import("./try-addon.mjs").Trial,
 *   error?: string,
 * }} Rehearsal
 */

/**
 * Builds and tries the addons of a release, one platform after the other. A platform that fails does
 * not keep the others from being tried.
 *
 * @param {{ platforms?: readonly string[], profile?: string, output?: string, built?: boolean }} options
 *   `built` takes the addons that are in `output` already
 * @returns {Rehearsal[]}
 */
export function rehearseAddons({ platforms = [], profile, output = ADDONS_FOLDER, built = false } = {}) {
  return releaseTargets(platforms).map((target) => {
    const { platform } = target;
    try {
      const addon = built
        ? inspectAddon(resolve(root, output, addonFileName(target)), target, { profile })
        : buildAddon(target, { profile, output });
      return { platform, addon, trial: tryAddon(target, { addons: output }) };
    } catch (error) {
      if (!(error instanceof BuildError)) throw error;
      return { platform, error: error.message };
    }
  });
}

/** Returns a table of what became of each platform, and the errors below it. */
export function rehearsalTable(rehearsals) {
  const head = "| platform | size | packed | build | tried |\n|---|---|---|---|---|";
  const rows = rehearsals.map(({ platform, addon, trial, error }) => {
    if (error !== undefined) return `| ${platform} | | | | FAILED |`;
    const seconds = addon.seconds === undefined ? "" : `${addon.seconds} s`;
    const tried = trial === undefined ? "no, it is only linked and checked" : describeTrial(trial);
    const sizes = `${megabytes(addon.bytes)} | ${megabytes(addon.packedBytes)}`;
    return `| ${platform} | ${sizes} | ${seconds} | ${tried} |`;
  });
  const errors = rehearsals.flatMap(({ error }) => (error === undefined ? [] : [`\nerror: ${error}`]));
  return [head, ...rows, ...errors].join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(async () => {
    const { flags, rest } = readArguments(process.argv.slice(2), {
      ...BUILD_FLAGS,
      "--built": { description: "tries the addons of an earlier run" },
    });
    await buildTypeScript();
    const rehearsals = rehearseAddons({
      platforms: rest,
      profile: flags["--profile"],
      output: flags["--output"],
      built: flags["--built"],
    });
    console.log(rehearsalTable(rehearsals));
    const failed = rehearsals.filter(({ error }) => error !== undefined).length;
    console.log(`${rehearsals.length - failed} passed, ${failed} failed`);
    if (failed > 0) throw new BuildError("not every platform can be released");
  });
}
