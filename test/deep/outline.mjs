// Compares the definitions of `outline` with those of tree-sitter on real files: names, first and last lines.
//
//   npm run deep -- outline FOLDER
//
// tree-sitter and its grammars are installed into .cache/tree-sitter when first used. Files that it cannot parse
// without an error are left out. A language fails where fewer than 99 % of its definitions are found exactly.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { extname, join, relative } from "node:path";
import { openWorkspace } from "../../dist/cli/library.js";
import { root, runAndWait } from "../../scripts/lib/run.mjs";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";
import { truthOf } from "./outline/truth.mjs";

const LEAST_FOUND = 0.99;
const [MIN_BYTES, MAX_BYTES] = [500, 200_000];
const PACKAGES = ["web-tree-sitter@0.27", "@vscode/tree-sitter-wasm@0.3"];
const GRAMMARS = {
  python: [".py"],
  rust: [".rs"],
  go: [".go"],
  javascript: [".js", ".mjs", ".jsx"],
  typescript: [".ts"],
  tsx: [".tsx"],
  java: [".java"],
  "c-sharp": [".cs"],
  cpp: [".c", ".h", ".cc", ".cpp", ".hpp"],
  php: [".php"],
  ruby: [".rb"],
  bash: [".sh"],
};
const GRAMMAR_BY_EXTENSION = new Map(
  Object.entries(GRAMMARS).flatMap(([grammar, extensions]) => extensions.map((one) => [one, grammar])),
);

function filesBelow(folder) {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  const paths = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  return paths.filter((path) => {
    if (!GRAMMAR_BY_EXTENSION.has(extname(path)) || /\.(?:min\.js|d\.ts)$/u.test(path)) return false;
    const { size } = statSync(path);
    return size > MIN_BYTES && size < MAX_BYTES;
  });
}

async function openParsers() {
  const folder = join(root, ".cache/tree-sitter");
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, "node_modules/web-tree-sitter"))) {
    await runAndWait("npm", ["install", "--no-save", "--prefix", folder, ...PACKAGES]);
  }
  const require = createRequire(join(folder, "index.js"));
  const { Parser, Language } = await import(require.resolve("web-tree-sitter"));
  await Parser.init();
  const parsers = new Map();
  return async (grammar) => {
    if (!parsers.has(grammar)) {
      const parser = new Parser();
      const file = `node_modules/@vscode/tree-sitter-wasm/wasm/tree-sitter-${grammar}.wasm`;
      parser.setLanguage(await Language.load(join(folder, file)));
      parsers.set(grammar, parser);
    }
    return parsers.get(grammar);
  };
}

const keyOf = (name, first, last) => `${name.replace(/^["'#]+|["']$/gu, "")} ${first}-${last}`;

/** The definitions by tree-sitter; undefined where it cannot parse the file. */
function parsed(parser, grammar, path) {
  const tree = parser.parse(readFileSync(path, "utf8"));
  const truth = truthOf(grammar, tree.rootNode);
  tree.delete();
  return truth && new Set(truth.map((one) => keyOf(...one)));
}

/** The definitions by `outline`. */
async function outlined(ws, path) {
  const { data } = await ws.call("outline", { path, max_tokens: 100_000 });
  const definitions = data?.files.flatMap((file) => file.definitions) ?? [];
  return new Set(definitions.map((one) => keyOf(one.name, one.start_line, one.end_line)));
}

/** Counts the definitions of a file that were found. */
function compare(sum, truth, found, path) {
  for (const one of truth) {
    sum.all++;
    if (found.has(one)) sum.found++;
    else sum.missed.push(`${path}: ${one}`);
  }
}

async function run({ seed, count, operand, isOver }) {
  const random = seededRandom(seed);
  const parserOf = await openParsers();
  const ws = await openWorkspace({ root: operand, readOnly: true });
  const sums = new Map();
  const paths = filesBelow(operand);
  let cases = 0;
  try {
    while (paths.length > 0 && cases < count && !isOver()) {
      const [path] = paths.splice(random.below(paths.length), 1);
      const grammar = GRAMMAR_BY_EXTENSION.get(extname(path));
      const truth = parsed(await parserOf(grammar), grammar, path);
      if (truth === undefined) continue;
      const sum = sums.get(grammar) ?? { all: 0, found: 0, missed: [] };
      sums.set(grammar, sum);
      compare(sum, truth, await outlined(ws, relative(operand, path)), path);
      cases++;
    }
  } finally {
    await ws.close();
  }
  const failures = [];
  for (const [grammar, { all, found, missed }] of sums) {
    const share = found / Math.max(1, all);
    console.log(`${grammar}: ${found} of ${all} definitions (${(100 * share).toFixed(2)} %)`);
    if (share < LEAST_FOUND) failures.push(`${grammar}: ${missed.slice(0, 5).join(", ")}`);
  }
  return { cases, failures };
}

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "definitions of real files against tree-sitter",
  count: 2000,
  share: 0,
  takes: "FOLDER",
  run,
};
