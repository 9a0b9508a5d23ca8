// The Model Context Protocol's own judges on our servers: its conformance suite
// over HTTP, and its inspector's command line driving every tool over stdio, over HTTP and in the host's process.
//
// Both need Node 22, which npm carries; everything is installed into
// .cache/conformance. Scenarios that ask for tools made for the suite (such as
// `test_simple_text`), for prompts made for it or for sampling do not apply to a server of
// files, nor does `logging-set-level`: over HTTP no session keeps a level.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main, root } from "./lib/run.mjs";

const folder = join(root, ".cache/conformance");
const packages = {
  node: "22.23.3",
  "@modelcontextprotocol/conformance": "0.1.16",
  "@modelcontextprotocol/inspector": "2.12.0",
};
const scenarios = [
  "server-initialize",
  "ping",
  "tools-list",
  "completion-complete",
  "resources-list",
  "dns-rebinding-protection",
];
const node = join(folder, "node_modules/node/bin/node");
const command = join(root, "dist/bin/filewright.js");
const inProcess = join(root, "scripts/lib/in-process-server.mjs");

function install() {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies: packages }));
  const quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"];
  // The package `node` puts its binary in place when it is installed.
  spawnSync("npm", ["install", "--prefix", folder, ...quiet], { stdio: "inherit" });
  return existsSync(node);
}

const tally = { passed: 0, failed: 0, skipped: 0 };
function tell(ok, name, why = "") {
  tally[ok ? "passed" : "failed"] += 1;
  console.log(`${ok ? "ok  " : "FAIL"} ${name}${ok ? "" : `: ${why.slice(0, 400)}`}`);
}

/** Runs `judge` with the address of a server over HTTP. */
async function served(dir, judge) {
  const env = { ...process.env, FILEWRIGHT_TOKEN: "" };
  const argv = [command, "serve", dir, "--preset", "mcp", "--no-token", "--port", "0"];
  const server = spawn(process.execPath, argv, { env });
  const url = await new Promise((resolve, reject) => {
    server.stderr.on("data", (chunk) => {
      const [, found] = /at (http:\S+)/.exec(String(chunk)) ?? [];
      if (found) resolve(found);
    });
    server.once("exit", () => reject(new Error("the server did not start")));
  });
  judge(url);
  server.kill();
}

function conformance(dir, url) {
  const bin = join(folder, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
  for (const scenario of scenarios) {
    const options = { encoding: "utf8", timeout: 60_000, cwd: dir };
    const ran = spawnSync(node, [bin, "server", "--url", url, "--scenario", scenario], options);
    const said = `${ran.stdout}${ran.stderr}`;
    tell(/Passed: [1-9]\d*\/\d+, 0 failed/.test(said), `conformance ${scenario}`, said.slice(-400));
  }
}

/** A call of every tool, in the order in which each finds what it needs. */
const calls = [
  ["create_directory", "path=d"],
  ["write_file", "path=d/a.txt", "content=one"],
  ["read_file", "path=d/a.txt"],
  ["read_text_file", "path=d/a.txt", "head=1"],
  ["read_media_file", "path=d/a.txt"],
  ["read_multiple_files", 'paths=["d/a.txt"]'],
  ["edit_file", "path=d/a.txt", 'edits=[{"oldText":"one","newText":"two"}]'],
  ["list_directory", "path=d"],
  ["list_directory_with_sizes", "path=d", "sortBy=size"],
  ["directory_tree", "path=."],
  ["search_files", "path=.", "pattern=**/*.txt"],
  ["get_file_info", "path=d/a.txt"],
  ["move_file", "source=d/a.txt", "destination=d/b.txt"],
  ["list_allowed_directories"],
];

/** Drives every tool. `server`: the arguments that name the server to the inspector. */
function inspector(dir, name, server) {
  const bin = join(folder, "node_modules/.bin/mcp-inspector");
  for (const [tool, ...given] of calls) {
    const args = given.flatMap((one) => ["--tool-arg", one]);
    const line = ["--cli", ...server, "--method", "tools/call", "--tool-name", tool];
    const ran = spawnSync(node, [bin, ...line, ...args], { encoding: "utf8", timeout: 90_000, cwd: dir });
    const ok =
      ran.status === 0 && ran.stdout.includes('"content"') && !ran.stdout.includes('"isError": true');
    tell(ok, `inspector ${name} ${tool}`, `${ran.stdout}${ran.stderr}`);
  }
}

await main(async () => {
  if (!existsSync(node) && !install()) {
    tally.skipped = scenarios.length + 3 * calls.length;
    console.log("skipped: Node 22 and the suite could not be installed from npm");
  } else {
    const fresh = () => mkdtempSync(join(tmpdir(), "filewright-conformance-"));
    const dirs = [fresh(), fresh(), fresh()];
    await served(dirs[0], (url) => {
      conformance(dirs[0], url);
      inspector(dirs[0], "http", [url, "--transport", "http"]);
    });
    inspector(dirs[1], "stdio", [process.execPath, command, "mcp", dirs[1], "--preset", "mcp"]);
    inspector(dirs[2], "in-process", [process.execPath, inProcess, dirs[2]]);
    for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
  }
  console.log(`${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`);
  if (tally.failed > 0) process.exitCode = 1;
});
