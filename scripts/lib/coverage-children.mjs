// What the processes and worker threads that tests start have run of the built files, as V8 wrote it
// down when they ended (NODE_V8_COVERAGE), with source maps to the TypeScript. The build makes none,
// because they would be published: here the same is built once more, in memory.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { mergeScriptCovs } from "@bcoe/v8-coverage";
import ts from "typescript";
import { bundleCommand } from "../bundle.mjs";
import { BuildError, root } from "./run.mjs";

const dist = join(root, "dist");
const bin = join(dist, "bin");
/** Modules that bundle a package: no source of ours is in them. */
const packages = ["mcp/protocol/sdk.js", "mcp/auth/jose.js"].map((name) => join(dist, name));

const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile).config,
  ts.sys,
  root,
);
/** The options of the build for one file, without what would need the types of others. */
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
 * The built files that processes ran.
 *
 * @param {string} directory where the processes wrote
 * @returns {AsyncGenerator<{ url: string, code: string, map: { sources: string[] }, functions: import("@bcoe/v8-coverage").FunctionCov[] }>}
 */
export async function* childScripts(directory) {
  const scripts = readScripts(directory);
  const bundleMaps = [...scripts.keys()].some(isBundle) ? await mapsOfBundles() : new Map();
  for (const [file, covered] of scripts) {
    const map = isBundle(file) ? bundleMaps.get(file) : compile(file)?.map;
    if (map === undefined) continue;
    const { functions } = mergeScriptCovs(covered);
    yield { url: pathToFileURL(file).href, code: readFileSync(file, "utf8"), map, functions };
  }
}

const isBundle = (file) => dirname(file) === bin;

/** Built file → what each process ran of it. */
function readScripts(directory) {
  const ours = `${pathToFileURL(dist).href}/`;
  const scripts = new Map();
  for (const name of readdirSync(directory)) {
    for (const script of JSON.parse(readFileSync(join(directory, name), "utf8")).result) {
      if (!script.url.startsWith(ours)) continue;
      const file = fileURLToPath(script.url);
      if (!scripts.has(file)) scripts.set(file, []);
      scripts.get(file).push(script);
    }
  }
  return scripts;
}

/** A built file and its source map; undefined where no source of ours is. */
function compile(file) {
  const source = join(root, "js", relative(dist, file).replace(/\.js$/u, ".ts"));
  const text = packages.includes(file) ? undefined : ts.sys.readFile(source);
  if (text === undefined) return undefined;
  const { outputText, sourceMapText } = ts.transpileModule(text, { compilerOptions, fileName: source });
  const code = outputText.replace(/\/\/# sourceMappingURL=.*\n?$/u, "");
  if (code !== readFileSync(file, "utf8")) throw staleError(file);
  return { code, map: { ...JSON.parse(sourceMapText), sources: [source], sourceRoot: undefined } };
}

/** Bundle → its source map, through the compiler's to the TypeScript. */
async function mapsOfBundles() {
  const sourceMaps = {
    name: "source-maps",
    setup({ onLoad }) {
      onLoad({ filter: /\/dist\/.*\.js$/ }, ({ path }) => {
        const compiled = compile(path);
        if (compiled === undefined) return undefined;
        const map = Buffer.from(JSON.stringify(compiled.map)).toString("base64");
        return { contents: `${compiled.code}//# sourceMappingURL=data:application/json;base64,${map}\n` };
      });
    },
  };
  const made = await bundleCommand({ sourcemap: "external", write: false, plugins: [sourceMaps] });
  const texts = new Map(made.outputFiles.map(({ path, text }) => [path, text]));
  const built = readdirSync(bin).map((name) => join(bin, name));
  const builtAs = new Map(built.map((file) => [withoutHashes(readFileSync(file, "utf8")), file]));
  const maps = new Map();
  for (const [path, text] of texts) {
    if (!path.endsWith(".js")) continue;
    const file = builtAs.get(withoutHashes(text));
    if (file === undefined) throw staleError(path);
    const { sources, ...map } = JSON.parse(texts.get(`${path}.map`));
    maps.set(file, { ...map, sources: sources.map((source) => join(dirname(path), source)) });
  }
  return maps;
}

/** A bundle without the hashes in the names of others, which its source map changes. */
const withoutHashes = (text) => text.replaceAll(/-[A-Z0-9]{8}\.js\b/gu, "-.js");

const staleError = (file) =>
  new BuildError(`${relative(root, file)} is not what its sources make; run: npm run build`);
