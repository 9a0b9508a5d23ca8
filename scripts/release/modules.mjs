// Bundles the modules of the package for the tarball, so that the entries of all conditions and the command share
// their code. dist holds the command's code a second time, in a bundle, which coverage and tests need; in the
// tarball it would be a fifth of the size.
//
//   dist/**/*.js      the entries, at the paths that package.json names
//   dist/chunks/*.js  what several entries use
//
// A chunk holds the modules that the same entries use, so an entry loads only what it needs. What an entry of the library
// imports on demand counts as an entry, since a chunk for browsers must not hold code for Node. What the command alone
// imports on demand does not split chunks further: a start would read twice as many files. esbuild, which makes dist/bin,
// does not leave this choice.
import { existsSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { build } from "esbuild";
import { rolldown } from "rolldown";
import { BuildError, root } from "../lib/run.mjs";

/** The folder of the chunks. Code finds other files of the package two folders above itself. */
const CHUNKS_FOLDER = "dist/chunks";

/** The programs of the package, and the modules that they are made of. */
const PROGRAMS = {
  "dist/bin/filewright.js": "dist/cli/main.node.js",
  "dist/bin/server-filesystem.js": "dist/mcp/server-filesystem.node.js",
};

/** A program waits for modules that it imports on demand, so these cannot share its file. */
const isProgram = (path) => Object.values(PROGRAMS).includes(path);

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
 * Returns the modules that each module imports, by relative path: statically and on demand.
 *
 * @typedef {ReadonlyMap<string, readonly string[]>} Imports
 * @param {readonly string[]} entries
 * @returns {Promise<{ readonly fixed: Imports, readonly onDemand: Imports }>}
 */
async function importsOf(entries) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [...entries],
    outdir: "unused",
    bundle: true,
    write: false,
    metafile: true,
    platform: "node",
    format: "esm",
    packages: "external",
    external: ["*.wasm"],
    logLevel: "error",
  });
  const ofKind = (wanted) =>
    new Map(
      Object.entries(metafile.inputs).map(([path, { imports }]) => {
        const inside = imports.filter(({ kind, external }) => kind === wanted && !external);
        return [path, inside.map((one) => one.path)];
      }),
    );
  return { fixed: ofKind("import-statement"), onDemand: ofKind("dynamic-import") };
}

/** Returns the modules that some entries import on demand, also indirectly. */
function importedOnDemand(entries, { fixed, onDemand }) {
  const found = new Set();
  const waiting = [...entries];
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    for (const path of reachedFrom(entry, fixed)) {
      for (const next of onDemand.get(path) ?? []) {
        if (found.has(next)) continue;
        found.add(next);
        waiting.push(next);
      }
    }
  }
  return [...found];
}

/** Returns everything that a module imports, also indirectly, and the module itself. */
function reachedFrom(entry, imports) {
  const found = new Set([entry]);
  for (const path of found) for (const next of imports.get(path) ?? []) found.add(next);
  return found;
}

/**
 * Returns the groups of modules that the same entries use. The first are those that most entries use: a group takes
 * the modules that its own import with it, and those belong to an earlier group.
 *
 * @param {readonly string[]} entries
 * @param {ReadonlyMap<string, readonly string[]>} imports
 */
function chunkGroups(entries, imports) {
  const usersOf = new Map();
  for (const entry of entries) {
    for (const path of reachedFrom(entry, imports)) {
      if (!usersOf.has(path)) usersOf.set(path, []);
      usersOf.get(path).push(entry);
    }
  }
  const groups = new Map();
  for (const [path, users] of usersOf) {
    if (users.length === 1 || isProgram(path)) continue;
    const key = users.join();
    if (!groups.has(key)) groups.set(key, { users, paths: new Set() });
    groups.get(key).paths.add(path);
  }
  return [...groups.values()]
    .sort((a, b) => b.users.length - a.users.length)
    .map(({ paths }, index, { length }) => ({
      name: "shared",
      debugName: `shared-${index}`,
      priority: length - index,
      test: (id) => paths.has(withSlashes(relative(root, id))),
    }));
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
  const entries = [...library, ...Object.values(PROGRAMS)];
  const imports = await importsOf(entries);
  const users = new Set([...entries, ...importedOnDemand(library, imports)]);
  const groups = chunkGroups([...users], imports.fixed);
  const input = { ...Object.fromEntries(library.map((path) => [path, path])), ...PROGRAMS };
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(Object.entries(input).map(([to, from]) => [to.replace(/\.js$/u, ""), from])),
    // Code for browsers must not import a module of Node, as what rolldown adds for Node does.
    platform: "neutral",
    external: (id) => !/^[./]|^[A-Za-z]:[\\/]/u.test(id) && !(id in input),
    plugins: [addressesOfFiles],
    onLog(level, { message }) {
      if (level === "warn") throw new BuildError(message);
    },
  });
  const { output } = await bundle.generate({
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: `${CHUNKS_FOLDER}/[name]-[hash].js`,
    codeSplitting: { groups },
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
