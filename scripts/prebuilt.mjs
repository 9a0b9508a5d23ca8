// Takes an engine that was published instead of building one, where this machine has no Rust: the native addon,
// or else the WebAssembly module. Only what was built from the sources of this checkout, in its version, is taken.
//
// The packages come from the registry that npm is configured with, or from the folder of tarballs that
// FILEWRIGHT_PREBUILT names. The hash of the sources, which the package itself states, shows that it fits and not who
// made it: for that the registry is trusted, whose sha512 the tarball must have, or the folder, in which nobody else
// may write. SECURITY.md says so.
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
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

/** Returns the sha512 of a file, in the form of npm's `integrity`. */
const integrityOf = (path) => `sha512-${createHash("sha512").update(readFileSync(path)).digest("base64")}`;

/** Runs npm, and returns the JSON that it prints; undefined when it fails or prints nothing. */
function npmJson(...args) {
  const { status, stdout } = runAndWait("npm", [...args, "--json", "--fetch-retries=0"], {
    capture: true,
    check: false,
  });
  return status === 0 && stdout.trim() !== "" ? JSON.parse(stdout) : undefined;
}

/**
 * Returns the file or folder through which another user could replace a file: itself, or one above it. In a sticky
 * folder, such as that of temporary files, nobody replaces what is ours.
 */
function writableByOthers(file) {
  const own = process.getuid?.();
  if (own === undefined) return undefined; // On Windows permissions are not in the mode.
  for (let path = file; ; path = dirname(path)) {
    const { mode, uid } = statSync(path);
    const isShared = (mode & 0o022) !== 0 && (path === file || (mode & 0o1000) === 0);
    if (isShared || (uid !== own && uid !== 0)) return path;
    if (dirname(path) === path) return undefined;
  }
}

/** Returns the path of a tarball in the folder of FILEWRIGHT_PREBUILT and what is trusted, or why it is not taken. */
function findTarball(given, file) {
  const place = resolve(given, file);
  if (!existsSync(place)) return { why: `the folder of FILEWRIGHT_PREBUILT has no ${file}` };
  const path = realpathSync(place);
  const shared = writableByOthers(path);
  if (shared !== undefined)
    return { why: `other users can write to ${shared}, which FILEWRIGHT_PREBUILT names (chmod go-w it)` };
  return { path, trusted: "the folder of FILEWRIGHT_PREBUILT" };
}

/**
 * Puts the tarball of a package into a folder, and compares it with the sha512 that the registry states. npm itself
 * accepts a sha1, or no hash at all. No script of the package runs. Returns its path and what is trusted, or why it
 * is not taken.
 */
function fetchTarball(name, version, folder) {
  const spec = `${name}@${version}`;
  const dist = npmJson("view", spec, "dist");
  if (dist === undefined) return { why: `npm cannot get ${spec}` };
  // One string may have several hashes; it has no sha512 in old registries.
  const expected = String(dist.integrity ?? "").match(/sha512-[\w+/]+=*/gu) ?? [];
  if (expected.length === 0) return { why: `the registry states no sha512 of ${spec}` };
  const args = [
    "pack",
    spec,
    "--pack-destination",
    folder,
    "--silent",
    "--ignore-scripts",
    "--fetch-retries=0",
  ];
  const { status } = runAndWait("npm", args, { capture: true, check: false });
  const path = join(folder, tarballName(name, version));
  if (status !== 0 || !existsSync(path)) return { why: `npm cannot get ${spec}` };
  if (!expected.includes(integrityOf(path)))
    return { why: `${spec} has not the sha512 that the registry states` };
  return { path, trusted: `the registry ${new URL(dist.tarball).origin}` };
}

/**
 * Unpacks a package if its binaries were built from the sources of this checkout, and hands its folder to `take`.
 *
 * Says whom that trusts.
 *
 * @param {"native" | "wasm"} kind of the binaries
 * @returns {string | undefined} why the package was not taken
 */
function takePackage(kind, name, version, take) {
  const folder = mkdtempSync(join(tmpdir(), "filewright-prebuilt-"));
  try {
    const given = process.env.FILEWRIGHT_PREBUILT;
    const found = given
      ? findTarball(given, tarballName(name, version))
      : fetchTarball(name, version, folder);
    const { path, trusted, why } = found;
    if (why !== undefined) return why;
    runAndWait("tar", ["-xzf", path, "-C", folder], { capture: true });
    const unpacked = join(folder, "package");
    const manifest = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8"));
    if (manifest.version !== version || manifest.filewright?.sources?.[kind] !== sourcesHash(kind)) {
      return `${name}@${version} was built from other sources`;
    }
    take(unpacked, manifest);
    console.error(`trusted: ${trusted}, for ${name}@${version} (${integrityOf(path)})`);
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
