// The examples of the documentation: which blocks of code run in a browser, and why the others do not. A block of
// JavaScript or TypeScript runs unless the words behind its language say otherwise:
//
//   ```js              runs, and the site has a button below it
//   ```js node=disk    does not, for the reason of this name in REASONS
//   ```js x.config.js  is a file for another tool
//   ```html page       is a part of a page of the reader's; ```html alone runs its markup and its script
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "../lib/run.mjs";

/** Why a block needs Node, by the word behind `node=`. */
export const REASONS = {
  commands: "it runs commands",
  disk: "it uses the local disk",
  package: "it uses packages or a service that are not in this page",
  server: "it is a part of a server",
  terminal: "it asks in a terminal",
};

/** The languages of programs. Blocks of other languages are commands, settings or output. */
const PROGRAMS = new Set(["js", "ts", "html"]);

/**
 * A block of code.
 *
 * @typedef {object} Block
 * @property {string} name of the module, such as `guides_hooks-3`
 * @property {string} language
 * @property {string} code
 * @property {"runs" | "node" | "part" | "other"} kind `part` is a part of a page or a file for another tool, `other`
 *   is no program
 * @property {string} [reason] why it needs Node
 */

/**
 * Returns the blocks of a document, in order.
 *
 * @param {string} path of the document in the repository
 * @returns {readonly Block[]}
 */
export function readBlocks(path) {
  const page = path
    .replace(/^docs\//u, "")
    .replace(/\.md$/u, "")
    .replaceAll("/", "_");
  const fences = readFileSync(join(root, path), "utf8").matchAll(/^```(\w*)(?: ([^\n]*))?\n(.*?)^```$/gmsu);
  return [...fences].map(([, language, words = "", code], index) => {
    const block = { name: `${page}-${index + 1}`, language, code };
    if (!PROGRAMS.has(language)) return { ...block, kind: "other" };
    const [, word] = /^node=(\w+)$/u.exec(words) ?? [];
    if (word !== undefined) {
      if (!Object.hasOwn(REASONS, word)) throw new Error(`${path}: no reason is named ${word}`);
      return { ...block, kind: "node", reason: REASONS[word] };
    }
    if (words === "") return { ...block, kind: "runs" };
    if (words === "page" || /^[\w.-]+\.\w+$/u.test(words)) return { ...block, kind: "part" };
    throw new Error(`${path}: a block with the unknown words “${words}”`);
  });
}

/** The documents whose examples run. */
export const EXAMPLE_DOCUMENTS = [
  "README.md",
  "docs/reading.md",
  ...readdirSync(join(root, "docs/guides"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/guides/${name}`),
];

/** Returns the script and the markup of an example. */
function partsOf({ language, code }) {
  if (language !== "html") return { script: code, markup: "" };
  const scripts = [];
  const markup = code.replaceAll(/<script type="module">(.*?)<\/script>\n?/gsu, (_, script) => {
    scripts.push(script);
    return "";
  });
  return { script: scripts.join("\n"), markup: markup.trim() };
}

/** Leaves the package to the file in the folder of the examples, and refuses every other import. */
const packageBeside = {
  name: "package-beside",
  setup({ onResolve }) {
    onResolve({ filter: /./ }, ({ path, kind }) => {
      if (kind === "entry-point") return undefined;
      if (path === "filewright/review/elements") return { path: "../elements.js", external: true };
      if (/^(?:@filewright\/storage|filewright)(?:\/|$)/u.test(path))
        return { path: "../filewright.js", external: true };
      return { errors: [{ text: `an example that runs in a browser cannot import ${path}` }] };
    });
  },
};

/**
 * Writes a module of each example that runs into `examples` below a folder.
 *
 * @param {string} folder
 */
export async function bundleExamples(folder) {
  const examples = EXAMPLE_DOCUMENTS.flatMap(readBlocks).filter(({ kind }) => kind === "runs");
  await Promise.all(
    examples.map((example) =>
      build({
        stdin: {
          contents: partsOf(example).script,
          loader: example.language === "ts" ? "ts" : "js",
          sourcefile: example.name,
        },
        outfile: join(folder, "examples", `${example.name}.js`),
        bundle: true,
        format: "esm",
        target: "es2023",
        charset: "utf8",
        logLevel: "warning",
        define: { console: "globalThis.exampleConsole" },
        plugins: [packageBeside],
      }),
    ),
  );
}

/**
 * Returns a page of the site with a place for a button below each example that runs, and a note below each that needs
 * Node.
 *
 * @param {string} html
 * @param {string} path of the document in the repository
 * @param {string} base the address of the site's folder, from the page
 */
export function withExamples(html, path, base) {
  const blocks = readBlocks(path);
  let index = 0;
  const marked = html.replaceAll(/<pre><code\b[\s\S]*?<\/pre>/gu, (shown) => {
    const block = blocks[index++];
    if (block?.kind === "node") return `${shown}<p class="example-note">Needs Node: ${block.reason}.</p>`;
    if (block?.kind !== "runs") return shown;
    const { markup } = partsOf(block);
    const template = markup === "" ? "" : `<template>${markup}</template>`;
    return `${shown}<div class="example" data-example="${block.name}">${template}</div>`;
  });
  if (index !== blocks.length)
    throw new Error(`${path} has ${blocks.length} blocks, and its page ${index}: examples would be mixed up`);
  if (!blocks.some(({ kind }) => kind === "runs" || kind === "node")) return html;
  return marked.replace("</head>", `<script type="module" src="${base}playground/run.js"></script>$&`);
}
