/** The same answers on Node, Deno, Bun and workerd: what npm has no program for here is skipped by name. */
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { describeParity } from "../parity/engines.ts";
import { addon, home, prepare, program } from "./prepare.ts";

const why = prepare();
const DENO = ["run", "--quiet", "--no-lock", "--node-modules-dir=manual", "--allow-read", "--allow-env"];

/** Runs a scene on a command line. */
function play(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
  scene = "main",
): unknown {
  const { stdout, stderr } = spawnSync(command, [...args, join(home, `scene/${scene}.mjs`)], {
    cwd: home,
    encoding: "utf8",
    timeout: 60_000,
    env: { PATH: process.env["PATH"], HOME: join(home, "home"), NO_COLOR: "1", ...env },
  });
  const last = stdout.trim().split("\n").at(-1) ?? "";
  expect(last, stderr).toMatch(/^\{/);
  return JSON.parse(last);
}

describeParity("every runtime answers as Node does natively", () => {
  const native = play(process.execPath, [], { FILEWRIGHT_ENGINE: addon }) as {
    kind: string;
    answers: string;
  };

  it("Node answers natively", () => {
    expect(native.kind).toBe("native");
    expect(native.answers).toContain("const a = 2");
  });

  it("Node on WebAssembly", () => {
    expect(play(process.execPath, [], { FILEWRIGHT_ENGINE: "wasm" })).toEqual({ ...native, kind: "wasm" });
  });

  it("Deno, which may not load an addon", ({ skip }) => {
    const deno = program("deno") ?? skip(why ?? "npm has no Deno for this machine");
    expect(play(deno, DENO)).toEqual({ ...native, kind: "wasm" });
  });

  it("Bun, on the addon", ({ skip }) => {
    const bun = program("bun") ?? skip(why ?? "npm has no Bun for this machine");
    expect(play(bun, ["run"], { FILEWRIGHT_ENGINE: addon })).toEqual(native);
  });

  it("Bun on WebAssembly", ({ skip }) => {
    const bun = program("bun") ?? skip(why ?? "npm has no Bun for this machine");
    expect(play(bun, ["run"], { FILEWRIGHT_ENGINE: "wasm" })).toEqual({ ...native, kind: "wasm" });
  });

  it("workerd", async ({ skip }) => {
    const workerd = program("workerd") ?? skip(why ?? "npm has no workerd for this machine");
    expect(await serve(workerd)).toBe(native.answers);
  });
});

describeParity("a runtime's workers do what is done in place, and end what is given up", () => {
  const RIGHT = {
    same: true,
    answers: [
      expect.objectContaining({ binary: false }),
      "INVALID_REGEX",
      expect.any(Number),
      1,
      ["f"],
      expect.stringMatching(/^(some line \d+ of text\n){2}$/),
      expect.stringMatching(/^c\.txt:1:line 7$/m),
    ],
    count: 1,
    cancelled: "CANCELLED",
    total: 1,
  };
  const wasm = { FILEWRIGHT_ENGINE: "wasm" };

  it("Node", () => {
    expect(play(process.execPath, [], wasm, "pool")).toEqual(RIGHT);
  });

  it("Deno", ({ skip }) => {
    const deno = program("deno") ?? skip(why ?? "npm has no Deno for this machine");
    expect(play(deno, DENO, {}, "pool")).toEqual(RIGHT);
  });

  it("Bun", ({ skip }) => {
    const bun = program("bun") ?? skip(why ?? "npm has no Bun for this machine");
    expect(play(bun, ["run"], wasm, "pool")).toEqual(RIGHT);
  });
});

/** Serves one script with its modules, as a deployment does, and returns its answer to one request. */
async function serve(workerd: string): Promise<string> {
  const out = join(home, "workerd");
  mkdirSync(out, { recursive: true });
  const modules: string[] = [];
  await build({
    entryPoints: [join(home, "scene/worker.mjs")],
    outfile: join(out, "worker.js"),
    bundle: true,
    format: "esm",
    target: "es2022",
    conditions: ["workerd"],
    logLevel: "error",
    plugins: [
      {
        name: "modules",
        setup({ onResolve }) {
          onResolve({ filter: /\.wasm$/ }, ({ path, resolveDir }) => {
            const name = path.split("/").at(-1) as string;
            modules.push(name);
            copyFileSync(join(resolveDir, path), join(out, name));
            return { path: `./${name}`, external: true };
          });
        },
      },
    ],
  });
  const listed = modules.map((name) => `(name = "${name}", wasm = embed "${name}")`);
  const config = [
    'using Workerd = import "/workerd/workerd.capnp";',
    "const config :Workerd.Config = (",
    '  services = [(name = "main", worker = .main)],',
    '  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],',
    ");",
    "const main :Workerd.Worker = (",
    `  modules = [(name = "worker.js", esModule = embed "worker.js"), ${listed.join(", ")}],`,
    '  compatibilityDate = "2025-01-01",',
    ");",
  ];
  writeFileSync(join(out, "config.capnp"), config.join("\n"));
  const server = spawn(workerd, ["serve", "--control-fd=1", "config.capnp"], {
    cwd: out,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      const { event, port } = JSON.parse(line) as { event: string; port?: number };
      if (event === "listen") return await (await fetch(`http://127.0.0.1:${port}/`)).text();
    }
    throw new Error("workerd ended without listening");
  } finally {
    server.kill("SIGKILL");
  }
}
