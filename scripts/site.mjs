// Builds the site: the guides and reference pages, the API pages, and the playground, as files that any file server
// serves. typedoc makes the pages, so that a guide can link to the API and nothing else is installed for it.
//
//   npm run site              writes .cache/site
//   npm run site -- FOLDER    writes another folder
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { buildTypeScript } from "./build.mjs";
import { npmProgram, root, runAndWait, runScript } from "./lib/run.mjs";
import { EXAMPLE_DOCUMENTS, withExamples } from "./site/examples.mjs";
import { buildPlayground } from "./site/playground.mjs";

/** The guides and reference pages, in the order of the navigation. */
const DOCUMENTS = [
  "docs/guides/*.md",
  "docs/reference/*.md",
  ...["mcp", "terminal", "reading", "changing", "diff-compatibility"].map((name) => `docs/${name}.md`),
];

/** Targets of links that have no page of their own. Their links lead to the repository. */
const IN_REPOSITORY = {
  "media/ARCHITECTURE.md": "ARCHITECTURE.md",
  "media/CHANGELOG.md": "CHANGELOG.md",
  "media/CONTRIBUTING.md": "CONTRIBUTING.md",
  "media/RESULTS.md": "bench/RESULTS.md",
  "media/SECURITY.md": "SECURITY.md",
  "media/browser": "examples/browser",
  "media/decisions": "docs/decisions",
  "media/dependencies.md": "docs/dependencies.md",
  "media/examples": "examples",
  "media/requirements.md": "docs/requirements.md",
};
const REPOSITORY = "https://github.com/filewright/filewright/tree/main";

/** The one script that typedoc writes into its pages. As a file it runs under a policy without inline scripts. */
const INLINE_SCRIPT = /<script>(document\.documentElement\.dataset\.theme[^<]*)<\/script>/u;
const THEME_FILE = "assets/theme.js";

/** The style that a script of typedoc adds to its pages, and one that runs under a policy without inline styles. */
const ADDED_STYLE = 'document.head.appendChild(document.createElement("style"))';
const ADOPTED_STYLE = `(()=>{const sheet=new CSSStyleSheet;document.adoptedStyleSheets.push(sheet);let rules="";\
return{dataset:{},get innerHTML(){return rules},set innerHTML(text){rules=text;sheet.replaceSync(text)}}})()`;

/** Makes what typedoc has written run under a strict Content Security Policy. */
function makeStrict(folder) {
  const [, themeScript] = INLINE_SCRIPT.exec(readFileSync(join(folder, "index.html"), "utf8")) ?? [];
  const mainFile = join(folder, "assets/main.js");
  const main = readFileSync(mainFile, "utf8");
  if (themeScript === undefined || !main.includes(ADDED_STYLE))
    throw new Error("typedoc writes other scripts into its pages than it did");
  writeFileSync(join(folder, THEME_FILE), `${themeScript}\n`);
  writeFileSync(
    mainFile,
    main.replace(ADDED_STYLE, () => ADOPTED_STYLE),
  );
}

/** The documents with examples, by the name of their page. */
export const DOCUMENT_BY_PAGE = new Map(
  EXAMPLE_DOCUMENTS.map((path) => [
    path === "README.md"
      ? "index.html"
      : `documents/${path
          .replace(/^docs\//u, "")
          .replace("/", "_")
          .replace(/\.md$/u, "")}.html`,
    path,
  ]),
);

/**
 * Returns a page of typedoc with links to the guides and the playground and with its examples. It has no inline script,
 * and its links to what has no page lead to the repository.
 *
 * @param {string} html
 * @param {string} name of the page in the site, with `/`
 */
function finishedPage(html, name) {
  const [, base = "./"] = /<html[^>]*\sdata-base="([^"]*)"/u.exec(html) ?? [];
  const links = `<a href="${base}documents/guides_README.html">Guides</a> <a href="${base}playground/index.html">Playground</a>`;
  const linked = html
    .replace('<div id="tsd-toolbar-links">', `$&${links}`)
    .replace('<div class="site-menu">', `$&<nav id="tsd-sidebar-links" class="tsd-navigation">${links}</nav>`)
    .replace("</head>", `<link rel="icon" href="${base}playground/icon.svg"/>$&`)
    // The first page has the title of the README as well.
    .replace(/(<div class="tsd-page-title">)\s*<h1>Filewright<\/h1>/u, "$1")
    .replace(INLINE_SCRIPT, `<script src="${base}${THEME_FILE}"></script>`)
    .replaceAll(/href="(?:\.\.\/)?(media\/[\w.]+)(#[\w-]*)?"/gu, (link, path, heading = "") =>
      Object.hasOwn(IN_REPOSITORY, path) ? `href="${REPOSITORY}/${IN_REPOSITORY[path]}${heading}"` : link,
    );
  const document = DOCUMENT_BY_PAGE.get(name);
  return document === undefined ? linked : withExamples(linked, document, base);
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
  const args = [
    "--readme",
    "README.md",
    "--out",
    folder,
    "--treatWarningsAsErrors",
    "false",
    "--customCss",
    "docs/site/site.css",
    ...documents,
  ];
  runAndWait(npmProgram("typedoc"), [...args, "--logLevel", "Error"]);
  makeStrict(folder);
  for (const name of readdirSync(folder, { recursive: true }).map(String)) {
    if (!name.endsWith(".html")) continue;
    const file = join(folder, name);
    writeFileSync(file, finishedPage(readFileSync(file, "utf8"), name.replaceAll("\\", "/")));
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
