// Checks that an addon can be released, that is, that every machine of its platform can load it, and
// that it contains neither the path of the checkout nor that of cargo's sources.
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { BuildError, root } from "../lib/run.mjs";
import { inspectElf, readElf } from "./elf.mjs";
import { inspectMachO } from "./mach-o.mjs";

/** How large an addon may be in its package. */
export const MAX_PACKED_BYTES = 3_500_000;

/** The folders of sources whose paths the build replaces, and what it replaces each with. None may occur in an addon. */
export const REMAPPED_FOLDERS = {
  [root]: "",
  [join(process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "registry/src/")]: "crates/",
};

/**
 * An addon that can be released. `packedBytes` is its size with gzip, close to that of its package; `description` tells what it
 * needs from the system that loads it.
 * @typedef {{ file: string, bytes: number, packedBytes: number, description: string }} Addon
 */

/**
 * Checks an addon.
 *
 * @param {string} file
 * @param {import("./targets.mjs").ReleaseTarget} target
 * @param {{ profile?: string }} options the profile with which it was built; only one built as it is
 *   published has to be small
 * @returns {Addon}
 * @throws BuildError with everything that is wrong with it
 */
export function inspectAddon(file, target, { profile = "release" } = {}) {
  if (!existsSync(file)) throw new BuildError(`${file} is missing`);
  const content = readFileSync(file);
  const { problems, description } =
    target.os === "darwin" ? inspectMachO(content, target) : inspectElf(readElf(file), target);
  for (const path of Object.keys(REMAPPED_FOLDERS)) {
    if (content.includes(path)) problems.push(`contains a path of this machine, below ${path}`);
  }
  if (!content.includes("napi_register_module_v1")) problems.push("is no addon of Node");
  const packedBytes = gzipSync(content, { level: 9 }).length;
  if (profile === "release" && packedBytes > MAX_PACKED_BYTES)
    problems.push(`is too large: ${megabytes(packedBytes)} packed`);
  if (problems.length > 0) {
    throw new BuildError(
      `the addon for ${target.platform} cannot be released:\n  it ${problems.join("\n  it ")}`,
    );
  }
  return { file, bytes: content.length, packedBytes, description };
}

/** Returns a size in megabytes, for people. */
export const megabytes = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`;
