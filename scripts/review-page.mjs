// Bundles the review page for browsers: js/review/page into dist/review/page, and its elements into
// dist/review/elements.js. In dist/review/page, shared.js is what both need, screens.js the screens that are not shown
// first, and library.js what these three need.
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build, transform } from "esbuild";
import { elementStyle } from "./lib/element-style.mjs";
import { BuildError, root } from "./lib/run.mjs";

const SOURCE = "js/review/page";
const OUTPUT = "dist/review/page";

/** The options of everything that is built of the page. */
const COMMON_OPTIONS = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  platform: "browser",
  format: "esm",
  target: "es2023",
  charset: "utf8",
  legalComments: "none",
  metafile: true,
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
};

/**
 * Bundles entries of the page, such as `review.tsx`.
 *
 * @param {readonly string[]} entries
 * @param {import("esbuild").BuildOptions} options
 */
export const bundleReviewPage = (entries, options = {}) =>
  build({
    ...COMMON_OPTIONS,
    entryPoints: entries.map((entry) => `${SOURCE}/${entry}`),
    outdir: OUTPUT,
    ...options,
  });

/**
 * Resolves the module `elements-style`, the style of the page and of the elements for shadow roots, and the code of the
 * elements, whose declarations are in another file.
 */
const elementsCode = {
  name: "elements-code",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /(?:^\.|\/js\/review)\/elements\.ts$/ }, () => ({
      path: join(root, SOURCE, "elements/index.ts"),
    }));
    onResolve({ filter: /^elements-style$/ }, () => ({ path: "style", namespace: "elements" }));
    onLoad({ filter: /^style$/, namespace: "elements" }, async () => {
      const { outputFiles } = await bundleReviewPage(["review.css", "elements/elements.css"], {
        write: false,
        minify: false,
      });
      const { rules, properties } = elementStyle(outputFiles.map(({ text }) => text).join("\n"));
      const { code } = await transform(rules, { loader: "css", minify: true });
      return {
        contents: `export const rules = ${JSON.stringify(code)};\nexport const properties = ${JSON.stringify(properties)};`,
      };
    });
  },
};

/**
 * Bundles the elements alone, with the view library and their style.
 *
 * @param {import("esbuild").BuildOptions} options
 */
export const bundleElements = (options = {}) =>
  build({
    ...COMMON_OPTIONS,
    entryPoints: { elements: `${SOURCE}/elements/index.ts` },
    outdir: "dist/review",
    allowOverwrite: true,
    plugins: [elementsCode],
    ...options,
  });

/**
 * Returns the files of a bundle whose chunks have names that the package can list. Without a hash in their names, esbuild
 * would give several chunks one name.
 *
 * @param {import("esbuild").BuildResult<{ write: false, metafile: true }>} bundle
 */
function withStableNames({ outputFiles, metafile }) {
  const chunks = Object.entries(metafile.outputs).filter(([path]) => /-[A-Z0-9]{8}\.js$/u.test(path));
  const names = new Map();
  for (const [path, { entryPoint, imports }] of chunks) {
    const usesAnother = imports.some(
      ({ kind, path: to }) => kind === "import-statement" && chunks.some(([one]) => one === to),
    );
    const name = entryPoint !== undefined ? "screens" : usesAnother ? "shared" : "library";
    if ([...names.values()].includes(name))
      throw new BuildError(`the review page has two chunks that are ${name}.js`);
    names.set(basename(path, ".js"), name);
  }
  const rename = (text) => [...names].reduce((all, [from, to]) => all.replaceAll(from, to), text);
  return outputFiles.map(({ path, text }) => ({ path: rename(path), text: rename(text) }));
}

/**
 * Builds the page and the elements into dist. Returns the paths of the files that they are made of.
 *
 * @returns {Promise<readonly string[]>}
 */
export async function buildReviewPage() {
  mkdirSync(join(root, OUTPUT), { recursive: true });
  const page = await bundleReviewPage(["editor.ts", "review.css"]);
  for (const name of ["index.html", "icon.svg"])
    copyFileSync(join(root, SOURCE, name), join(root, OUTPUT, name));
  const scripts = await bundleElements({
    entryPoints: { "page/review": `${SOURCE}/review.tsx`, elements: `${SOURCE}/elements/index.ts` },
    splitting: true,
    chunkNames: "page/[name]-[hash]",
    write: false,
  });
  for (const { path, text } of withStableNames(scripts)) writeFileSync(path, text);
  return [page, scripts].flatMap(({ metafile }) => Object.keys(metafile.inputs));
}
