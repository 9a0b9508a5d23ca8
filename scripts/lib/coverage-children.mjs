// Reads the coverage of the built files in the processes and worker threads that tests start. V8
// writes it when they end (NODE_V8_COVERAGE). It is mapped to the TypeScript with source maps. The
// build writes none, because they would be published, so the files are built again in memory.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { mergeScriptCovs } from "@bcoe/v8-coverage";
import ts from "typescript";
import { bundleCommand, bundleLibrary, losesComments, withoutComments } from "../bundle.mjs";
import { BuildError, root } from "./run.mjs";

const BUILD_FOLDER = join(root, "dist");
/** Where each package is built, and its sources. */
const SOURCE_FOLDERS = [
  [BUILD_FOLDER, join(root, "js")],
  [join(root, "packages/storage/dist"), join(root, "packages/storage/src")],
];
const BUNDLES_FOLDER = join(BUILD_FOLDER, "bin");
const LIBRARY_FILE = join(BUILD_FOLDER, "cli/library.js");
/** The built modules that contain only an npm package, or a bundle of the page. Their coverage is not counted. */
const BUNDLED_FILES = [
  "mcp/protocol/sdk.js",
  "mcp/auth/jose.js",
  "review/elements.js",
  "review/page/shared.js",
  "review/page/library.js",
  "review/page/screens.js",
].map((name) => join(BUILD_FOLDER, name));

const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile).config,
  ts.sys,
  root,
);
/** The compiler options of the build, without those that need the types of other files. */
const compilerOptions = {
  ...options,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  jsx: ts.JsxEmit.None,
  declaration: false,
  isolatedDeclarations: false,
  sourceMap: true,
};

/**
 * Yields the built files that processes ran, with their code, source map and coverage.
 *
 * @param {string} directory where the processes wrote
 * @returns {AsyncGenerator<{ url: string, code: string, map: { sources: string[] }, functions: import("@bcoe/v8-coverage").FunctionCov[] }>}
 */
export async function* coveredScriptsOfChildren(directory) {
  const scripts = coverageByFile(directory);
  const bundleMaps = [...scripts.keys()].some(isBundle) ? await mapsOfBundles() : new Map();
  for (const [file, covered] of scripts) {
    const map = isBundle(file) ? bundleMaps.get(file) : await mapOfModule(file);
    if (map === undefined) continue;
    const { functions } = mergeScriptCovs(covered);
    yield { url: pathToFileURL(file).href, code: readFileSync(file, "utf8"), map, functions };
  }
}

const isBundle = (file) => dirname(file) === BUNDLES_FOLDER || file === LIBRARY_FILE;

/** Returns for each built file the coverage that each process wrote. */
function coverageByFile(directory) {
  const ours = SOURCE_FOLDERS.map(([built]) => `${pathToFileURL(built).href}/`);
  const scripts = new Map();
  for (const name of readdirSync(directory)) {
    for (const script of JSON.parse(readFileSync(join(directory, name), "utf8")).result) {
      if (!ours.some((folder) => script.url.startsWith(folder))) continue;
      const file = fileURLToPath(script.url);
      if (!scripts.has(file)) scripts.set(file, []);
      scripts.get(file).push(script);
    }
  }
  return scripts;
}

/**
 * Compiles the source of a built file again, and returns its code and source map before its comments
 * are removed; undefined for a file without a source of ours.
 */
function compileAgain(file) {
  const [built, sources] = SOURCE_FOLDERS.find(([folder]) => file.startsWith(join(folder, "/"))) ?? [];
  if (built === undefined) return undefined;
  const source = join(sources, relative(built, file).replace(/\.js$/u, ".ts"));
  const text = BUNDLED_FILES.includes(file) ? undefined : ts.sys.readFile(source);
  if (text === undefined) return undefined;
  const { outputText, sourceMapText } = ts.transpileModule(text, { compilerOptions, fileName: source });
  const code = outputText.replace(/\/\/# sourceMappingURL=.*\n?$/u, "");
  return { code, map: { ...JSON.parse(sourceMapText), sources: [source], sourceRoot: undefined } };
}

/**
 * Returns the source map of a module in dist; undefined for a file without a source of ours.
 * @throws BuildError if the module has other code than its source makes
 */
async function mapOfModule(file) {
  const compiled = compileAgain(file);
  if (compiled === undefined) return undefined;
  if (!losesComments(relative(BUILD_FOLDER, file).replaceAll("\\", "/"))) {
    if (compiled.code !== readFileSync(file, "utf8")) throw staleError(file);
    return compiled.map;
  }
  const { code, map } = await withoutComments(withInlineMap(compiled), { sourcemap: "external" });
  if (code !== readFileSync(file, "utf8")) throw staleError(file);
  return { ...JSON.parse(map), sources: compiled.map.sources };
}

/** Returns code whose last line is its source map, as esbuild reads it. */
function withInlineMap({ code, map }) {
  const encoded = Buffer.from(JSON.stringify(map)).toString("base64");
  return `${code}//# sourceMappingURL=data:application/json;base64,${encoded}\n`;
}

/** Returns for each bundle its source map, which refers to the TypeScript. */
async function mapsOfBundles() {
  const sourceMaps = {
    name: "source-maps",
    setup({ onLoad }) {
      onLoad({ filter: /\/dist\/.*\.js$/ }, ({ path }) => {
        const compiled = compileAgain(path);
        if (compiled === undefined) return undefined;
        return { contents: withInlineMap(compiled) };
      });
    },
  };
  const options = { sourcemap: "external", write: false, plugins: [sourceMaps] };
  const made = await Promise.all([bundleCommand(options), bundleLibrary(options)]);
  const texts = new Map(made.flatMap(({ outputFiles }) => outputFiles.map(({ path, text }) => [path, text])));
  const built = [...readdirSync(BUNDLES_FOLDER).map((name) => join(BUNDLES_FOLDER, name)), LIBRARY_FILE];
  const builtAs = new Map(built.map((file) => [withoutBundleHashes(readFileSync(file, "utf8")), file]));
  const maps = new Map();
  for (const [path, text] of texts) {
    if (!path.endsWith(".js")) continue;
    const file = builtAs.get(withoutBundleHashes(text));
    if (file === undefined) throw staleError(path);
    const { sources, ...map } = JSON.parse(texts.get(`${path}.map`));
    maps.set(file, { ...map, sources: sources.map((source) => join(dirname(path), source)) });
  }
  return maps;
}

/**
 * Returns the text of a bundle without the hashes in the names of other bundles, which differ if
 * there are source maps.
 */
const withoutBundleHashes = (text) => text.replaceAll(/-[A-Z0-9]{8}\.js\b/gu, "-.js");

/** Returns the error for a built file that does not correspond to its sources. */
const staleError = (file) =>
  new BuildError(`${relative(root, file)} is not what its sources make; run: npm run build`);
