// Writes the version of a release to every file that has it, unless the checkout is not ready.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { BuildError } from "../lib/run.mjs";
import { lastVersionBesides, releaseNotes } from "./changelog.mjs";
import { agreedVersion, compareVersions, isVersion, setVersion } from "./version.mjs";

/**
 * Writes a version to every file that has one.
 *
 * @param {string} root of the checkout
 * @param {string} version
 * @returns {readonly string[]} the files that were written
 * @throws BuildError if something is not committed, the version is not above all that were released, or
 *   CHANGELOG.md has no dated section for it; nothing is written then
 */
export function prepareRelease(root, version) {
  if (!isVersion(version)) throw new BuildError(`'${version}' is not a version like 1.2.3`);
  const changed = gitLines(root, "status", "--porcelain");
  if (changed.length > 0) {
    throw new BuildError(`the checkout has changes that are not committed:\n  ${changed.join("\n  ")}`);
  }
  const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  for (const last of [lastTaggedVersion(root), lastVersionBesides(changelog, version)]) {
    if (last !== undefined && compareVersions(version, last) <= 0) {
      throw new BuildError(`${version} is not above ${last}, which was released`);
    }
  }
  const current = agreedVersion(root);
  if (compareVersions(version, current) < 0) {
    throw new BuildError(`${version} is below ${current} of package.json`);
  }
  readReleaseNotes(root, version);
  return setVersion(root, version);
}

/**
 * Returns the text of the dated section of CHANGELOG.md for a version.
 *
 * @param {string} root of the checkout
 * @param {string} version
 */
export const readReleaseNotes = (root, version) =>
  releaseNotes(
    readFileSync(join(root, "CHANGELOG.md"), "utf8"),
    version,
    new Date().toISOString().slice(0, 10),
  );

/**
 * Returns the version of a checkout, which has to be that of the tag if one is given.
 *
 * @param {string} root of the checkout
 * @param {string | undefined} tag
 */
export function checkedVersion(root, tag) {
  const version = agreedVersion(root);
  if (tag !== undefined && tag !== `v${version}`) {
    throw new BuildError(`the tag ${tag} does not fit the version ${version}`);
  }
  return version;
}

/** Returns the highest version that has a tag; undefined if none has. */
function lastTaggedVersion(root) {
  const versions = gitLines(root, "tag", "--list", "v*").map((tag) => tag.slice(1));
  return versions.filter(isVersion).sort(compareVersions).at(-1);
}

const gitLines = (root, ...args) =>
  execFileSync("git", args, { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((line) => line !== "");
