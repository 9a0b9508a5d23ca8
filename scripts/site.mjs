// Builds the site: the guides and reference pages, the API pages, and the playground, as files that any file server
// serves. typedoc makes the pages, so that a guide can link to the API and nothing else is installed for it.
//
//   npm run site              writes .cache/site
//   npm run site -- FOLDER    writes another folder
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { buildTypeScript } from "./build.mjs";
import { npmProgram, root, runAndWait, runScript } from "./lib/run.mjs";

/** The guides and reference pages, in the order of the navigation. */
const DOCUMENTS = ["docs/guides/*.md", "docs/reference/*.md", "docs/mcp.md", "docs/terminal.md"];

/**
 * Writes the playground into a folder: the page, and the package bundled for browsers with its WebAssembly module.
 *
 * @param {string} folder
 */
export async function buildPlayground(folder) {
  mkdirSync(folder, { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: ["docs/site/playground/playground.js"],
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
    external: ["sharp", "unpdf", "yaml", "@opentelemetry/api"],
  });
  for (const name of ["index.html", "playground.css"])
    copyFileSync(join(root, "docs/site/playground", name), join(folder, name));
  copyFileSync(join(root, "js/review/page/icon.svg"), join(folder, "icon.svg"));
  copyFileSync(join(root, "dist/wasm/filewright_bg.wasm"), join(folder, "filewright_bg.wasm"));
}

/**
 * Writes the whole site into a folder.
 *
 * @param {string} folder
 */
export async function buildSite(folder) {
  rmSync(folder, { recursive: true, force: true });
  const documents = DOCUMENTS.flatMap((pattern) => ["--projectDocuments", pattern]);
  runAndWait(npmProgram("typedoc"), ["--readme", "README.md", "--out", folder, ...documents]);
  await buildPlayground(join(folder, "playground"));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(async () => {
    const folder = resolve(process.argv[2] ?? join(root, ".cache/site"));
    await buildTypeScript();
    await buildSite(folder);
    console.log(join(folder, "index.html"));
  });
}
