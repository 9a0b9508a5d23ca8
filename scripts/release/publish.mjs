// Publishes the npm tarballs of a release: the addons first, because the main package depends on them, and last the
// storages, which need the main package.
//
//   node scripts/release/publish.mjs TARBALLS
//     --dry-run   uploads nothing
//
// What the registry has already is left out, so that a run that broke off can be repeated.
import { pathToFileURL } from "node:url";
import { readArguments } from "../lib/arguments.mjs";
import { BuildError, root, runAndWait, runScript } from "../lib/run.mjs";
import { findTarballs } from "./channels/tarballs.mjs";
import { addonPackageName, releaseTargets } from "./targets.mjs";
import { checkedVersion } from "./prepare.mjs";

/** Only a workflow can prove where a package comes from; npm refuses to try elsewhere. */
const PROVENANCE = `--provenance=${process.env.GITHUB_ACTIONS === "true"}`;

/**
 * Returns the packages of a release in the order in which they are published.
 *
 * @param {{ version: string, main: string, storage: string, addons: ReadonlyMap<string, string> }} tarballs
 * @param {readonly string[]} platforms of the release
 * @returns {readonly { name: string, file: string }[]}
 * @throws BuildError if the tarball of a platform is missing, or there is one of another platform
 */
export function publishingOrder({ main, storage, addons }, platforms) {
  const missing = platforms.filter((platform) => !addons.has(platform));
  const unknown = [...addons.keys()].filter((platform) => !platforms.includes(platform));
  if (missing.length > 0) throw new BuildError(`there is no addon for ${missing.join(", ")}`);
  if (unknown.length > 0) throw new BuildError(`no addon is released for ${unknown.join(", ")}`);
  return [
    ...platforms.map((platform) => ({ name: addonPackageName(platform), file: addons.get(platform) })),
    { name: "filewright", file: main },
    { name: "@filewright/storage", file: storage },
  ];
}

/**
 * Publishes the tarballs in a folder.
 *
 * @param {string} folder
 * @param {{ dryRun?: boolean }} options
 * @returns {number} how many packages there are
 */
export function publishTarballs(folder, { dryRun = false } = {}) {
  const tarballs = findTarballs(folder);
  const version = checkedVersion(root, undefined);
  if (tarballs.version !== version) {
    throw new BuildError(`${folder} has the version ${tarballs.version}, but this checkout has ${version}`);
  }
  const packages = publishingOrder(
    tarballs,
    releaseTargets().map(({ platform }) => platform),
  );
  for (const { name, file } of packages) {
    if (!dryRun && isPublished(name, version)) {
      console.log(`${name} ${version} is published already`);
      continue;
    }
    const flags = ["--access", "public", PROVENANCE, "--loglevel=warn", ...(dryRun ? ["--dry-run"] : [])];
    runAndWait("npm", ["publish", file, ...flags]);
  }
  return packages.length;
}

/** Returns whether the registry has this version of a package. */
const isPublished = (name, version) =>
  runAndWait("npm", ["view", `${name}@${version}`, "version"], {
    capture: true,
    check: false,
  }).stdout.trim() === version;

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(() => {
    const { flags, rest } = readArguments(process.argv.slice(2), {
      "--dry-run": { description: "uploads nothing" },
    });
    if (rest.length !== 1)
      throw new BuildError("usage: node scripts/release/publish.mjs TARBALLS [--dry-run]");
    const count = publishTarballs(rest[0], { dryRun: flags["--dry-run"] === true });
    console.log(`${count} packages, ${flags["--dry-run"] ? "none uploaded" : "all published"}`);
  });
}
