// Installs the tarballs of a release into an empty folder, as npm does for a user of this machine, and tries what was
// installed: the contract suite and the first uses of a workspace (use-package.mjs).
//
//   node scripts/release/try-tarballs.mjs TARBALLS
//     --platform NAME   the platform that this machine must have; default: the one that it has
//
// Needs Node, npm and a checkout without node_modules, so that it runs in any image with Node.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readArguments } from "../lib/arguments.mjs";
import { platformName } from "../lib/platform.mjs";
import { BuildError, runAndWait, runScript } from "../lib/run.mjs";
import { findTarballs } from "./channels/tarballs.mjs";
import { releaseTargets } from "./targets.mjs";
import { describeTrial, tryAddon } from "./try-addon.mjs";

/**
 * Installs and tries the tarballs in a folder.
 *
 * @param {string} folder
 * @param {string} platform as scripts/lib/platform.mjs names this machine's
 * @returns {import("./try-addon.mjs").Trial}
 * @throws BuildError if a case fails, or this machine has another platform
 */
export function tryTarballs(folder, platform) {
  if (platform !== platformName()) {
    throw new BuildError(`this machine is ${platformName()}, not ${platform}`);
  }
  const [target] = releaseTargets([platform]);
  const { main, addons } = findTarballs(folder);
  if (!addons.has(platform)) throw new BuildError(`${folder} has no addon for ${platform}`);
  const home = realpathSync(mkdtempSync(join(tmpdir(), "filewright-tarballs-")));
  try {
    writeFileSync(join(home, "package.json"), '{ "private": true }\n');
    const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    runAndWait("npm", ["install", "--prefix", home, ...quiet, main, addons.get(platform)]);
    return tryAddon(target, { installed: join(home, "node_modules/filewright") });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(() => {
    const { flags, rest } = readArguments(process.argv.slice(2), {
      "--platform": { value: "NAME", description: "the platform that this machine must have" },
    });
    if (rest.length !== 1) throw new BuildError("usage: node scripts/release/try-tarballs.mjs TARBALLS");
    const platform = flags["--platform"] ?? platformName();
    console.log(`${platform}: ${describeTrial(tryTarballs(rest[0], platform))}`);
  });
}
