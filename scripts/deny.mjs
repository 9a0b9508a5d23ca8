// Checks the dependencies: their licences, the registry they come from, that no banned crate and no
// crate in two versions is among them, and that package-lock.json covers every platform. Reads
// `cargo metadata` and package-lock.json, so it needs no other tool and is never skipped. Security
// advisories are not checked here, because they appear without a change of this repository; the
// scheduled workflow checks them.
//
//   node scripts/deny.mjs
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runScript, root, runAndWait } from "./lib/run.mjs";

const ALLOWED_LICENCES = new Set([
  "0BSD",
  "Apache-2.0",
  "Apache-2.0 WITH LLVM-exception",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "PSF-2.0",
  "Python-2.0",
  "Unicode-3.0",
  "Unlicense",
  "Zlib",
]);

/**
 * Crates that must not be used, each with the reason: a better successor, or our own replacement.
 */
const BANNED_CRATES = {
  globset: "globs are matched by crates/core alone, so that deny lists and searches agree",
  ignore: "ignore files are read by crates/core alone, through confined descriptors",
  openssl: "the product opens no connections from Rust",
  walkdir: "it follows paths; walks use descriptors",
};

/** Crates that may be among the dependencies in two versions, each with the reason. */
const ALLOWED_DOUBLE_CRATES = {
  hashbrown: "imara-diff asks for 0.15; the newer one is an optional dependency that is not compiled",
};

/**
 * Packages under a copyleft licence that are allowed because no published file contains them: the
 * beginning of their names, with the reason.
 */
const COPYLEFT_BUT_UNPUBLISHED = {
  "@img/sharp": "an optional peer of the user's own; its libvips is a library loaded at run time",
  "axe-core": "it runs in the tests of the review page alone",
  lightningcss: "vite, below vitest, uses it",
};

const CRATES_REGISTRY = /^registry\+https:\/\/github\.com\/rust-lang\/crates\.io-index$/u;

/**
 * Returns whether an SPDX licence expression can be fulfilled with the licences in `ALLOWED_LICENCES` only.
 *
 * @param {string} expression `OR`, `AND`, parentheses and cargo's old `/` for `OR`
 */
export function isPermissive(expression) {
  const tokens = expression.replaceAll("/", " OR ").replaceAll(/[()]/gu, " $& ").trim().split(/\s+/u);
  let at = 0;
  const either = () => {
    let ok = both();
    while (tokens[at] === "OR") {
      at += 1;
      ok = both() || ok;
    }
    return ok;
  };
  const both = () => {
    let ok = one();
    while (tokens[at] === "AND") {
      at += 1;
      ok = one() && ok;
    }
    return ok;
  };
  const one = () => {
    if (tokens[at] === "(") {
      at += 1;
      const ok = either();
      if (tokens[at] !== ")") return false;
      at += 1;
      return ok;
    }
    let name = tokens[at++] ?? "";
    if (tokens[at] === "WITH") {
      name += ` WITH ${tokens[at + 1]}`;
      at += 2;
    }
    return ALLOWED_LICENCES.has(name);
  };
  const ok = either();
  return ok && at === tokens.length;
}

/**
 * @param {{ name: string, version: string, license: string | null, source: string | null }[]} packages
 *   as `cargo metadata` lists them; ours have no source
 * @returns {string[]} one line for each fault
 */
export function crateFaults(packages) {
  const faults = [];
  const versions = new Map();
  for (const { name, version, license, source } of packages) {
    versions.set(name, [...(versions.get(name) ?? []), version]);
    if (name in BANNED_CRATES) faults.push(`crate ${name} is banned: ${BANNED_CRATES[name]}`);
    if (source === null) continue;
    if (!CRATES_REGISTRY.test(source)) faults.push(`crate ${name} ${version} comes from ${source}`);
    if (!isPermissive(license ?? "")) faults.push(`crate ${name} ${version} has the licence '${license}'`);
  }
  for (const [name, found] of versions)
    if (found.length > 1 && !(name in ALLOWED_DOUBLE_CRATES))
      faults.push(`crate ${name} is there in the versions ${found.join(" and ")}`);
  for (const name of Object.keys(ALLOWED_DOUBLE_CRATES))
    if ((versions.get(name)?.length ?? 0) < 2)
      faults.push(`crate ${name} is there once; take it out of DOUBLE_CRATES`);
  return faults;
}

/**
 * @param {{ packages: Record<string, any> }} lock package-lock.json
 * @returns {string[]} one line for each fault
 */
export function lockFaults({ packages }) {
  const faults = [];
  for (const [path, { license, optionalDependencies = {}, resolved }] of foreignPackages(packages)) {
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    if (resolved !== undefined) faults.push(`package ${name} names its registry in package-lock.json`);
    if (
      !isPermissive(license ?? "") &&
      !Object.keys(COPYLEFT_BUT_UNPUBLISHED).some((begin) => name.startsWith(begin))
    )
      faults.push(`package ${name} has the licence '${license}'`);
    for (const optional of Object.keys(optionalDependencies))
      if (!isLocked(packages, path, optional))
        faults.push(`package-lock.json lacks ${optional} of ${name}: npm ci refuses it; run npm install`);
  }
  return faults;
}

/** Returns the rows of package-lock.json but for the main package, and links to a package that has a row itself. */
const foreignPackages = (packages) =>
  Object.entries(packages).filter(
    ([path, { link, resolved }]) =>
      path !== "" && !(link && Object.hasOwn(packages, resolved) && !resolved.includes("node_modules")),
  );

/**
 * Returns whether package-lock.json has a package where Node would look for it: below the package
 * `from` that depends on it, then further up.
 */
function isLocked(packages, from, name) {
  for (let at = from; ; ) {
    if (`${at}${at === "" ? "" : "/"}node_modules/${name}` in packages) return true;
    if (at === "") return false;
    const up = at.lastIndexOf("node_modules/");
    at = up <= 0 ? "" : at.slice(0, up - 1);
  }
}

/**
 * Checks the crates and the npm packages, and prints the faults.
 * @returns whether there was none
 */
export function checkDependencies() {
  const metadata = runAndWait("cargo", ["metadata", "--locked", "--format-version", "1"], {
    capture: "stdout",
  });
  const lock = readFileSync(join(root, "package-lock.json"), "utf8");
  const faults = [...crateFaults(JSON.parse(metadata.stdout).packages), ...lockFaults(JSON.parse(lock))];
  for (const fault of faults) console.error(`error: ${fault}`);
  return faults.length === 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(() => {
    if (!checkDependencies()) process.exitCode = 1;
  });
}
