// Bundles the modules of the package for the tarball, so that the entries of all conditions and the command share
// their code. dist holds the command's code a second time, in a bundle, which coverage and tests need; in the
// tarball it would be a fifth of the size.
//
//   dist/**/*.js      the entries, at the paths that package.json names
//   dist/chunks/*.js  what several entries use
//
// chunks.mjs decides which modules share a chunk. esbuild, which makes dist/bin, does not leave this choice.
import { existsSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { rolldown } from "rolldown";
import { BuildError, root } from "../lib/run.mjs";
import { chunksOf } from "./chunks.mjs";

/** The folder of the chunks. Code finds other files of the package two folders above itself. */
const CHUNKS_FOLDER = "dist/chunks";

/** The programs of the package, and the modules that they are made of. */
const PROGRAMS = {
  "dist/bin/filewright.js": "dist/cli/main.node.js",
  "dist/bin/server-filesystem.js": "dist/mcp/server-filesystem.node.js",
};

/** The script of a worker thread and the modules that it imports by name: files that are found by their paths. */
export const WORKER_MODULES = [
  "dist/engine/workers/worker.node.js",
  "dist/readers/structured/value.js",
  "dist/tools/edit/value-line.js",
  "dist/tools/lib/omission.js",
];

/** Stands for `dist` in addresses of files until it is known in which chunk they are. */
const PLACEHOLDER = "filewright-dist:";

/** How js/engine/load.node.ts addresses files, relative to any file two folders below the package. */
const UP_TWO_FOLDERS = "../../dist/";

/** The address of a file of the package, as bundlers recognise it. */
const FILE_URL = /new URL\("(\.[^"]+)", import\.meta\.url\)/gu;

/** What tracers of files and bundlers look for in calls, and the minifier has put in backquotes. */
const BACKQUOTED =
  /`((?:@filewright\/native-|\.\.\/\.\.\/dist\/)[\w./-]+)`|(?<=\bimport\(\s*(?:\/\*[^*]*\*\/\s*)?)`([^`$\\]+)`|(?<=\{type:)`(module)`/gu;

const withSlashes = (path) => path.replaceAll("\\", "/");
const isScript = (path) => path.endsWith(".js");

/** Returns the modules of the entries of a manifest, and of worker threads: relative paths. */
function libraryEntries({ exports }) {
  const targets = Object.values(exports).flatMap((entry) =>
    typeof entry === "string" ? [entry] : Object.values(entry),
  );
  const modules = targets.map((path) => path.replace(/^\.\//u, "")).filter(isScript);
  return [...new Set([...modules, ...WORKER_MODULES])];
}

/**
 * Returns the modules as the bundler leaves them: without imports of names that nothing uses, and without modules that only
 * pass names on.
 *
 * @param {import("rolldown").RolldownBuild} bundle
 * @returns {Promise<import("./chunks.mjs").Modules>}
 */
async function modulesOf(bundle) {
  const { output } = await bundle.generate({
    format: "esm",
    preserveModules: true,
    preserveModulesRoot: root,
    minify: true,
  });
  const pathOf = new Map(
    output.map(({ fileName, facadeModuleId }) => [fileName, withSlashes(relative(root, facadeModuleId))]),
  );
  const ofKind = (kind) =>
    new Map(
      output.map((module) => [
        pathOf.get(module.fileName),
        module[kind].map((name) => pathOf.get(name)).filter((path) => path !== undefined),
      ]),
    );
  const sizes = new Map(output.map(({ fileName, code }) => [pathOf.get(fileName), code.length]));
  const onNode = output.filter(({ imports }) => imports.some((name) => name.startsWith("node:")));
  return {
    ...{ fixed: ofKind("imports"), onDemand: ofKind("dynamicImports"), sizes },
    onNode: new Set(onNode.map(({ fileName }) => pathOf.get(fileName))),
  };
}

/** The scripts of the review page, which are bundled already. The elements share them with the page. */
const PAGE_SCRIPT = /^\.\/page\/\w+\.js$/u;

/** Finds the modules, and replaces the addresses of files by ones that do not depend on the place of a chunk. */
const addressesOfFiles = {
  name: "addresses-of-files",
  resolveId(specifier, importer) {
    const isFile = specifier.endsWith(".wasm") || PAGE_SCRIPT.test(specifier);
    if (!isFile || importer === undefined) return undefined;
    return { id: placeholderOf(importer, specifier), external: true };
  },
  transform(code, id) {
    return code.replaceAll(
      FILE_URL,
      (_, specifier) => `new URL("${placeholderOf(id, specifier)}", import.meta.url)`,
    );
  },
};

const placeholderOf = (importer, specifier) =>
  `${PLACEHOLDER}${withSlashes(relative(join(root, "dist"), join(dirname(importer), specifier)))}`;

/**
 * Returns the code of an output with the addresses of files as they are seen from its folder.
 *
 * @param {string} file
 * @param {string} code
 * @param {ReadonlySet<string>} outputs the paths of all outputs
 */
function withAddresses(file, code, outputs) {
  const placeholders = new RegExp(`(["'\`])${PLACEHOLDER}([^"'\`]+)\\1`, "gu");
  if (code.includes(UP_TWO_FOLDERS) && file.split("/").length !== 3)
    throw new BuildError(`${file} looks for files of the package in the wrong folder`);
  return code
    .replaceAll(placeholders, (_, __, path) => {
      const target = `dist/${path}`;
      if (!outputs.has(target) && !existsSync(join(root, target)))
        throw new BuildError(`${file} needs ${target}, which does not exist`);
      const seen = posix.relative(posix.dirname(file), target);
      return JSON.stringify(seen.startsWith(".") ? seen : `./${seen}`);
    })
    .replaceAll(BACKQUOTED, (_, ...texts) => JSON.stringify(texts.find((text) => text !== undefined)));
}

/** Returns a test of relative paths for a glob of `sideEffects` in package.json. */
function globTest(glob) {
  const pattern = glob
    .replace(/^\.\//u, "")
    .replaceAll(/[.+^${}()|[\]\\]/gu, "\\$&")
    .replaceAll(/\*\*\/|\*/gu, (stars) => (stars === "*" ? "[^/]*" : "(?:.*/)?"));
  return new RegExp(`^${pattern}$`, "u");
}

/**
 * Bundles the modules.
 *
 * @param {{ exports: object, sideEffects: readonly string[] }} manifest package.json of the checkout
 * @returns {Promise<{ files: ReadonlyMap<string, string>, sideEffects: readonly string[] }>} the code by relative
 *   path, and the value of `sideEffects` in package.json: bundlers leave out an import of any other file if nothing
 *   of it is used
 */
export async function bundledModules(manifest) {
  const library = libraryEntries(manifest);
  const input = { ...Object.fromEntries(library.map((path) => [path, path])), ...PROGRAMS };
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(Object.entries(input).map(([to, from]) => [to.replace(/\.js$/u, ""), from])),
    // Code for browsers must not import a module of Node, as what rolldown adds for Node does.
    platform: "neutral",
    // What chunks with `includeDependenciesRecursively: false` demand. No entry exports more: shared modules are in chunks.
    preserveEntrySignatures: "allow-extension",
    external: (id) => !/^[./]|^[A-Za-z]:[\\/]/u.test(id) && !(id in input),
    plugins: [addressesOfFiles],
    onLog(level, { message }) {
      if (level === "warn") throw new BuildError(message);
    },
  });
  const modules = await modulesOf(bundle);
  const groups = chunksOf(library, Object.values(PROGRAMS), modules).map((paths, index, { length }) => ({
    // Each import of a chunk has its name.
    name: "c",
    debugName: `c-${index}`,
    priority: length - index,
    test: (id) => paths.has(withSlashes(relative(root, id))),
  }));
  const { output } = await bundle.generate({
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: `${CHUNKS_FOLDER}/[name]-[hash].js`,
    // A group would take modules that its own only pass on.
    codeSplitting: { groups, includeDependenciesRecursively: false },
    comments: { legal: false, annotation: true, jsdoc: false },
    minify: {
      // Names of classes are seen in a debugger and by console.log.
      compress: { keepNames: { class: true, function: false } },
      // Tracers of files know a `require` only by the call `module.createRequire`, in this spelling.
      mangle: { keepNames: { class: true, function: false }, reserved: ["module"] },
    },
  });
  await bundle.close();
  const outputs = new Set(output.map(({ fileName }) => fileName));
  const tests = manifest.sideEffects.map(globTest);
  const isEffective = (id) => tests.some((test) => test.test(withSlashes(relative(root, id))));
  const chunks = output.filter(({ fileName }) => fileName.startsWith(`${CHUNKS_FOLDER}/`));
  const effective = chunks.filter(({ moduleIds }) => moduleIds.some(isEffective));
  return {
    files: new Map(output.map(({ fileName, code }) => [fileName, withAddresses(fileName, code, outputs)])),
    sideEffects: [...manifest.sideEffects, ...effective.map(({ fileName }) => `./${fileName}`)],
  };
}
