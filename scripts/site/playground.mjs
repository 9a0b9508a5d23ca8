// Builds the playground and the examples of the documentation: the pages, and the package bundled for browsers with its
// WebAssembly module.
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "../lib/run.mjs";
import { bundleExamples } from "./examples.mjs";

/** The files that are copied as they are, by folder. */
const COPIED = {
  "docs/site/playground": ["index.html", "playground.css"],
  "js/review/page": ["icon.svg"],
  "dist/wasm": ["filewright_bg.wasm"],
};

/**
 * Writes the playground, and the modules of the examples, into a folder. The package has to be built.
 *
 * @param {string} folder
 */
export async function buildPlayground(folder) {
  mkdirSync(folder, { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: {
      playground: "docs/site/playground/playground.js",
      elements: "filewright/review/elements",
      run: "docs/site/examples/run.js",
      filewright: "docs/site/examples/filewright.js",
    },
    outdir: folder,
    bundle: true,
    splitting: true,
    minify: true,
    platform: "browser",
    format: "esm",
    target: "es2023",
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
    // Optional packages, which a page loads only where they are.
    external: ["sharp", "unpdf", "yaml", "@opentelemetry/api", "ai"],
  });
  await bundleExamples(folder);
  for (const [from, names] of Object.entries(COPIED))
    for (const name of names) copyFileSync(join(root, from, name), join(folder, name));
}
