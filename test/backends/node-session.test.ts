/**
 * A workspace on the disk without the addon: the same session of an agent, in a process with the addon and in one
 * without it, has the same answers.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NodeBackend, openWorkspace } from "../../js/index.node.ts";

const DIST = resolve(import.meta.dirname, "../../dist");

let base: string;
let root: string;
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-session-")));
  root = join(base, "ws");
  for (const directory of [root, join(base, "home")]) fs.mkdirSync(directory);
});
afterEach(() => {
  fs.rmSync(base, { recursive: true, force: true });
});

function environment(engine: string | undefined): NodeJS.ProcessEnv {
  const { FILEWRIGHT_ENGINE: _, ...rest } = process.env;
  return {
    ...rest,
    HOME: join(base, "home"),
    ...(engine === undefined ? {} : { FILEWRIGHT_ENGINE: engine }),
  };
}

/** Runs a script over `dist` in a process with an engine; `ws` is not open yet. */
function run(engine: string | undefined, script: string): string {
  const code = `
    import { openWorkspace, PRESET_NAMES } from ${JSON.stringify(join(DIST, "cli/library.js"))};
    ${script}`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
    encoding: "utf8",
    env: environment(engine),
    cwd: base,
  });
  expect(status, stderr).toBe(0);
  return stdout;
}

/** The calls of the session, each with its text or its error. */
const SESSION = (root: string, stateDir: string): string => `
  const ws = await openWorkspace({ root: ${JSON.stringify(root)}, stateDir: ${JSON.stringify(stateDir)} });
  const call = async (tool, args) => {
    const { ok, text, error, meta } = await ws.call(tool, args);
    console.log(JSON.stringify([tool, ok, text.replace(/\\d+ ms/g, "ms"), error?.code, error?.details]));
    return meta.call_id;
  };
  await call("write_file", { path: "src/a.ts", content: "one\\ntwo\\n" });
  await call("write_file", { path: "src/b.ts", content: "three\\n" });
  await call("write_file", { path: ".env", content: "SECRET=1\\n" });
  await call("read_file", { path: "src/a.ts" });
  await call("read_file", { path: ".env" });
  await call("read_file", { path: "gone" });
  await call("read_file", { path: "../outside" });
  await call("edit_file", { path: "src/a.ts", old_text: "two", new_text: "zwei" });
  await call("edit_file", { path: "src/a.ts", old_text: "nothing", new_text: "x" });
  await call("grep", { pattern: "zwei|three" });
  await call("grep", { pattern: "SECRE.", path: "." });
  await call("glob", { pattern: "**/*.ts" });
  await call("find_files", { query: "b" });
  await call("list_directory", { path: ".", depth: 3 });
  await call("copy", { source: "src", destination: "copy" });
  await call("move", { source: "copy/b.ts", destination: "moved.ts" });
  await call("move", { source: "moved.ts", destination: "src/a.ts" });
  await call("mkdir", { path: "deep/er/dir" });
  const removed = await call("delete", { path: "src", recursive: true });
  await call("glob", { pattern: "**/*.ts" });
  await call("undo", { call_id: removed });
  await call("read_file", { path: "src/a.ts" });
  await call("batch", { operations: [
    { tool: "write_file", args: { path: "src/c.ts", content: "c\\n" } },
    { tool: "edit_file", args: { path: "src/a.ts", old_text: "not there", new_text: "x" } },
  ] });
  await call("apply_patch", { patch: "--- a/src/b.ts\\n+++ b/src/b.ts\\n@@ -1 +1 @@\\n-three\\n+drei\\n" });
  await call("diff", { a: "src/b.ts", b: "copy/a.ts" });
  await call("write_file", { path: ".git/hooks/pre-commit", content: "x" });
  await call("stat", { path: "src/b.ts", hash: true });
  console.log(JSON.stringify(ws.capabilities().journal));
  await ws.close();`;

describe("without the addon", () => {
  it("a session has the answers of one with it, and leaves the same files", () => {
    const transcripts = [undefined, "wasm"].map((engine) => {
      fs.rmSync(root, { recursive: true, force: true });
      fs.mkdirSync(root);
      const told = run(engine, SESSION(root, join(base, `state-${engine}`)));
      const files = execFileSync("find", [root, "-type", "f"], { encoding: "utf8" }).split("\n").sort();
      const shown = told
        .replace(/[0-9a-f]{16,}|\d{4}-\d\d-\d\dT[\d:.]+Z/g, "$")
        .replace(/"call_id":"[^"]*"|\b[0-9a-z]{8,}-\d+\b/g, "$id");
      return `${shown}\n${files.join("\n")}`;
    });
    expect(transcripts[1]).toBe(transcripts[0]);
    expect(transcripts[0]).toContain("zwei");
  });

  it("every preset opens, and reports what it runs on", () => {
    fs.writeFileSync(join(root, "f"), "content\n");
    const told = run(
      "wasm",
      `for (const preset of PRESET_NAMES) {
        const ws = await openWorkspace({ roots: [{ path: ${JSON.stringify(root)} }], preset, permissions: { mode: "off" } });
        const { engine, confinement, resolver, journal } = ws.capabilities();
        const read = await ws.readFile({ path: "f" });
        const { engine: told, confinement: how } = await ws.accessInfo({});
        console.log(JSON.stringify([preset, ws.tools.length > 0, read.content, engine, confinement, resolver.resolver, resolver.kernel.files, journal, told, how]));
        await ws.close();
      }`,
    );
    const lines = told.trim().split("\n");
    expect(lines.length).toBeGreaterThan(10);
    for (const line of lines) {
      const [name, tools, content, engine, ...rest] = JSON.parse(line) as unknown[];
      expect([tools, content], String(name)).toEqual([true, "content\n"]);
      expect(engine).toEqual({ kind: "wasm", reason: "FILEWRIGHT_ENGINE=wasm" });
      expect(rest).toEqual(["checked", "node", "none", "disk", engine, "checked"]);
    }
  });

  it.each([
    [
      "engine: native",
      { engine: "native" },
      'engine: "native" needs the native addon: FILEWRIGHT_ENGINE=wasm',
    ],
    [
      "kernel: require",
      { kernel: "require" },
      'kernel: "require" needs the native addon: FILEWRIGHT_ENGINE=wasm',
    ],
    ["preserve: strict", { preserve: "strict" }, 'preserve: "strict" needs the native addon'],
  ])("%s is refused with the reason", (_, options, words) => {
    const given = JSON.stringify({ root, ...options });
    const told = run(
      "wasm",
      `await openWorkspace(${given}).catch(({ code, message }) => console.log(code + ": " + message));`,
    );
    expect(told).toMatch(/^UNSUPPORTED_PLATFORM: /);
    expect(told).toContain(words);
  });

  it.each([
    [
      "missing",
      "none.node",
      "the file that FILEWRIGHT_ENGINE names does not exist; set FILEWRIGHT_ENGINE to wasm",
    ],
    ["no addon", "text.node", "the addon that FILEWRIGHT_ENGINE names does not load (text.node: "],
  ])(
    "an addon that FILEWRIGHT_ENGINE names and that is %s is not replaced by a checked disk",
    (_, name, words) => {
      fs.writeFileSync(join(base, "text.node"), "no addon");
      const told = run(
        join(base, name),
        `await openWorkspace(${JSON.stringify(root)}).then(
        (ws) => console.log("opened: " + ws.capabilities().confinement),
        ({ code, message, hint }) => console.log(code + ": " + message + " | " + hint),
      );`,
      );
      expect(told).toMatch(/^UNSUPPORTED_PLATFORM: .+ \| .*FILEWRIGHT_ENGINE/);
      expect(told).toContain(words);
    },
  );

  it("the command line works and says once what is missing", () => {
    fs.writeFileSync(join(root, "f"), "needle\n");
    const tool = (engine: string | undefined) =>
      spawnSync(process.execPath, [join(DIST, "cli/main.node.js"), "grep", "needle", "--root", root], {
        encoding: "utf8",
        env: environment(engine),
      });
    const [without, withAddon] = [tool("wasm"), tool(undefined)];
    expect([without.status, withAddon.status]).toEqual([0, 0]);
    expect(without.stdout).toBe(withAddon.stdout);
    expect(without.stderr.match(/running without the native addon/g)).toHaveLength(1);
    expect(without.stderr).toContain("slower searches, weaker protection against races");
    expect(withAddon.stderr).toBe("");
  });

  it("a server of MCP says so to its client, and on standard error", () => {
    const request = { jsonrpc: "2.0", id: 1, method: "initialize" };
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    };
    const serve = (engine: string | undefined) =>
      spawnSync(process.execPath, [join(DIST, "cli/main.node.js"), "mcp", root], {
        encoding: "utf8",
        env: environment(engine),
        input: `${JSON.stringify({ ...request, params })}\n`,
      });
    const [without, withAddon] = [serve("wasm"), serve(undefined)];
    expect(JSON.parse(without.stdout.split("\n")[0] ?? "").result.instructions).toContain(
      "Running without the native addon: slower searches, weaker protection against races.",
    );
    expect(without.stderr.match(/running without the native addon/g)).toHaveLength(1);
    expect(withAddon.stdout).not.toContain("native addon");
    expect(withAddon.stderr).not.toContain("native addon");
  });
});

describe("a NodeBackend that the host gives", () => {
  it("is a checked disk of this machine", async () => {
    const stateDir = join(base, "state");
    const ws = await openWorkspace({ root, backend: new NodeBackend({ stateDir }), stateDir });
    try {
      expect(ws.capabilities()).toMatchObject({ confinement: "checked", journal: "disk" });
      expect((await ws.call("access_info", {})).text).toContain("confinement of paths: checked");
    } finally {
      await ws.close();
    }
  });
});

describe("locks between processes, with the addon and without", () => {
  /** Starts a process that holds the lock of a path until it is killed. */
  async function holder(engine: string | undefined, stateDir: string, path: string): Promise<ChildProcess> {
    const code = `
      import { tryLock } from ${JSON.stringify(join(DIST, "backends/local/lock.node.js"))};
      globalThis.held = tryLock(${JSON.stringify(stateDir)}, ${JSON.stringify(path)});
      console.log(globalThis.held === null ? "none" : "held");
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
      env: environment(engine),
      stdio: ["ignore", "pipe", "inherit"],
    });
    expect(String((await once(child.stdout, "data"))[0]).trim()).toBe("held");
    return child;
  }

  /** Tries to take the lock in a new process. */
  const tries = (engine: string | undefined, stateDir: string, path: string): string =>
    spawnSync(
      process.execPath,
      [
        "--input-type=module",
        "-e",
        `import { tryLock } from ${JSON.stringify(join(DIST, "backends/local/lock.node.js"))};
         const lock = tryLock(${JSON.stringify(stateDir)}, ${JSON.stringify(path)});
         console.log(lock === null ? "busy" : "free");
         lock?.release();`,
      ],
      { encoding: "utf8", env: environment(engine) },
    ).stdout.trim();

  it.each([
    ["without and without", "wasm", "wasm", "free"],
    ["without and with", "wasm", undefined, "free"],
    // The addon leaves the file of a killed holder, of which Node cannot know that nobody locks it.
    ["with and without", undefined, "wasm", "busy"],
  ] as const)(
    "%s: one holder at a time, also after the holder is killed",
    async (_, first, second, after) => {
      const [stateDir, path] = [join(base, "state"), join(base, "f")];
      const child = await holder(first, stateDir, path);
      expect(tries(second, stateDir, path)).toBe("busy");
      expect(tries(first, stateDir, path)).toBe("busy");
      expect(tries(second, stateDir, `${path}-other`)).toBe("free");
      child.kill("SIGKILL");
      await once(child, "exit");
      expect(tries(second, stateDir, path)).toBe(after);
      expect(tries(first, stateDir, path)).toBe("free");
    },
  );
});
