// Makes the trees and files that are searched and read, from npm and Debian packages or generated,
// and keeps them in .cache/bench.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { root, runAndWait } from "../../scripts/lib/run.mjs";
import { npmInstall } from "./setup.mjs";
import { Skip } from "./skip.mjs";

const CACHE_FOLDER = join(root, ".cache/bench");

/**
 * The npm packages of the small tree. Together they have large and many small files, deep and flat
 * folders.
 */
const SMALL_TREE_PACKAGES = {
  typescript: "6.0.3",
  rxjs: "7.8.2",
  "date-fns": "4.1.0",
  "core-js": "3.46.0",
  three: "0.180.0",
};

/** Returns the path of the small tree: a few npm packages, about 20,000 files. */
export function makeSmallTree() {
  const tree = join(CACHE_FOLDER, "small");
  const marker = join(tree, ".git/made");
  const wanted = JSON.stringify(SMALL_TREE_PACKAGES);
  if (existsSync(marker) && readFileSync(marker, "utf8") === wanted) return tree;
  console.error("making the small tree from npm packages");
  const install = join(CACHE_FOLDER, "small-install");
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(install, { recursive: true });
  writeFileSync(
    join(install, "package.json"),
    JSON.stringify({ private: true, dependencies: SMALL_TREE_PACKAGES }),
  );
  npmInstall(install);
  for (const name of Object.keys(SMALL_TREE_PACKAGES)) {
    cpSync(join(install, "node_modules", name), join(tree, name), { recursive: true });
  }
  rmSync(install, { recursive: true });
  // The tree is a git repository, so that no ignore file above it applies, and has an ignore file
  // of its own.
  runAndWait("git", ["init", "-q", tree]);
  writeFileSync(join(tree, ".gitignore"), "*.map\n/rxjs/dist/bundles/\n/three/examples/fonts/\n!*.min.js\n");
  writeFileSync(marker, wanted);
  return tree;
}

/**
 * The dependencies of a large web project. With their own dependencies they have about 113,000
 * files.
 */
const MODULES_TREE_PACKAGES = {
  "@angular/core": "21.2.26",
  "@aws-sdk/client-ec2": "3.1169.0",
  "@aws-sdk/client-s3": "3.1169.0",
  "@aws-sdk/client-s3-control": "3.1112.0",
  "@mui/icons-material": "9.5.0",
  "@mui/material": "9.5.0",
  antd: "6.6.8",
  "core-js": "3.51.0",
  "date-fns": "4.4.0",
  effect: "4.1.0",
  eslint: "10.15.0",
  jest: "30.5.2",
  "lodash-es": "4.18.1",
  "monaco-editor": "0.57.0",
  next: "16.4.6",
  rxjs: "7.8.2",
  three: "0.187.0",
  typescript: "6.0.3",
  vite: "8.3.8",
  webpack: "5.112.2",
};

/**
 * Returns the path of a large node_modules: 0.8 GB, a third of the text minified or source maps,
 * nothing ignored.
 */
export function makeModulesTree() {
  const tree = join(CACHE_FOLDER, "modules");
  const marker = join(CACHE_FOLDER, "modules.made");
  const wanted = JSON.stringify(MODULES_TREE_PACKAGES);
  if (existsSync(marker) && readFileSync(marker, "utf8") === wanted) return tree;
  console.error("installing many npm packages");
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(tree, { recursive: true });
  writeFileSync(
    join(tree, "package.json"),
    JSON.stringify({ private: true, dependencies: MODULES_TREE_PACKAGES }),
  );
  npmInstall(tree);
  // ripgrep also applies the ignore files of the directories above, those of this checkout, so they
  // are reverted here.
  const above = readFileSync(join(CACHE_FOLDER, "../../.gitignore"), "utf8").split("\n");
  const rules = above.filter((line) => line !== "" && !line.startsWith("#") && !line.startsWith("/"));
  writeFileSync(join(tree, ".gitignore"), rules.map((rule) => `!${rule}\n`).join(""));
  writeFileSync(marker, wanted);
  return tree;
}

/**
 * Returns the path of the Linux source tree, from Debian's package: 78,579 files, 1.3 GB. @throws
 * Skip if apt-get cannot download it
 */
export function makeLinuxTree() {
  const tree = join(CACHE_FOLDER, "linux-source-6.1");
  const marker = join(CACHE_FOLDER, "linux.made");
  if (existsSync(marker)) return tree;
  console.error("unpacking the Linux source tree");
  mkdirSync(CACHE_FOLDER, { recursive: true });
  runAndWait("tar", ["-xf", linuxSourceArchive(), "-C", CACHE_FOLDER]);
  // Debian adds `/*` and `!/debian/` to the .gitignore of the root, with which every search tool
  // would ignore all files.
  const ignore = join(tree, ".gitignore");
  const lines = readFileSync(ignore, "utf8").split("\n");
  const cut = lines.findIndex((line) => line.trim() === "/*");
  if (cut >= 0) writeFileSync(ignore, `${lines.slice(0, cut).join("\n")}\n`);
  runAndWait("git", ["init", "-q", tree]);
  writeFileSync(marker, "");
  return tree;
}

/** Returns the path of the archive with the Linux source tree, installed or downloaded. */
function linuxSourceArchive() {
  const installed = "/usr/src/linux-source-6.1.tar.xz";
  if (existsSync(installed)) return installed;
  const fetched = spawnSync(
    "sh",
    ["-c", "apt-get download linux-source-6.1 && dpkg-deb -x linux-source-6.1_*.deb ."],
    {
      cwd: CACHE_FOLDER,
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  if (fetched.status !== 0)
    throw new Skip(
      "the Linux source tree comes from Debian's linux-source-6.1, which apt-get cannot get here",
    );
  return join(CACHE_FOLDER, "usr/src/linux-source-6.1.tar.xz");
}

/** Returns the path of a text file of 1 GB, about 20 million numbered lines. */
export const gigabyteTextFile = () =>
  makeGigabyteFile(
    "big.log",
    (line) => `${line} ${(line * 2654435761) % 4294967296} the quick brown fox jumps\n`,
  );

/** Returns the path of a file of 1 GB in one line, like JSON that a program writes. */
export const gigabyteLineFile = () =>
  makeGigabyteFile("big.json", (item) => `{"id":${item},"name":"the quick brown fox"},`);

/** Returns the path of a file of 1 GB that consists of the texts `item(1)`, `item(2)` and so on. */
function makeGigabyteFile(name, item) {
  const file = join(CACHE_FOLDER, name);
  const size = 1_000_000_000;
  if (existsSync(`${file}.made`)) return file;
  console.error("writing a file of 1 GB");
  mkdirSync(CACHE_FOLDER, { recursive: true });
  const out = openSync(file, "w");
  for (let line = 1, written = 0; written < size; ) {
    let part = "";
    for (; part.length < 1 << 20; line++) part += item(line);
    written += writeSync(out, part);
  }
  closeSync(out);
  truncateSync(file, size);
  writeFileSync(`${file}.made`, "");
  return file;
}

/** Returns the paths of `count` files of `bytes` bytes in one folder, some levels deep. */
export function makeSmallFiles(count, bytes) {
  const folder = join(CACHE_FOLDER, `files-${count}-${bytes}`, "a/b/c");
  const text = "0123456789abcdef 0123456789abcdef 0123456789abcdef 0123456789ab\n".repeat(bytes / 64);
  mkdirSync(folder, { recursive: true });
  return Array.from({ length: count }, (_, i) => {
    const path = join(folder, `${i}.txt`);
    if (!existsSync(path)) writeFileSync(path, text);
    return path;
  });
}
