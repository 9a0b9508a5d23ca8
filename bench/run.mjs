// Ratios against other tools, one command: `npm run bench`.
//
//   --full         large corpora: the Linux source tree, many npm packages
//   --dev          the development build of the addon: quick to make, slower to run
//   --only a,b     some groups: diff, edit, grep, index, start, glob, page, reads, encoding, call, overhead, disk, sandbox, mcp,
//                  wasm, browser
//
// Every row first checks that both sides give the same answer, then times them
// alternately. A row whose feature or peer is missing says so and is skipped.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { main, root } from "../scripts/lib/run.mjs";
import { printHead, printRow, writeResults } from "./lib/report.mjs";
import { prepare } from "./lib/setup.mjs";
import { Skip } from "./lib/skip.mjs";

const groups = [
  "diff",
  "edit",
  "grep",
  "index",
  "start",
  "glob",
  "page",
  "reads",
  "encoding",
  "call",
  "overhead",
  "disk",
  "sandbox",
  "mcp",
  "wasm",
  "browser",
];
const option = (name) => process.argv[process.argv.indexOf(name) + 1];
const full = process.argv.includes("--full");
const dev = process.argv.includes("--dev");
const only = process.argv.includes("--only") ? option("--only").split(",") : groups;

await main(async () => {
  await prepare({ dev });
  const load = (file) => import(pathToFileURL(join(root, "dist", file)).href);
  const results = [];
  for (const group of groups.filter((name) => only.includes(name))) {
    const { title, rows } = await import(`./rows/${group}.mjs`);
    printHead(title);
    try {
      for await (const row of rows({ load, full, root })) {
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
  console.log(`\n${writeResults(join(root, "bench/results"), results, { full, dev, only })}`);
});
