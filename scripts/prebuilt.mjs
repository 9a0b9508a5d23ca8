// Takes an engine that was published instead of building one, where this machine has no Rust: the native addon,
// or else the WebAssembly module. Only what was built from the sources of this checkout, in its version, is taken.
//
// The packages come from the registry that npm is configured with, or from the folder of tarballs that
// FILEWRIGHT_PREBUILT names.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { platformName } from "./lib/platform.mjs";
import { BuildError, missingToolError, root, runAndWait } from "./lib/run.mjs";
import { sourcesHash } from "./release/sources.mjs";
import { addonPackageName, releaseTargets } from "./release/targets.mjs";

/** Keeps the hash of the sources of the modules that were taken. */
const WASM_MARK = ".cache/prebuilt-wasm";

/** The WebAssembly modules, and the scripts that load them. */
const WASM_FILES = /^filewright(?:_edit)?(?:_bg\.wasm|\.js|\.cjs)$/u;

/** The name that npm gives to the tarball of a package. */
const tarballName = (name, version) => `${name.replace(/^@/u, "").replace("/", "-")}-${version}.tgz`;

/** Puts the tarball of a package into a folder. Returns its path, or why there is none. */
function fetchTarball(name, version, folder) {
  const file = tarballName(name, version);
  const given = process.env.FILEWRIGHT_PREBUILT;
  if (given) {
    const path = resolve(given, file);
    return existsSync(path) ? { path } : { why: `the folder of FILEWRIGHT_PREBUILT has no ${file}` };
  }
  const args = ["pack", `${name}@${version}`, "--pack-destination", folder, "--silent", "--fetch-retries=0"];
  const { status } = runAndWait("npm", args, { capture: true, check: false });
  const path = join(folder, file);
  return status === 0 && existsSync(path) ? { path } : { why: `npm cannot get ${name}@${version}` };
}

/**
 * Unpacks a package if its binaries were built from the sources of this checkout, and hands its folder to `take`.
 *
 * @param {"native" | "wasm"} kind of the binaries
 * @returns {string | undefined} why the package was not taken
 */
function takePackage(kind, name, version, take) {
  const folder = mkdtempSync(join(tmpdir(), "filewright-prebuilt-"));
  try {
    const { path, why } = fetchTarball(name, version, folder);
    if (why !== undefined) return why;
    runAndWait("tar", ["-xzf", path, "-C", folder], { capture: true });
    const unpacked = join(folder, "package");
    const manifest = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8"));
    if (manifest.version !== version || manifest.filewright?.sources?.[kind] !== sourcesHash(kind)) {
      return `${name}@${version} was built from other sources`;
    }
    take(unpacked, manifest);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Takes the addon. Returns why it could not be taken. */
function takeAddon(version, output) {
  const platform = platformName();
  if (!releaseTargets().some((target) => target.platform === platform))
    return `there is no native addon for ${platform}`;
  return takePackage("native", addonPackageName(platform), version, (folder, { main }) => {
    mkdirSync(join(root, "dist/native"), { recursive: true });
    copyFileSync(join(folder, main), output);
  });
}

/** Takes the WebAssembly modules, unless the last run did. Returns why they could not be taken. */
function takeWasm(version) {
  const mark = join(root, WASM_MARK);
  const hash = sourcesHash("wasm");
  const isTaken = existsSync(mark) && readFileSync(mark, "utf8") === hash;
  if (isTaken && existsSync(join(root, "dist/wasm/filewright.cjs"))) return undefined;
  return takePackage("wasm", "filewright", version, (folder) => {
    mkdirSync(join(root, "dist/wasm"), { recursive: true });
    const files = readdirSync(join(folder, "dist/wasm")).filter((file) => WASM_FILES.test(file));
    for (const file of files) copyFileSync(join(folder, "dist/wasm", file), join(root, "dist/wasm", file));
    mkdirSync(join(root, ".cache"), { recursive: true });
    writeFileSync(mark, hash);
  });
}

/**
 * Takes an engine, and says which.
 *
 * @param {string} output the path of the addon
 * @throws BuildError if there is neither, with what to do
 */
export function takePrebuiltEngine(output) {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const whyNoAddon = takeAddon(version, output);
  if (whyNoAddon === undefined) {
    console.error(`engine: the published native addon of version ${version}, since cargo is missing`);
    return;
  }
  // One that was built before would be loaded, though it does not fit the sources.
  rmSync(output, { force: true });
  const whyNoWasm = takeWasm(version);
  if (whyNoWasm === undefined) {
    console.error(
      `engine: the published WebAssembly module of version ${version}, since cargo is missing and ${whyNoAddon}`,
    );
    return;
  }
  const whys = [...new Set([whyNoAddon, whyNoWasm])].join("; ");
  throw new BuildError(`${missingToolError("cargo").message}; no published engine fits (${whys})`);
}
