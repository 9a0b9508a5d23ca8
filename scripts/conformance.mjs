// Tests our MCP servers with the tools of the Model Context Protocol project: its conformance suite
// over HTTP, and the command line of its inspector, which calls every tool over stdio, over HTTP
// and in the process of the host.
//
// Both need Node 22, which is installed with them from npm into .cache/conformance. Scenarios of
// the suite that need special tools (such as `test_simple_text`), special prompts or sampling do
// not apply to a server of files, nor does `logging-set-level`, because our HTTP server has no
// sessions that could keep a level.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runScript, root } from "./lib/run.mjs";

const INSTALL_FOLDER = join(root, ".cache/conformance");
const INSTALLED_PACKAGES = {
  node: "22.23.3",
  "@modelcontextprotocol/conformance": "0.1.16",
  "@modelcontextprotocol/inspector": "2.12.0",
};
const SUITE_SCENARIOS = [
  "server-initialize",
  "ping",
  "tools-list",
  "completion-complete",
  "resources-list",
  "dns-rebinding-protection",
];
const NODE_BINARY = join(INSTALL_FOLDER, "node_modules/node/bin/node");
const FILEWRIGHT_COMMAND = join(root, "dist/bin/filewright.js");
const IN_PROCESS_SERVER_SCRIPT = join(root, "scripts/lib/in-process-server.mjs");

/** Installs the packages. Returns whether Node 22 is there afterwards. */
function installPackages() {
  mkdirSync(INSTALL_FOLDER, { recursive: true });
  writeFileSync(
    join(INSTALL_FOLDER, "package.json"),
    JSON.stringify({ private: true, dependencies: INSTALLED_PACKAGES }),
  );
  const quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"];
  // The npm package `NODE_BINARY` downloads the binary of Node in its install script.
  spawnSync("npm", ["install", "--prefix", INSTALL_FOLDER, ...quiet], { stdio: "inherit" });
  return existsSync(NODE_BINARY);
}

const resultCounts = { passed: 0, failed: 0, skipped: 0 };
/** Counts a result and prints it. */
function recordResult(ok, name, why = "") {
  resultCounts[ok ? "passed" : "failed"] += 1;
  console.log(`${ok ? "ok  " : "FAIL"} ${name}${ok ? "" : `: ${why.slice(0, 400)}`}`);
}

/**
 * Starts a server over HTTP for a directory, calls `use` with its address, and stops the server.
 */
async function withServer(dir, use) {
  const env = { ...process.env, FILEWRIGHT_TOKEN: "" };
  const argv = [FILEWRIGHT_COMMAND, "serve", dir, "--preset", "mcp", "--no-token", "--port", "0"];
  const server = spawn(process.execPath, argv, { env });
  const url = await new Promise((resolve, reject) => {
    server.stderr.on("data", (chunk) => {
      const [, found] = /at (http:\S+)/.exec(String(chunk)) ?? [];
      if (found) resolve(found);
    });
    server.once("exit", () => reject(new Error("the server did not start")));
  });
  use(url);
  server.kill();
}

/** Runs the scenarios of the conformance suite on the server at this address. */
function runConformance(dir, url) {
  const bin = join(INSTALL_FOLDER, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
  for (const scenario of SUITE_SCENARIOS) {
    const options = { encoding: "utf8", timeout: 60_000, cwd: dir };
    const ran = spawnSync(NODE_BINARY, [bin, "server", "--url", url, "--scenario", scenario], options);
    const said = `${ran.stdout}${ran.stderr}`;
    recordResult(/Passed: [1-9]\d*\/\d+, 0 failed/.test(said), `conformance ${scenario}`, said.slice(-400));
  }
}

/** One call of every tool, in an order in which each finds the files that it needs. */
const TOOL_CALLS = [
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

/**
 * Calls every tool with the inspector. `server` are the arguments that tell the inspector how to
 * reach the server.
 */
function runInspector(dir, name, server) {
  const bin = join(INSTALL_FOLDER, "node_modules/.bin/mcp-inspector");
  for (const [tool, ...given] of TOOL_CALLS) {
    const args = given.flatMap((one) => ["--tool-arg", one]);
    const line = ["--cli", ...server, "--method", "tools/call", "--tool-name", tool];
    const ran = spawnSync(NODE_BINARY, [bin, ...line, ...args], {
      encoding: "utf8",
      timeout: 90_000,
      cwd: dir,
    });
    const ok =
      ran.status === 0 && ran.stdout.includes('"content"') && !ran.stdout.includes('"isError": true');
    recordResult(ok, `inspector ${name} ${tool}`, `${ran.stdout}${ran.stderr}`);
  }
}

await runScript(async () => {
  if (!existsSync(NODE_BINARY) && !installPackages()) {
    resultCounts.skipped = SUITE_SCENARIOS.length + 3 * TOOL_CALLS.length;
    console.log("skipped: Node 22 and the suite could not be installed from npm");
  } else {
    const fresh = () => mkdtempSync(join(tmpdir(), "filewright-conformance-"));
    const dirs = [fresh(), fresh(), fresh()];
    await withServer(dirs[0], (url) => {
      runConformance(dirs[0], url);
      runInspector(dirs[0], "http", [url, "--transport", "http"]);
    });
    runInspector(dirs[1], "stdio", [process.execPath, FILEWRIGHT_COMMAND, "mcp", dirs[1], "--preset", "mcp"]);
    runInspector(dirs[2], "in-process", [process.execPath, IN_PROCESS_SERVER_SCRIPT, dirs[2]]);
    for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
  }
  console.log(
    `${resultCounts.passed} passed, ${resultCounts.failed} failed, ${resultCounts.skipped} skipped`,
  );
  if (resultCounts.failed > 0) process.exitCode = 1;
});
