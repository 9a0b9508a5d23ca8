// What the tarballs of the main package and of @filewright/storage have to contain, and what they must not.
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { BuildError, root, runAndWait } from "../lib/run.mjs";
import { WORKER_MODULES } from "./modules.mjs";

/** The forms of the paths of everything that may be in the tarball. */
const ALLOWED =
  /^(?:dist\/(?!(?:native|cli)\/).*\.(?:js|cjs|d\.ts)|dist\/wasm\/filewright(?:_edit)?_bg\.wasm|dist\/review\/page\/(?:index\.html|icon\.svg|review\.css)|dist\/THIRD-PARTY\.txt|README\.md|LICENSE|package\.json)$/u;

/** What is in it besides what the manifest names: files that are found by their paths. */
const REQUIRED = [
  "package.json",
  "README.md",
  "LICENSE",
  "dist/THIRD-PARTY.txt",
  "dist/bin/server-filesystem.js",
  ...WORKER_MODULES,
  ...["index.html", "icon.svg", "review.css"].map((name) => `dist/review/page/${name}`),
  ...["review", "shared", "library", "screens", "editor"].map((name) => `dist/review/page/${name}.js`),
  "dist/wasm/filewright.cjs",
  "dist/wasm/filewright_bg.wasm",
  "dist/wasm/filewright_edit_bg.wasm",
];

/** Returns the paths that the entries and commands of a manifest name. */
function pathsInManifest({ bin, exports }) {
  const targets = Object.values(exports).flatMap((entry) =>
    typeof entry === "string" ? [entry] : Object.values(entry),
  );
  return [...Object.values(bin), ...targets].map((path) => path.replace(/^\.\//u, ""));
}

/**
 * Returns what is wrong with the contents of the tarball, one line each.
 *
 * @param {readonly string[]} files the paths in the tarball
 * @param {{ bin: object, exports: object }} manifest
 */
export function problemsOfContents(files, manifest) {
  const packed = new Set(files);
  const required = [...new Set([...REQUIRED, ...pathsInManifest(manifest)])];
  return [
    ...required.filter((path) => !packed.has(path)).map((path) => `${path} is missing`),
    ...files.filter((path) => !ALLOWED.test(path)).map((path) => `${path} does not belong to the package`),
  ];
}

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*["'](\.[^"']+)["']/gu;

/**
 * Returns the declarations that a compiler reads when it compiles against the package: those of the entries, and
 * what they import. The others describe modules that nobody can import.
 *
 * @returns {ReadonlySet<string>}
 */
function declarationsInUse({ exports }) {
  const found = new Set();
  const waiting = pathsInManifest({ bin: {}, exports }).map((path) => path.replace(/\.js$/u, ".d.ts"));
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (!path.endsWith(".d.ts") || found.has(path) || !existsSync(join(root, path))) continue;
    found.add(path);
    for (const [, specifier] of readFileSync(join(root, path), "utf8").matchAll(IMPORT))
      waiting.push(posix.join(posix.dirname(path), specifier.replace(/(?:\.d)?\.[jt]s$/u, ".d.ts")));
  }
  return found;
}

/**
 * Returns the paths that npm would pack from a folder of the checkout.
 *
 * @returns {readonly string[]}
 */
function packedFiles(folder) {
  const args = ["pack", folder, "--dry-run", "--json", "--ignore-scripts", "--loglevel=error"];
  const { stdout } = runAndWait("npm", args, { capture: "stdout" });
  return JSON.parse(stdout)[0].files.map(({ path }) => path);
}

/**
 * Returns the paths that the main package's tarball contains.
 *
 * @throws BuildError unless everything is there that has to be, and nothing else
 */
export function checkedContents() {
  const files = packedFiles(".");
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const problems = problemsOfContents(files, manifest);
  if (problems.length > 0) {
    throw new BuildError(`the package cannot be packed:\n  ${problems.join("\n  ")}`);
  }
  const declarations = declarationsInUse(manifest);
  return files.filter((path) => !path.endsWith(".d.ts") || declarations.has(path));
}

/** The forms of the paths of everything that may be in the tarball of `@filewright/storage`. */
const ALLOWED_IN_STORAGE = /^(?:dist\/.*\.(?:js|d\.ts)|README\.md|package\.json)$/u;

/**
 * Returns the paths that the tarball of `@filewright/storage` contains, besides our licence.
 *
 * @throws BuildError unless everything is there that has to be, and nothing else
 */
export function checkedStorageContents() {
  const folder = "packages/storage";
  const files = packedFiles(`./${folder}`);
  const { exports } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  const missing = ["README.md", ...pathsInManifest({ bin: {}, exports })].filter(
    (path) => !files.includes(path),
  );
  const problems = [
    ...missing.map((path) => `${path} is missing`),
    ...files
      .filter((path) => !ALLOWED_IN_STORAGE.test(path))
      .map((path) => `${path} does not belong to the package`),
  ];
  if (problems.length > 0) throw new BuildError(`${folder} cannot be packed:\n  ${problems.join("\n  ")}`);
  return files;
}
