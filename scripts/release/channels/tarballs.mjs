// The npm tarballs of a release, which scripts/release/pack.mjs makes. The packages for other ways of
// installing (wheels, the MCP bundle, the image) contain the files of these tarballs and no others.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { BuildError } from "../../lib/run.mjs";
import { addonPackageName } from "../targets.mjs";

const VERSION = String.raw`\d+\.\d+\.\d+(?:-[\w.]+)?`;
const MAIN = new RegExp(`^filewright-(${VERSION})\\.tgz$`);
const STORAGE = new RegExp(`^filewright-storage-(${VERSION})\\.tgz$`);
const ADDON = new RegExp(`^filewright-native-([a-z0-9-]+?)-(${VERSION})\\.tgz$`);

/** Where an installed package has the program that `filewright` runs. */
export const PROGRAM = "node_modules/filewright/dist/bin/filewright.js";

/**
 * Finds the tarballs of one version in a folder.
 *
 * @param {string} folder
 * @returns {{ version: string, main: string, storage: string, addons: Map<string, string> }} the paths; those of the addons
 *   by platform, such as `linux-x64-gnu`
 */
export function findTarballs(folder) {
  const names = readdirSync(folder);
  const [main, another] = names.map((name) => MAIN.exec(name)).filter((match) => match !== null);
  if (main === undefined || another !== undefined)
    throw new BuildError(`${folder} must hold one filewright-VERSION.tgz`);
  const [, version = ""] = main;
  const storage = names.find((name) => STORAGE.exec(name)?.[1] === version);
  if (storage === undefined) throw new BuildError(`${folder} has no filewright-storage-${version}.tgz`);
  const addons = new Map();
  for (const match of names.map((name) => ADDON.exec(name)).filter((one) => one !== null)) {
    const [name, platform, addonVersion] = match;
    if (addonVersion !== version) throw new BuildError(`${name} is not of version ${version}`);
    addons.set(platform, resolve(folder, name));
  }
  return { version, main: resolve(folder, main[0]), storage: resolve(folder, storage), addons };
}

/**
 * Installs the package and the addons of some platforms in `folder`, as npm would, but without npm: a
 * release is built for other platforms than the one that builds it.
 *
 * @param {{ main: string, addons: Map<string, string> }} tarballs
 * @param {Iterable<string>} platforms
 * @param {string} folder
 */
export function installTarballs({ main, addons }, platforms, folder) {
  unpack(main, join(folder, "node_modules/filewright"));
  for (const platform of platforms) {
    const addon = addons.get(platform);
    if (addon === undefined) throw new BuildError(`there is no tarball of the addon for ${platform}`);
    unpack(addon, join(folder, "node_modules", addonPackageName(platform)));
  }
}

function unpack(tarball, folder) {
  mkdirSync(folder, { recursive: true });
  execFileSync("tar", ["-xzf", tarball, "-C", folder, "--strip-components=1", "--no-same-owner"]);
}
