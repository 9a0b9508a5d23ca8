// The base of the comparison with this checkout ("the tree"): a tarball, a folder of tarballs, or a commit.
//
// A tarball of the main package needs that of its addon beside it, as scripts/release/pack.mjs makes them. A commit is
// compiled here, without the check of types and without the .tsx files of the review page; its addon is that of the
// tree where the Rust is the same, else it is built. Unpacked tarballs and compiled commits are kept in .cache/versus.
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { transform } from "esbuild";
import { dailyProfile } from "../../../scripts/lib/cargo-profile.mjs";
import { platformName } from "../../../scripts/lib/platform.mjs";
import { BuildError, npmProgram, root, runAndWait } from "../../../scripts/lib/run.mjs";

const CACHE = join(root, ".cache/versus");
/** The file that names the commit with which CI compares, set by hand after a landing; see CONTRIBUTING.md. */
const NAMED = join(import.meta.dirname, "base.json");
/** The Rust of a commit but for Cargo.toml, of which the profiles do not count. */
const RUST = ["crates", "Cargo.lock"];

/**
 * Returns a directory from which `filewright` resolves to the base.
 *
 * @param {string | undefined} given a tarball, a folder with tarballs, or a commit; default: the commit in base.json
 */
export async function homeOfBase(given) {
  if (given !== undefined && existsSync(given)) return homeOfTarballs(resolve(given));
  const named = given ?? JSON.parse(readFileSync(NAMED, "utf8")).commit;
  return homeOfCommit(named);
}

/** Returns a folder of the cache. A missing one is filled under another name, and renamed once complete. */
async function kept(name, fill) {
  const home = join(CACHE, name);
  if (existsSync(home)) return home;
  const unfinished = `${home}.${process.pid}`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  try {
    await fill(unfinished);
    renameSync(unfinished, home);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return home;
}

/** Unpacks a tarball of the main package, and that of its addon from the same folder. Returns where. */
function homeOfTarballs(path) {
  const folder = statSync(path).isDirectory() ? path : dirname(path);
  const files = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  const addon = files.find((name) => name.startsWith(`filewright-native-${platformName()}-`));
  const main =
    folder === path ? files.find((name) => /^filewright-\d/u.test(name)) : path.slice(folder.length + 1);
  if (main === undefined || addon === undefined) {
    throw new BuildError(
      `${folder} has no ${main === undefined ? "filewright-VERSION.tgz" : `filewright-native-${platformName()}-VERSION.tgz`}; ` +
        "node scripts/release/pack.mjs makes both",
    );
  }
  const hash = createHash("sha256");
  for (const name of [main, addon]) hash.update(readFileSync(join(folder, name)));
  return kept(hash.digest("hex").slice(0, 16), (home) => {
    // Without a manifest here, Node would find that of this checkout, and `filewright` would be the tree.
    writeFileSync(join(home, "package.json"), '{ "name": "base", "private": true }\n');
    for (const [name, into] of [
      [main, "filewright"],
      [addon, `@filewright/native-${platformName()}`],
    ]) {
      const target = join(home, "node_modules", into);
      mkdirSync(target, { recursive: true });
      runAndWait("tar", ["-xzf", join(folder, name), "--strip-components=1", "-C", target]);
    }
  });
}

const git = (args, options = {}) => runAndWait("git", args, { capture: true, check: false, ...options });

/** Returns the folder of a compiled commit of this repository. */
function homeOfCommit(named) {
  const { status, stdout } = git(["rev-parse", "--verify", "--quiet", `${named}^{commit}`]);
  if (status !== 0) {
    throw new BuildError(
      `there is no commit ${named} here; fetch the whole history (git fetch --unshallow), or give a tarball: npm run deep -- versus --base TARBALL`,
    );
  }
  const commit = stdout.trim();
  const hasSameRust = isSameRust(commit);
  return kept(`${commit.slice(0, 12)}${hasSameRust ? "-same" : ""}`, async (home) => {
    const archive = join(home, "archive.tar");
    runAndWait("git", [
      "archive",
      "--output",
      archive,
      commit,
      "js",
      "package.json",
      "tsconfig.json",
      "Cargo.toml",
      ...RUST,
    ]);
    runAndWait("tar", ["-xf", archive, "-C", home]);
    await compile(home);
    if (hasSameRust) {
      for (const part of ["native", "wasm"])
        cpSync(join(root, "dist", part), join(home, "dist", part), { recursive: true });
    } else buildAddon(home, commit);
    for (const part of ["archive.tar", "js", "crates"]) rmSync(join(home, part), { recursive: true });
  });
}

/** Returns true for a commit with the Rust of the tree, apart from comments and profiles of Cargo.toml. */
function isSameRust(commit) {
  const withoutProfiles = (text) => text.replaceAll(/^\[profile\.[^[]*/gmu, "").replaceAll(/^#.*\n/gmu, "");
  const before = git(["show", `${commit}:Cargo.toml`]).stdout;
  const now = readFileSync(join(root, "Cargo.toml"), "utf8");
  const isSame = git(["diff", "--quiet", commit, "--", ...RUST]).status === 0;
  return isSame && withoutProfiles(before) === withoutProfiles(now);
}

/** Translates each .ts file below js/ into dist/, by itself and without the check of types. */
async function compile(home) {
  const tsconfigRaw = readFileSync(join(home, "tsconfig.json"), "utf8");
  const files = readdirSync(join(home, "js"), { recursive: true }).filter(
    (name) => /\.ts$/u.test(name) && !name.endsWith(".d.ts"),
  );
  await Promise.all(
    files.map(async (name) => {
      const source = readFileSync(join(home, "js", name), "utf8");
      const { code } = await transform(source, {
        loader: "ts",
        format: "esm",
        target: "node20",
        tsconfigRaw,
      });
      const output = join(home, "dist", name.replace(/\.ts$/u, ".js"));
      mkdirSync(dirname(output), { recursive: true });
      writeFileSync(output, code.replace(/((?:from|import)\s*\(?\s*"\.{1,2}\/[^"\n]+)\.ts"/gu, '$1.js"'));
    }),
  );
}

/**
 * Copies what cargo has compiled of others for the addon of the tree. Crates of our own are left out: cargo names them by
 * their place in the checkout and compares times alone, so the tree's would count as those of an older commit.
 */
function copyDependencies(target) {
  const hosts = readdirSync(join(root, "target")).filter((name) => name.includes("-"));
  for (const folder of [dailyProfile, ...hosts.map((host) => `${host}/${dailyProfile}`)]) {
    for (const part of [".fingerprint", "build", "deps"]) {
      const from = join(root, "target", folder, part);
      if (!existsSync(from)) continue;
      for (const name of readdirSync(from)) {
        const isNeeded = part !== "deps" || /\.(?:rlib|rmeta|so|dylib|dll|d)$/u.test(name);
        if (!isNeeded || /^(?:lib)?filewright/u.test(name)) continue;
        const to = join(target, folder, part, name);
        cpSync(join(from, name), to, { recursive: true, preserveTimestamps: true });
      }
    }
  }
}

/** Builds the addon of a commit. */
function buildAddon(home, commit) {
  console.log(
    `the Rust of ${commit.slice(0, 8)} differs from the tree's; building its addon, which takes minutes`,
  );
  const target = join(home, "target");
  copyDependencies(target);
  const cargo = join(home, "crates/node/Cargo.toml");
  const paths = [
    "--package-json-path",
    join(home, "package.json"),
    "--output-dir",
    join(home, "dist/native"),
  ];
  runAndWait(
    npmProgram("napi"),
    ["build", "--platform", "--profile", dailyProfile, "--manifest-path", cargo, ...paths, "--no-js"],
    { env: { CARGO_TARGET_DIR: target } },
  );
  rmSync(target, { recursive: true });
}
