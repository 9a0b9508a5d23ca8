// The places that have the version of Filewright, and how each is read and written. Only the digits
// of the version change, so that a diff of a release has nothing else.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { applyEdits, modify, parse as parseJson } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { BuildError } from "../lib/run.mjs";

const VERSION_PATTERN = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)$/u;

/** Returns whether a text is a version as we publish it: three numbers, no suffix. @param {string} text */
export const isVersion = (text) => VERSION_PATTERN.test(text);

/**
 * Returns a negative number if the first version is lower, 0 if they are equal, else a positive one.
 *
 * @param {string} left
 * @param {string} right
 */
export function compareVersions(left, right) {
  const numbers = right.split(".").map(Number);
  const differences = left.split(".").map((part, index) => Number(part) - numbers[index]);
  return differences.find((difference) => difference !== 0) ?? 0;
}

/**
 * A file with the version. `read` returns each version in it by its place in the file, `write` the
 * text with another version. A file that is `optional` may be missing.
 * @typedef {{
 *   file: string,
 *   optional?: boolean,
 *   read: (text: string) => Readonly<Record<string, unknown>>,
 *   write: (text: string, version: string) => string,
 * }} VersionFile
 */

/** The name of each crate of this workspace begins with it. */
const OWN_CRATE = "filewright-";

/** @type {readonly VersionFile[]} */
export const VERSION_FILES = [
  jsonFile("package.json", () => [["version"]]),
  jsonFile("packages/storage/package.json", () => [["version"], ["peerDependencies", "filewright"]]),
  jsonFile("package-lock.json", () => [
    ["version"],
    ["packages", "", "version"],
    ["packages", "packages/storage", "version"],
    ["packages", "packages/storage", "peerDependencies", "filewright"],
  ]),
  {
    file: "js/engine/generated/version.ts",
    read: (text) => ({ VERSION: /VERSION = "([^"]*)"/u.exec(text)?.[1] }),
    write: (text, version) => text.replace(/(VERSION = ")[^"]*/u, `$1${version}`),
  },
  {
    file: "Cargo.toml",
    read: (text) => ({ "workspace.package.version": parseToml(text).workspace?.package?.version }),
    write: (text, version) =>
      text.replace(/^(\[workspace\.package\]\n(?:[^[\n].*\n|\n)*?version = ")[^"]*/mu, `$1${version}`),
  },
  {
    file: "Cargo.lock",
    read: (text) =>
      Object.fromEntries(
        parseToml(text)
          .package.filter(({ name, source }) => name.startsWith(OWN_CRATE) && source === undefined)
          .map(({ name, version }) => [name, version]),
      ),
    write: (text, version) =>
      text.replaceAll(/^(name = "filewright-[^"]*"\nversion = ")[^"]*(?="\n(?!source))/gmu, `$1${version}`),
  },
];

/**
 * Returns the description of a JSON file whose versions are at some paths in it.
 *
 * @param {string} file
 * @param {(value: any) => readonly (readonly (string | number)[])[]} paths of the versions, found in the parsed file
 * @param {{ optional?: boolean }} more
 * @returns {VersionFile}
 */
function jsonFile(file, paths, more = {}) {
  return {
    file,
    ...more,
    read: (text) => {
      const value = parseJson(text);
      const at = (path) => path.reduce((inner, key) => inner?.[key], value);
      return Object.fromEntries(paths(value).map((path) => [path.join("."), at(path)]));
    },
    write: (text, version) =>
      paths(parseJson(text)).reduce(
        (left, path) => applyEdits(left, modify(left, [...path], version, {})),
        text,
      ),
  };
}

/**
 * Returns every version that the files of a checkout have.
 *
 * @param {string} root of the checkout
 * @returns {readonly { file: string, place: string, version: string }[]}
 * @throws BuildError if a file is missing, or a place in it has no version
 */
export function readVersions(root) {
  return presentFiles(root).flatMap(({ file, read }) => {
    const places = Object.entries(read(readFileSync(join(root, file), "utf8")));
    if (places.length === 0) throw new BuildError(`${file} has no version of ours`);
    return places.map(([place, version]) => {
      if (typeof version !== "string" || !isVersion(version)) {
        throw new BuildError(`${file}: ${place} is ${JSON.stringify(version)}, not a version like 1.2.3`);
      }
      return { file, place, version };
    });
  });
}

/**
 * Returns the one version of a checkout.
 *
 * @param {string} root of the checkout
 * @throws BuildError if two places differ
 */
export function agreedVersion(root) {
  const versions = readVersions(root);
  const [{ version }] = versions;
  const others = versions.filter((one) => one.version !== version);
  if (others.length > 0) {
    const list = others.map((one) => `${one.file}: ${one.place} is ${one.version}`).join("\n  ");
    throw new BuildError(`package.json has the version ${version}, but\n  ${list}`);
  }
  return version;
}

/**
 * Writes a version to every place of a checkout.
 *
 * @param {string} root of the checkout
 * @param {string} version
 * @returns {readonly string[]} the files that were written
 */
export function setVersion(root, version) {
  const files = presentFiles(root);
  for (const { file, write } of files) {
    const text = readFileSync(join(root, file), "utf8");
    writeFileSync(join(root, file), write(text, version));
  }
  if (agreedVersion(root) !== version)
    throw new BuildError(`package.json did not take the version ${version}`);
  return files.map(({ file }) => file);
}

/** Returns the files that a checkout has. */
const presentFiles = (root) =>
  VERSION_FILES.filter(({ file, optional }) => !optional || existsSync(join(root, file)));
