// Bundles the review page for browsers: js/review/page into dist/review/page, and its custom elements into
// dist/review/elements.js. Code that several of these scripts need is split off, so that a browser loads it once. In
// dist/review/page, screens.js contains the screens that are not shown first, and shared.js contains code that both
// review.js and elements.js need. library.js contains code that all three of them need.
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build, transform } from "esbuild";
import { elementStyle } from "./lib/element-style.mjs";
import { BuildError, root } from "./lib/run.mjs";

const SOURCE = "js/review/page";
const OUTPUT = "dist/review/page";

/** The options that all bundles of the page have in common. */
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
 * An esbuild plugin that resolves two imports of the elements. `elements-style` is no file: it is generated here from the
 * style sheets of the page and of the elements, for shadow roots. `elements.ts` only declares types for other packages,
 * so an import of it gets the implementation.
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
 * Returns the files of a bundle with the hashes of its chunks replaced by names that never change, because
 * scripts/release/contents.mjs lists the files by name. The bundle must be built with hashes: without them, esbuild gives
 * several chunks one name.
 *
 * @param {import("esbuild").BuildResult<{ write: false, metafile: true }>} bundle
 */
function withStableNames({ outputFiles, metafile }) {
  // The only chunk with an entry point is the target of the dynamic import in later-screen.tsx.
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
