// Trees to search, made from package registries only and kept in .cache/bench.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "../../scripts/lib/run.mjs";
import { npmInstall } from "./setup.mjs";
import { Skip } from "./skip.mjs";

const cache = join(root, ".cache/bench");

/** Packages of the default tree: large files, many small ones, deep and flat, some ignored. */
const packages = {
  typescript: "6.0.3",
  rxjs: "7.8.2",
  "date-fns": "4.1.0",
  "core-js": "3.46.0",
  three: "0.180.0",
};

/** A few npm packages beside each other: some 20,000 files. */
export function smallTree() {
  const tree = join(cache, "small");
  const marker = join(tree, ".git/made");
  const wanted = JSON.stringify(packages);
  if (existsSync(marker) && readFileSync(marker, "utf8") === wanted) return tree;
  console.error("making the small tree from npm packages");
  const install = join(cache, "small-install");
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(install, { recursive: true });
  writeFileSync(join(install, "package.json"), JSON.stringify({ private: true, dependencies: packages }));
  npmInstall(install);
  for (const name of Object.keys(packages)) {
    cpSync(join(install, "node_modules", name), join(tree, name), { recursive: true });
  }
  rmSync(install, { recursive: true });
  // A repository of its own, so that no ignore file above it counts, with rules to obey.
  run("git", ["init", "-q", tree]);
  writeFileSync(join(tree, ".gitignore"), "*.map\n/rxjs/dist/bundles/\n/three/examples/fonts/\n!*.min.js\n");
  writeFileSync(marker, wanted);
  return tree;
}

/** What a large web project installs: with all that these depend on, some 113,000 files. */
const installed = {
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

/** A node_modules as it is found: 0.8 GB, a third of the text minified or source maps; nothing ignored. */
export function modulesTree() {
  const tree = join(cache, "modules");
  const marker = join(cache, "modules.made");
  const wanted = JSON.stringify(installed);
  if (existsSync(marker) && readFileSync(marker, "utf8") === wanted) return tree;
  console.error("installing many npm packages");
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(tree, { recursive: true });
  writeFileSync(join(tree, "package.json"), JSON.stringify({ private: true, dependencies: installed }));
  npmInstall(tree);
  // ripgrep goes by the rules of the directories above too: those of our own checkout.
  const above = readFileSync(join(cache, "../../.gitignore"), "utf8").split("\n");
  const rules = above.filter((line) => line !== "" && !line.startsWith("#") && !line.startsWith("/"));
  writeFileSync(join(tree, ".gitignore"), rules.map((rule) => `!${rule}\n`).join(""));
  writeFileSync(marker, wanted);
  return tree;
}

/** The Linux source tree from Debian's package: 78,579 files, 1.3 GB. */
export function linuxTree() {
  const tree = join(cache, "linux-source-6.1");
  const marker = join(cache, "linux.made");
  if (existsSync(marker)) return tree;
  console.error("unpacking the Linux source tree");
  mkdirSync(cache, { recursive: true });
  run("tar", ["-xf", sourceArchive(), "-C", cache]);
  // Debian ends the root .gitignore with `/*` and `!/debian/`: every search tool would see nothing.
  const ignore = join(tree, ".gitignore");
  const lines = readFileSync(ignore, "utf8").split("\n");
  const cut = lines.findIndex((line) => line.trim() === "/*");
  if (cut >= 0) writeFileSync(ignore, `${lines.slice(0, cut).join("\n")}\n`);
  run("git", ["init", "-q", tree]);
  writeFileSync(marker, "");
  return tree;
}

function sourceArchive() {
  const installed = "/usr/src/linux-source-6.1.tar.xz";
  if (existsSync(installed)) return installed;
  const fetched = spawnSync(
    "sh",
    ["-c", "apt-get download linux-source-6.1 && dpkg-deb -x linux-source-6.1_*.deb ."],
    {
      cwd: cache,
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  if (fetched.status !== 0)
    throw new Skip(
      "the Linux source tree comes from Debian's linux-source-6.1, which apt-get cannot get here",
    );
  return join(cache, "usr/src/linux-source-6.1.tar.xz");
}

/** A text file of 1 GB: some 20 million numbered lines. */
export const bigFile = () =>
  gigabyte("big.log", (line) => `${line} ${(line * 2654435761) % 4294967296} the quick brown fox jumps\n`);

/** A JSON of 1 GB in one line, as programs write it. */
export const bigLine = () => gigabyte("big.json", (item) => `{"id":${item},"name":"the quick brown fox"},`);

function gigabyte(name, item) {
  const file = join(cache, name);
  const size = 1_000_000_000;
  if (existsSync(`${file}.made`)) return file;
  console.error("writing a file of 1 GB");
  mkdirSync(cache, { recursive: true });
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

/** A folder of small files, some levels down. */
export function smallFiles(count, bytes) {
  const folder = join(cache, `files-${count}-${bytes}`, "a/b/c");
  const text = "0123456789abcdef 0123456789abcdef 0123456789abcdef 0123456789ab\n".repeat(bytes / 64);
  mkdirSync(folder, { recursive: true });
  return Array.from({ length: count }, (_, i) => {
    const path = join(folder, `${i}.txt`);
    if (!existsSync(path)) writeFileSync(path, text);
    return path;
  });
}
