// The platforms for which the native addon is released. package.json lists them, as targets of the
// compiler, in `napi.targets`; everything else about them follows from their names.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { BuildError, root } from "../lib/run.mjs";

/** The oldest glibc on which the addon loads: that of RHEL 7. Older ones do not run Node 20. */
export const MIN_GLIBC = "2.17";

/** The oldest macOS on which the addon loads. */
export const MIN_MACOS = "11.0";

/** The names that Node gives to the processors of compiler targets. */
const NODE_ARCH_BY_CPU = { x86_64: "x64", aarch64: "arm64" };

/**
 * One platform of a release.
 * @typedef {{
 *   triple: string,
 *   platform: string,
 *   os: "linux" | "darwin",
 *   cpu: string,
 *   arch: string,
 *   libc?: "gnu" | "musl",
 * }} ReleaseTarget
 *   `triple` is the compiler's name of the target, `platform` that of the package with its addon;
 *   `cpu` and `arch` are the compiler's and Node's names of the processor
 */

/**
 * Returns what the name of a compiler target says.
 * @returns {ReleaseTarget}
 */
export function parseTarget(triple) {
  const match = /^(\w+)-(?:unknown-(linux)-(gnu|musl)|apple-(darwin))$/u.exec(triple);
  const arch = NODE_ARCH_BY_CPU[match?.[1]];
  if (arch === undefined) throw new BuildError(`no addon can be built for ${triple}`);
  const [, cpu, linux, libc, darwin] = match;
  const os = linux ?? darwin;
  const platform = [os, arch, libc].filter(Boolean).join("-");
  return { triple, platform, os, cpu, arch, ...(libc && { libc }) };
}

/**
 * Returns the platforms of a release, in the order of package.json.
 *
 * @param {readonly string[]} platforms only these, by their names such as `linux-x64-gnu`; empty: all
 * @returns {ReleaseTarget[]}
 */
export function releaseTargets(platforms = []) {
  const { napi } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const targets = napi.targets.map(parseTarget);
  const unknown = platforms.filter((name) => !targets.some(({ platform }) => platform === name));
  if (unknown.length > 0) {
    const known = targets.map(({ platform }) => platform).join(", ");
    throw new BuildError(`there is no addon for ${unknown.join(", ")}; the platforms are ${known}`);
  }
  return platforms.length === 0 ? targets : targets.filter(({ platform }) => platforms.includes(platform));
}

/** Returns the name of the package with the addon of a platform, such as `linux-x64-gnu`. */
export const addonPackageName = (platform) => `@filewright/native-${platform}`;

/** Returns the name of the file of a platform's addon, as napi-rs expects it. */
export const addonFileName = ({ platform }) => `filewright.${platform}.node`;
