// Measures Filewright against other tools and prints ratios: `npm run bench`. `--help` lists the
// options and builds nothing.
//
// Each measurement is a row. It first checks that both sides give the same answer, and then times
// them alternately. A row is skipped, with the reason, if this machine lacks what it needs.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { BuildError, runScript, root } from "../scripts/lib/run.mjs";
import { printTableHead, printRow, writeResults } from "./lib/report.mjs";
import { findSlowRows, recordedFigures } from "./lib/recorded.mjs";
import { prepareBenchmarks } from "./lib/setup.mjs";
import { Skip } from "./lib/skip.mjs";

const ROW_GROUPS = [
  "diff",
  "edit",
  "grep",
  "binaries",
  "index",
  "start",
  "glob",
  "page",
  "reads",
  "encoding",
  "calls",
  "overhead",
  "disk",
  "node-disk",
  "overlay",
  "mirror",
  "fleet",
  "growth",
  "sandbox",
  "mcp",
  "tokens",
  "knows",
  "knows-history",
  "knows-tasks",
  "knows-tree",
  "wasm",
  "browser",
  "review",
  "readme",
];

const HELP_TEXT = `Measures Filewright beside other tools and prints ratios.

  npm run bench -- [options]

  --only A,B    some groups of rows: ${ROW_GROUPS.slice(0, 10).join(", ")},
                ${ROW_GROUPS.slice(10, 22).join(", ")},
                ${ROW_GROUPS.slice(22).join(", ")}
  --row KEY     one row of the group readme, whose rows are those of the README
  --full        large trees: the Linux source, many npm packages
  --dev         the addon as it is built for daily work, not as it is published
  --repositories FOLDER
                git directories with their whole history, for knows-history and knows-tasks
  --compare     fails if a row of the group readme is less than a third of its figure in the README
  --list        lists the groups and the rows of the group readme, and ends
  --help        this text

It builds what is missing: without --dev the addon as it is published, which takes minutes once. The first run
installs the tools that are compared into bench/node_modules and makes the trees to search in .cache/bench.
Results are also written to bench/results as JSON.
`;

function parseArguments() {
  try {
    return parseArgs({
      options: {
        only: { type: "string" },
        row: { type: "string" },
        full: { type: "boolean", default: false },
        dev: { type: "boolean", default: false },
        repositories: { type: "string" },
        compare: { type: "boolean", default: false },
        list: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    throw new BuildError(`${error.message}; --help lists the options`);
  }
}

/** Returns the names of the groups of rows that the options select. */
function chosenGroups({ only, row }) {
  const names =
    only?.split(",") ?? (row === undefined ? ROW_GROUPS.filter((name) => name !== "readme") : ["readme"]);
  const unknown = names.filter((name) => !ROW_GROUPS.includes(name));
  if (unknown.length > 0)
    throw new BuildError(`there is no group '${unknown[0]}'; known: ${ROW_GROUPS.join(", ")}`);
  return names;
}

/**
 * Returns the keys of the rows of the README. They are read from the text of the file, because
 * importing it needs the tools that are compared.
 */
function readmeKeys() {
  const text = readFileSync(join(root, "bench/rows/readme.mjs"), "utf8");
  const table = /^const MEASURE_BY_ROW_KEY = \{\n([\s\S]*?)^\};/mu.exec(text)?.[1] ?? "";
  return [...table.matchAll(/^ {2}"?([\w-]+)"?:/gmu)].map(([, key]) => key);
}

/** Prints the rows that are much slower than recorded, and fails if there are any. */
function compareWithReadme(results) {
  const figures = recordedFigures(readFileSync(join(root, "README.md"), "utf8"));
  const complaints = findSlowRows(results, figures);
  for (const complaint of complaints) console.error(complaint);
  console.log(complaints.length === 0 ? "no row is much slower than recorded" : "");
  if (complaints.length > 0) process.exitCode = 1;
}

await runScript(async () => {
  const { help, list, row: key, full, dev, repositories, compare, ...rest } = parseArguments();
  if (help) return void process.stdout.write(HELP_TEXT);
  if (list) return void console.log(`${ROW_GROUPS.join("\n")}\n\nreadme: ${readmeKeys().join(", ")}`);
  const only = chosenGroups({ only: rest.only, row: key });
  if (key !== undefined && !readmeKeys().includes(key))
    throw new BuildError(`there is no row '${key}'; known: ${readmeKeys().join(", ")}`);
  if (compare && !only.includes("readme"))
    throw new BuildError("--compare goes with --only readme or --row KEY: the README records those rows");
  await prepareBenchmarks({ dev });
  const load = (file) => import(pathToFileURL(join(root, "dist", file)).href);
  const results = [];
  for (const group of ROW_GROUPS.filter((name) => only.includes(name))) {
    const { title, rows } = await import(`./rows/${group}.mjs`);
    printTableHead(title);
    try {
      for await (const row of rows({ load, full, root, repositories, row: key })) {
        printRow(row);
        results.push({ group, ...row });
      }
    } catch (error) {
      const row = { group, name: group, [error instanceof Skip ? "skipped" : "failed"]: error.message };
      printRow(row);
      results.push(row);
      if (row.failed) process.exitCode = 1;
    }
  }
  console.log(`\n${writeResults(join(root, "bench/results"), results, { full, dev, only, row: key })}`);
  if (compare) compareWithReadme(results);
});
