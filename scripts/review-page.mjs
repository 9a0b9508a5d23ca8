// Bundles the review page for browsers: js/review/page into dist/review/page.
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "./lib/run.mjs";

const SOURCE = "js/review/page";
const OUTPUT = "dist/review/page";

/**
 * Bundles entries of the page, such as `review.tsx`.
 *
 * @param {readonly string[]} entries
 * @param {import("esbuild").BuildOptions} options
 */
export const bundleReviewPage = (entries, options = {}) =>
  build({
    absWorkingDir: root,
    entryPoints: entries.map((entry) => `${SOURCE}/${entry}`),
    outdir: OUTPUT,
    bundle: true,
    minify: true,
    platform: "browser",
    format: "esm",
    target: "es2023",
    charset: "utf8",
    legalComments: "none",
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "warning",
    ...options,
  });

/** Builds the page into dist. */
export async function buildReviewPage() {
  mkdirSync(join(root, OUTPUT), { recursive: true });
  await bundleReviewPage(["review.tsx", "review.css"]);
  for (const name of ["index.html", "icon.svg"])
    copyFileSync(join(root, SOURCE, name), join(root, OUTPUT, name));
}
