// Builds the native addons of a release on one Debian machine, also those for other systems, and
// checks that each can be loaded where it is meant to be. macOS's are linked without Apple's tools.
//
//   node scripts/release/cross-build.mjs [PLATFORM...]   for example linux-arm64-musl; default: all
//     --profile dev-native   compiles faster; default: release, which is what is published
//     --output DIR           where the addons are put; default: .cache/release/addons
//
// `node scripts/release/tools.mjs` installs the programs it needs.
import { copyFileSync, mkdirSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { readArguments } from "../lib/arguments.mjs";
import { runAndWait, runScript, root } from "../lib/run.mjs";
import { buildStdEnvironment } from "../lib/rust-toolchain.mjs";
import { REMAPPED_FOLDERS, inspectAddon, megabytes } from "./inspect-addon.mjs";
import { INSTALL_NAME } from "./mach-o.mjs";
import { MIN_GLIBC, MIN_MACOS, addonFileName, releaseTargets } from "./targets.mjs";
import { crossToolchain, objcopyFolder, pythonTools } from "./tools.mjs";

/** Where the addons are put if nothing else is said. */
export const ADDONS_FOLDER = ".cache/release/addons";

/** Where cargo keeps what it has compiled for other platforms. */
const CARGO_FOLDER = ".cache/cross";

/** Returns the flags with which everything is compiled for a target. */
function rustFlags(target, toolchain) {
  const names = { ...REMAPPED_FOLDERS, [`${dirname(dirname(toolchain.sources))}/`]: "rust/library/" };
  const flags = Object.entries(names).map(([path, name]) => `--remap-path-prefix=${path}=${name}`);
  // A library that Node loads needs Node's C library, not one of its own.
  if (target.libc === "musl") flags.push("-Ctarget-feature=-crt-static");
  if (target.os === "darwin") flags.push(`-Clink-arg=-Wl,-install_name,${INSTALL_NAME}`);
  return flags;
}

/**
 * Builds the addon of one platform, checks it, and puts it into a folder.
 *
 * @param {import("./targets.mjs").ReleaseTarget} target
 * @param {{ profile?: string, output?: string }} options
 * @returns {import("./inspect-addon.mjs").Addon & { seconds: number }} `seconds` is the time of the build
 */
export function buildAddon(target, { profile = "release", output = ADDONS_FOLDER } = {}) {
  const toolchain = crossToolchain();
  const tools = pythonTools();
  const began = performance.now();
  console.error(`building the addon for ${target.platform} (${profile})`);
  runAndWait(
    tools.zigbuild,
    [
      ...["zigbuild", "--locked", "--package", "filewright-node", "--profile", profile],
      ...["--target", target.libc === "gnu" ? `${target.triple}.${MIN_GLIBC}` : target.triple],
      ...["--target-dir", CARGO_FOLDER],
    ],
    {
      env: {
        ...buildStdEnvironment(toolchain, "std,panic_unwind"),
        CARGO: toolchain.cargo,
        PATH: [tools.folder, objcopyFolder(), process.env.PATH].join(delimiter),
        CARGO_ZIGBUILD_ZIG_PATH: tools.zig,
        CARGO_ENCODED_RUSTFLAGS: rustFlags(target, toolchain).join("\u001f"),
        CARGO_INCREMENTAL: "0",
        [`CARGO_PROFILE_${profile.replaceAll("-", "_").toUpperCase()}_STRIP`]: "symbols",
        ...(target.os === "darwin" && { MACOSX_DEPLOYMENT_TARGET: MIN_MACOS }),
      },
    },
  );
  const seconds = Math.round((performance.now() - began) / 1000);
  const library = `libfilewright_node.${target.os === "darwin" ? "dylib" : "so"}`;
  // Cargo names the folder of this one profile otherwise.
  const folderOfProfile = profile === "dev" ? "debug" : profile;
  const built = join(root, CARGO_FOLDER, target.triple, folderOfProfile, library);
  const inspected = inspectAddon(built, target, { profile });
  const folder = resolve(root, output);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, addonFileName(target));
  copyFileSync(built, file);
  return { ...inspected, file, seconds };
}

/** @type {Readonly<Record<string, import("../lib/arguments.mjs").Flag>>} */
export const BUILD_FLAGS = {
  "--profile": { value: "NAME", description: "of Cargo.toml; default: release" },
  "--output": { value: "DIR", description: `where the addons are put; default: ${ADDONS_FOLDER}` },
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(() => {
    const { flags, rest } = readArguments(process.argv.slice(2), BUILD_FLAGS);
    const options = { profile: flags["--profile"], output: flags["--output"] };
    for (const target of releaseTargets(rest)) {
      const { bytes, packedBytes, seconds, description } = buildAddon(target, options);
      console.log(
        `${target.platform}: ${seconds} s, ${megabytes(bytes)}, packed ${megabytes(packedBytes)}; ${description}`,
      );
    }
  });
}
