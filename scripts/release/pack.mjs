// Makes the tarballs of a release: the main package, the one of storages, and one package per addon.
//
//   node scripts/release/pack.mjs
//     --addons DIR   the folder with the addons, filewright.PLATFORM.node; default: dist/native, which is for
//                    tests: the checkout's own build without its symbols, whose size is not limited
//     --output DIR   where the tarballs are put; default: .cache/release/tarballs
//     --all          fails unless there is an addon for each platform of the release
//
// The main package's `optionalDependencies` are written here and not kept in package.json: a checkout would
// try to install what is not published yet.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { readArguments } from "../lib/arguments.mjs";
import { BuildError, isInstalled, root, runAndWait, runScript } from "../lib/run.mjs";
import { problemsOfContents } from "./contents.mjs";
import { MAX_PACKED_BYTES, megabytes } from "./inspect-addon.mjs";
import { assertLicences, linkedCrates, textAboutCrates } from "./licences.mjs";
import { bundledModules } from "./modules.mjs";
import { prepack } from "./prepack.mjs";
import { sourcesHash } from "./sources.mjs";
import { addonFileName, addonPackageName, releaseTargets } from "./targets.mjs";
import { agreedVersion } from "./version.mjs";

/** Where the tarballs are put if nothing else is said. */
const TARBALLS_FOLDER = ".cache/release/tarballs";

/** Where the build of this checkout puts the addon of this platform. */
const HOST_ADDONS = "dist/native";

/** How large the main package may be. Both WebAssembly modules are more than half of it. */
const MAX_MAIN_PACKED_BYTES = 2_400_000;

/** The folder of `@filewright/storage`, and how large it may be. */
const STORAGE_PACKAGE = "packages/storage";
const MAX_STORAGE_PACKED_BYTES = 90_000;

/** The folder of the review page, whose script is for browsers and bundled already. */
const REVIEW_PAGE = "dist/review/page/";

/** The file of a package that has the licences of what is compiled into it. */
const THIRD_PARTY = "THIRD-PARTY.txt";

/** What a package manager calls the C libraries. */
const NPM_LIBC = { gnu: "glibc", musl: "musl" };

/** The members of package.json that the packages of addons share with the main package. */
const SHARED = ["version", "license", "author", "homepage", "repository", "bugs", "engines", "publishConfig"];

/**
 * Returns the manifest of the main package as it is published.
 *
 * @param {Record<string, any>} manifest package.json of the checkout
 * @param {readonly import("./targets.mjs").ReleaseTarget[]} targets
 */
export function publishedManifest(manifest, targets) {
  const { devDependencies: _, scripts: __, napi: ___, workspaces: ____, ...kept } = manifest;
  const addons = targets.map((target) => [addonPackageName(target.platform), manifest.version]);
  return {
    ...kept,
    optionalDependencies: Object.fromEntries(addons),
    filewright: { sources: { wasm: sourcesHash("wasm") } },
  };
}

/**
 * Returns the manifest of the package with the addon of a platform.
 *
 * @param {Record<string, any>} manifest package.json of the checkout
 * @param {import("./targets.mjs").ReleaseTarget} target
 */
export function addonManifest(manifest, target) {
  const file = addonFileName(target);
  return {
    name: addonPackageName(target.platform),
    description: `The native addon of filewright for ${target.platform}.`,
    ...Object.fromEntries(SHARED.filter((name) => name in manifest).map((name) => [name, manifest[name]])),
    os: [target.os],
    cpu: [target.arch],
    ...(target.libc && { libc: [NPM_LIBC[target.libc]] }),
    main: file,
    files: [file, THIRD_PARTY],
    filewright: { sources: { native: sourcesHash("native") } },
  };
}

const readmeOfAddon = ({ platform }) => `# ${addonPackageName(platform)}
The native addon of filewright for ${platform}. Installing \`filewright\` installs it where it fits; nothing else has to be done.
`;

/** The size of a header in a tar archive, of which the content of a file takes multiples. */
const TAR_BLOCK = 512;

/**
 * Returns a tar archive with the files of each kind one after the other, in which a compressor finds more that
 * repeats.
 *
 * @param {Buffer} archive
 */
function sortedByKind(archive) {
  const entries = [];
  for (let start = 0; archive[start] !== 0; ) {
    const text = (from, to) => archive.toString("latin1", start + from, start + to).split("\0")[0];
    // Other types of entries belong to the file after them.
    if (text(156, 157) !== "0") return archive;
    const end = start + TAR_BLOCK * (1 + Math.ceil(Number.parseInt(text(124, 136), 8) / TAR_BLOCK));
    const name = text(0, 100);
    entries.push({ kind: name.slice(name.lastIndexOf(".")), data: archive.subarray(start, end) });
    start = end;
  }
  entries.sort((a, b) => (a.kind < b.kind ? -1 : Number(a.kind > b.kind)));
  return Buffer.concat([...entries.map(({ data }) => data), Buffer.alloc(2 * TAR_BLOCK)]);
}

/** The program that compresses what is published, of Debian's package libdeflate-tools and Homebrew's libdeflate. */
const COMPRESSOR = "libdeflate-gzip";

/**
 * Compresses a tarball again: the zlib of Node prefers speed, and its result is 6 % larger. Without the program
 * the tarball stays as npm made it.
 *
 * @returns {boolean} whether the tarball has the size of a published one
 */
function compressAgain(tarball) {
  if (!isInstalled(COMPRESSOR, "-V")) return false;
  const plain = tarball.replace(/\.tgz$/u, ".tar");
  writeFileSync(plain, sortedByKind(gunzipSync(readFileSync(tarball))));
  runAndWait(COMPRESSOR, ["-12", "-f", "-S", ".smaller", plain]);
  renameSync(`${plain}.smaller`, tarball);
  return true;
}

/** Runs npm pack in a folder. Returns the path and sizes of the tarball. */
function npmPack(folder, output) {
  const args = [
    "pack",
    folder,
    "--json",
    "--ignore-scripts",
    "--loglevel=error",
    "--pack-destination",
    output,
  ];
  const { stdout } = runAndWait("npm", args, { capture: "stdout" });
  const [{ filename, unpackedSize, files }] = JSON.parse(stdout);
  const file = join(output, filename);
  const isFinalSize = compressAgain(file);
  const paths = files.map(({ path }) => path);
  return { file, size: statSync(file).size, isFinalSize, unpackedSize, paths };
}

/** Fills a new folder with `fill`, packs it, and removes it. `limit` is for tarballs as they are published. */
function packFolder(output, limit, fill) {
  const folder = mkdtempSync(join(tmpdir(), "filewright-pack-"));
  try {
    const manifest = fill(folder);
    writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    const packed = npmPack(folder, output);
    if (packed.isFinalSize && packed.size > limit) {
      throw new BuildError(
        `${manifest.name} has ${megabytes(packed.size)} packed, more than ${megabytes(limit)}`,
      );
    }
    console.error(`${manifest.name}: ${megabytes(packed.size)} packed, ${megabytes(packed.unpackedSize)}`);
    return packed;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Packs the main package: the modules are bundled, everything else is as in the checkout.
 *
 * @param {readonly string[]} files what npm would pack from the checkout, relative paths
 */
async function packMain(manifest, files, targets, output) {
  const modules = await bundledModules(manifest);
  const copied = files.filter((path) => !path.endsWith(".js") || path.startsWith(REVIEW_PAGE));
  const { file, paths } = packFolder(output, MAX_MAIN_PACKED_BYTES, (folder) => {
    for (const path of [...copied, ...modules.files.keys()])
      mkdirSync(dirname(join(folder, path)), { recursive: true });
    for (const path of copied) copyFileSync(join(root, path), join(folder, path));
    for (const [path, code] of modules.files) writeFileSync(join(folder, path), code);
    return { ...publishedManifest(manifest, targets), sideEffects: modules.sideEffects };
  });
  const missing = [...copied, ...modules.files.keys()].filter((path) => !paths.includes(path));
  const problems = [...missing.map((path) => `npm left out ${path}`), ...problemsOfContents(paths, manifest)];
  if (problems.length > 0) throw new BuildError(`the package is wrong:\n  ${problems.join("\n  ")}`);
  return file;
}

/**
 * Packs `@filewright/storage` as it is in the checkout, with our licence.
 *
 * @param {readonly string[]} files what npm would pack from its folder, relative paths
 */
function packStorage(files, output) {
  const from = join(root, STORAGE_PACKAGE);
  const { scripts: _, ...manifest } = JSON.parse(readFileSync(join(from, "package.json"), "utf8"));
  const { file, paths } = packFolder(output, MAX_STORAGE_PACKED_BYTES, (folder) => {
    for (const path of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      copyFileSync(join(from, path), join(folder, path));
    }
    copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
    return manifest;
  });
  const missing = [...files, "LICENSE"].filter((path) => !paths.includes(path));
  if (missing.length > 0) throw new BuildError(`npm left out ${missing.join(", ")} of ${file}`);
  return file;
}

/**
 * Packs the addon of a platform. `isLocalBuild`: the addon of dist/native, larger than a published one. On Linux
 * its symbols are removed first, and its size has no limit.
 */
function packAddon(manifest, addon, target, output, isLocalBuild) {
  const licences = textAboutCrates(linkedCrates("filewright-node", target.triple));
  assertLicences(addon, licences);
  const { file, paths } = packFolder(
    output,
    isLocalBuild ? Number.POSITIVE_INFINITY : MAX_PACKED_BYTES,
    (folder) => {
      const file = join(folder, addonFileName(target));
      copyFileSync(addon, file);
      if (isLocalBuild && target.os === "linux" && isInstalled("strip"))
        runAndWait("strip", ["--strip-unneeded", file]);
      copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
      writeFileSync(join(folder, "README.md"), readmeOfAddon(target));
      writeFileSync(join(folder, THIRD_PARTY), licences);
      return addonManifest(manifest, target);
    },
  );
  if (!paths.includes(THIRD_PARTY)) throw new BuildError(`npm left out ${THIRD_PARTY} of ${file}`);
  return file;
}

/**
 * Makes the tarballs.
 *
 * @param {{ addons?: string, output?: string, all?: boolean }} options `all` demands an addon for each platform
 * @returns {Promise<{ main: string, storage: string, addons: Record<string, string> }>} the paths, those of the addons by platform
 * @throws BuildError if the checkout's files disagree about the version, an addon is missing, or a tarball has
 *   other contents than it should or is too large
 */
export async function packRelease({ addons = HOST_ADDONS, output = TARBALLS_FOLDER, all = false } = {}) {
  const into = resolve(root, output);
  const targets = releaseTargets();
  const fileOf = (target) => resolve(root, addons, addonFileName(target));
  const found = targets.filter((target) => existsSync(fileOf(target)));
  if (found.length === 0 || (all && found.length < targets.length)) {
    const missing = targets.filter((target) => !found.includes(target));
    throw new BuildError(`${addons} has no ${missing.map(addonFileName).join(", ")}`);
  }
  if (all && !isInstalled(COMPRESSOR, "-V"))
    throw new BuildError(`a release needs the program ${COMPRESSOR}`);
  agreedVersion(root);
  const { main: files, storage } = await prepack();
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const isLocalBuild = resolve(root, addons) === resolve(root, HOST_ADDONS);
  mkdirSync(into, { recursive: true });
  for (const name of readdirSync(into).filter((name) => /^filewright-.*\.tgz$/u.test(name)))
    rmSync(join(into, name));
  return {
    main: await packMain(manifest, files, targets, into),
    storage: packStorage(storage, into),
    addons: Object.fromEntries(
      found.map((target) => [
        target.platform,
        packAddon(manifest, fileOf(target), target, into, isLocalBuild),
      ]),
    ),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(async () => {
    const { flags, rest } = readArguments(process.argv.slice(2), {
      "--addons": { value: "DIR", description: "the folder with the addons" },
      "--output": { value: "DIR", description: "where the tarballs are put" },
      "--all": { description: "fails unless there is an addon for each platform" },
    });
    if (rest.length > 0) throw new BuildError(`unknown argument ${rest[0]}`);
    const { main, storage, addons } = await packRelease({
      addons: flags["--addons"],
      output: flags["--output"],
      all: flags["--all"],
    });
    for (const file of [main, storage, ...Object.values(addons)])
      console.log(`${file} ${statSync(file).size}`);
  });
}
