// Installs the npm tarballs of a release into an empty folder and runs the contract suite and the first uses of a
// workspace (use-package.mjs) with the installed package. In contrast to `try-addon.mjs --tarballs`, which unpacks
// the tarballs for any platform, npm itself installs them, and only for the platform of this machine.
//
//   node scripts/release/try-tarballs.mjs TARBALLS
//     --platform NAME   fail unless this machine has this platform; default: the platform of this machine
//
// Needs Node, npm and a checkout. The checkout needs no node_modules, so that the script runs in any container image
// with Node.
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
 * @param {string} platform the platform that this machine must have, in the form of `platformName`
 * @returns {import("./try-addon.mjs").Trial}
 * @throws BuildError if this machine has another platform, its addon has no tarball, or a case fails
 */
export function tryTarballs(folder, platform) {
  if (platform !== platformName()) {
    throw new BuildError(`this machine is ${platformName()}, not ${platform}`);
  }
  const [target] = releaseTargets([platform]);
  const { main, storage, addons } = findTarballs(folder);
  if (!addons.has(platform)) throw new BuildError(`${folder} has no addon for ${platform}`);
  const installFolder = realpathSync(mkdtempSync(join(tmpdir(), "filewright-tarballs-")));
  try {
    writeFileSync(join(installFolder, "package.json"), '{ "private": true }\n');
    // Without install scripts, the trial also shows that no package needs one.
    const npmFlags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    // The addon is named as well: npm would look for this optional dependency in the registry, which may not have it.
    runAndWait("npm", [
      "install",
      "--prefix",
      installFolder,
      ...npmFlags,
      main,
      storage,
      addons.get(platform),
    ]);
    return tryAddon(target, { installed: join(installFolder, "node_modules/filewright") });
  } finally {
    rmSync(installFolder, { recursive: true, force: true });
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
