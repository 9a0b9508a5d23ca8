// Builds the site: the guides and reference pages, the API pages, and the playground, as files that any file server
// serves. typedoc makes the pages, so that a guide can link to the API and nothing else is installed for it.
//
//   npm run site              writes .cache/site
//   npm run site -- FOLDER    writes another folder
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

/** Folders of the repository that pages link to. They have no page, so their links lead to the repository. */
const FOLDERS = {
  "media/examples": "examples",
  "media/decisions": "docs/decisions",
  "media/browser": "examples/browser",
};
const REPOSITORY = "https://github.com/filewright/filewright/tree/main";

/**
 * Returns a page of typedoc with a link to the playground, and without links to folders.
 *
 * @param {string} html
 */
export function finishedPage(html) {
  const [, base = "./"] = /<html[^>]*\sdata-base="([^"]*)"/u.exec(html) ?? [];
  const playground = `<a href="${base}playground/index.html">Playground</a>`;
  return html
    .replace('<div id="tsd-toolbar-links">', `$&${playground}`)
    .replaceAll(/href="(?:\.\.\/)?(media\/\w+)"/gu, (link, path) =>
      Object.hasOwn(FOLDERS, path) ? `href="${REPOSITORY}/${FOLDERS[path]}"` : link,
    );
}

/**
 * Writes the whole site into a folder. The package has to be built.
 *
 * @param {string} folder
 */
export async function buildSite(folder) {
  rmSync(folder, { recursive: true, force: true });
  const documents = DOCUMENTS.flatMap((pattern) => ["--projectDocuments", pattern]);
  // `npm run docs` fails for a warning; a page is better with a name that has no page than not there.
  const args = ["--readme", "README.md", "--out", folder, "--treatWarningsAsErrors", "false", ...documents];
  runAndWait(npmProgram("typedoc"), [...args, "--logLevel", "Error"]);
  for (const name of readdirSync(folder, { recursive: true })) {
    if (!String(name).endsWith(".html")) continue;
    const file = join(folder, String(name));
    writeFileSync(file, finishedPage(readFileSync(file, "utf8")));
  }
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
