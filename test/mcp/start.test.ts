/**
 * A server that cannot serve says so before it answers `initialize`: one line on standard error, nothing on
 * standard output, and status 1, or 2 for a wrong command line.
 */
import { spawn } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { install, PLATFORM, VERSION, WORKING_ADDON } from "../support/installed-package.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-start-")));
const working = install({ addon: WORKING_ADDON });
const without = install({ wasm: "missing" });
const canBecome = process.getuid?.() === 0;
const NOBODY = 65_534;
const taken = createServer();
let port = 0;

beforeAll(async () => {
  chmodSync(base, 0o755);
  for (const name of ["ws", "closed"]) mkdirSync(join(base, name));
  chmodSync(join(base, "ws"), 0o777);
  chmodSync(join(base, "closed"), 0o700);
  writeFileSync(join(base, "file"), "x");
  writeFileSync(join(base, "token"), "0123456789abcdef0123456789abcdef\n", { mode: 0o644 });
  chmodSync(join(base, "token"), 0o644);
  writeFileSync(join(base, "wrong.json"), '{ "server": { "loglevel": "info" } }');
  writeFileSync(join(base, "cut.json"), '{ "server": ');
  symlinkSync(join(base, "file"), join(base, "link"));
  await new Promise<void>((done) => taken.listen(0, "127.0.0.1", done));
  port = (taken.address() as { readonly port: number }).port;
});

afterAll(() => {
  taken.close();
  working.remove();
  without.remove();
  rmSync(base, { recursive: true, force: true });
});

const INITIALIZE = `${JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
})}\n`;

interface Start {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly as?: "nobody";
  readonly engine?: "none";
}

/** Starts the server with a client that sends `initialize` at once. `@` stands for the directory of this test. */
async function start({
  args,
  env = {},
  as,
  engine,
}: Start): Promise<{ status: number | null; out: string; err: string }> {
  const here = (text: string): string => text.replaceAll("@", base).replaceAll("PORT", String(port));
  // Another user cannot write where lines are counted, and says so.
  const uncounted = as === undefined ? {} : { NODE_V8_COVERAGE: "" };
  const command = engine === "none" ? without.command : working.command;
  const child = spawn(process.execPath, [command, ...args.map(here)], {
    cwd: base,
    env: Object.fromEntries(
      Object.entries({ PATH: process.env["PATH"] ?? "", HOME: "@/home", ...uncounted, ...env }).map(
        ([name, value]) => [name, here(value)],
      ),
    ),
    ...(as === undefined ? {} : { uid: NOBODY, gid: NOBODY }),
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (data) => (out += String(data)));
  child.stderr.on("data", (data) => (err += String(data)));
  child.stdin.on("error", () => {});
  child.stdin.end(INITIALIZE);
  const status = await new Promise<number | null>((done) => child.on("close", done));
  return {
    status,
    out,
    err: err
      .replace(/Cannot find module '[^']*'/u, "Cannot find module")
      .replaceAll(base, "@")
      .replaceAll(String(port), "PORT"),
  };
}

const NO_ENGINE = `filewright: no engine could be loaded: the package @filewright/native-${PLATFORM} is not installed: optional dependencies were left out (--omit=optional, --no-optional), or the lock file was made on another platform (npm/cli#4828); the WebAssembly module did not load`;

/** What fails, and the line. */
const CASES: readonly (readonly [title: string, how: Start, line: string | RegExp, status: 1 | 2])[] = [
  [
    "no engine at all",
    { args: ["mcp", "@/ws"], engine: "none" },
    `${NO_ENGINE} (Cannot find module); run: npm install filewright@${VERSION}
`,
    1,
  ],
  [
    "FILEWRIGHT_ENGINE without a meaning",
    { args: ["mcp", "@/ws"], env: { FILEWRIGHT_ENGINE: "bogus" } },
    "filewright: FILEWRIGHT_ENGINE is 'bogus' (did you mean 'wasm'?); set FILEWRIGHT_ENGINE to wasm, to native or to the path of a file that ends in .node, or unset it\n",
    2,
  ],
  ["a missing root", { args: ["mcp", "@/none"] }, "filewright: the directory '@/none' does not exist\n", 1],
  [
    "a root that is a file",
    { args: ["mcp", "@/file"] },
    "filewright: the directory '@/file' is not a directory\n",
    1,
  ],
  [
    "roots of which none can be served",
    { args: ["mcp", "@/none", "@/file"] },
    "filewright: none of the directories can be served: '@/none' does not exist, '@/file' is not a directory\n",
    1,
  ],
  [
    "a root that cannot be read",
    { args: ["mcp", "@/closed"], as: "nobody" },
    "filewright: the directory '@/closed' cannot be read: permission denied\n",
    1,
  ],
  [
    "no state directory",
    { args: ["mcp", "@/ws"], env: { HOME: "/nonexistent", TMPDIR: "@/none" }, as: "nobody" },
    "filewright: The state directory '/nonexistent/.local/state/filewright' cannot be written: permission denied (also tried: @/none/filewright-65534: it does not exist and cannot be created). Make it writable, name another with --state-dir (stateDir) or XDG_STATE_HOME, or refuse changes with --read-only (readOnly).\n",
    1,
  ],
  [
    "a state directory that is a file",
    { args: ["mcp", "@/ws", "--state-dir", "@/file"] },
    "filewright: The state directory '@/file' cannot be written: part of its path is a file. Make it writable, or name another with --state-dir (stateDir) or XDG_STATE_HOME.\n",
    1,
  ],
  [
    "an audit log below a file",
    { args: ["mcp", "@/ws", "--audit", "@/file/log"] },
    "filewright: The audit log '@/file/log' cannot be written: part of its path is a file. Name another file with --audit or server.audit.\n",
    1,
  ],
  [
    "an audit log that is a link",
    { args: ["mcp", "@/ws", "--audit", "@/link"] },
    "filewright: The audit log '@/link' cannot be written: it is a symbolic link, or its path has too many. Name another file with --audit or server.audit.\n",
    1,
  ],
  [
    "an audit log that is a directory",
    { args: ["mcp", "@/ws", "--audit", "@/closed"] },
    "filewright: The audit log '@/closed' cannot be written: it is a directory. Name another file with --audit or server.audit.\n",
    1,
  ],
  [
    "an audit log in a place without directories",
    { args: ["mcp", "@/ws", "--audit", "/proc/none/log"] },
    "filewright: The audit log '/proc/none/log' cannot be written: it does not exist and cannot be created. Name another file with --audit or server.audit.\n",
    1,
  ],
  [
    "no config file",
    { args: ["mcp", "--config", "@/none.json"] },
    "filewright: --config: cannot read '@/none.json': ENOENT: no such file or directory, open '@/none.json'\n",
    2,
  ],
  [
    "a config file that is no JSON",
    { args: ["mcp", "--config", "@/cut.json"] },
    /^filewright: .*cut\.json.*\n$/u,
    2,
  ],
  [
    "an option that there is not, in a config file",
    { args: ["mcp", "@/ws", "--config", "@/wrong.json"] },
    /^filewright: config @\/wrong\.json: option 'server\.loglevel': there is no such option; did you mean 'logLevel'\?.*\n$/u,
    2,
  ],
  [
    "an option that there is not",
    { args: ["mcp", "@/ws", "--readonly"] },
    /^filewright: .*--readonly.*\n$/u,
    2,
  ],
  [
    "serve: a missing root",
    { args: ["serve", "@/none"] },
    "filewright: the directory '@/none' does not exist\n",
    1,
  ],
  [
    "serve: no engine at all",
    { args: ["serve", "@/ws", "--port", "0"], engine: "none" },
    /^filewright: no engine could be loaded: .*\n$/u,
    1,
  ],
  [
    "serve: a port in use",
    { args: ["serve", "@/ws", "--port", "PORT"] },
    "filewright: listen EADDRINUSE: address already in use 127.0.0.1:PORT; choose another port with --port (0 takes any free one)\n",
    1,
  ],
  [
    "serve: an address of another machine",
    { args: ["serve", "@/ws", "--port", "0", "--host", "192.0.2.1", "--allow-host", "x"] },
    "filewright: listen EADDRNOTAVAIL: address not available 192.0.2.1; --host takes an address of this machine\n",
    1,
  ],
  [
    "serve: no token file",
    { args: ["serve", "@/ws", "--token-file", "@/none"] },
    "filewright: There is no token in '@/none' (ENOENT). Name another file.\n",
    1,
  ],
  [
    "serve: a token file that others can read",
    { args: ["serve", "@/ws", "--token-file", "@/token"] },
    "filewright: Others can use the token file '@/token' (mode 0644). Run: chmod 600 '@/token'\n",
    1,
  ],
];

describe("a server that cannot serve ends before it answers", () => {
  test.each(CASES.filter(([, { as }]) => as === undefined || canBecome))(
    "%s",
    async (_title, how, line, status) => {
      const ended = await start(how);
      if (typeof line === "string") expect(ended.err).toBe(line);
      else expect(ended.err).toMatch(line);
      expect(ended).toMatchObject({ out: "", status });
    },
  );

  test("and one that can serve answers", async () => {
    const { status, out } = await start({ args: ["mcp", "@/ws"] });
    expect(JSON.parse(out)).toMatchObject({ id: 1, result: { serverInfo: { version: VERSION } } });
    expect(status).toBe(0);
  });

  const nowhere: Start = { args: [], env: { HOME: "/nonexistent", TMPDIR: "@/none" } };
  test.skipIf(!canBecome).each<[string, Start]>([
    ["no state directory", { ...nowhere, args: ["mcp", "@/ws", "--read-only"], as: "nobody" }],
    [
      "another state directory",
      { ...nowhere, args: ["mcp", "@/ws", "--state-dir", "@/ws/.state"], as: "nobody" },
    ],
  ])("and one that follows a remedy answers: %s", async (_title, how) => {
    const { status, out } = await start(how);
    expect(status).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ id: 1, result: { serverInfo: { version: VERSION } } });
  });

  test("and does not look for its own package, which it is in", async () => {
    const log = join(base, "resolved.txt");
    const hook = join(base, "log-resolved.cjs");
    writeFileSync(
      hook,
      `const M = require("node:module"), resolve = M._resolveFilename;
       M._resolveFilename = (name, ...rest) => {
         require("node:fs").appendFileSync(${JSON.stringify(log)}, name + "\\n");
         return resolve(name, ...rest);
       };`,
    );
    const { status } = await start({ args: ["mcp", "@/ws"], env: { NODE_OPTIONS: `--require=${hook}` } });
    const names = readFileSync(log, "utf8").split("\n");
    expect(status).toBe(0);
    expect(names).toContain(`@filewright/native-${PLATFORM}`);
    expect(names).not.toContain("filewright/package.json");
  });

  test("without a state directory a server that changes nothing answers", async () => {
    const env = { HOME: "/", TMPDIR: "@/none" };
    expect((await start({ args: ["mcp", "--read-only", "@/ws"], env })).out).toContain(VERSION);
    expect((await start({ args: ["mcp", "@/ws"], env })).status).toBe(1);
  });
});
