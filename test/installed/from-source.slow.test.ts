/**
 * A checkout on a machine with Node alone: the build takes a published engine that was built from the same
 * sources, and says which; otherwise it says what to install.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { manifest, platform } from "../package/tarballs.ts";
import { afterThisTest } from "../support/cleanups.ts";
import { addonPackage, cleanUp, environment, type Ended, home, pack } from "./project.ts";

const root = resolve(import.meta.dirname, "../..");
const checkout = join(home, "checkout");
const addon = join(checkout, `dist/native/filewright.${platform}.node`);
let tarballs: { main: string; addon: string } = { main: "", addon: "" };

beforeAll(() => {
  tarballs = pack("tar", "gzip");
  // The files that a build and a start need, without any engine.
  mkdirSync(checkout);
  const kept = (path: string) =>
    !/[\\/]dist[\\/](?:native|wasm)$|[\\/]crates[\\/]\w+[\\/](?:tests|fuzz|loom)$/u.test(path);
  for (const name of ["package.json", "Cargo.toml", "Cargo.lock", "scripts", "crates", "dist"])
    cpSync(join(root, name), join(checkout, name), { recursive: true, filter: kept });
});
afterAll(() => {
  cleanUp();
  rmSync(dirname(tarballs.main), { recursive: true, force: true });
});

// Copying the checkout takes longer than removing the output of a build.
beforeEach(() => {
  for (const made of ["dist/native", "dist/wasm", ".cache"])
    rmSync(join(checkout, made), { recursive: true, force: true });
});

/** Changes a source of the checkout, for the running test. */
function changeSource(path: string): void {
  appendFileSync(join(checkout, path), "// changed\n");
  afterThisTest(() => copyFileSync(join(root, path), join(checkout, path)));
}

/** Runs Node in the checkout, on a PATH without cargo. */
async function node(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return new Promise((done) => {
    execFile(
      process.execPath,
      args,
      { cwd: checkout, env: { ...environment, ...env } },
      (error, stdout, stderr) => {
        done({ status: error === null ? 0 : ((error.code as number | undefined) ?? null), stdout, stderr });
      },
    );
  });
}
const build = async (env: Readonly<Record<string, string>>) =>
  node(["scripts/build.mjs", "--native-only"], env);
/** What the build says of a package that it took. */
const trusted = (from: string, name: string, tarball: string) =>
  `trusted: ${from}, for ${name}@${manifest.version} (${sha512(readFileSync(tarball))})\n`;
const sha512 = (bytes: Uint8Array) => `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
const demo = async () => node(["dist/bin/filewright.js", "demo", join(checkout, "scripts")]);

describe("with a folder of tarballs in FILEWRIGHT_PREBUILT", () => {
  const given = () => ({ FILEWRIGHT_PREBUILT: dirname(tarballs.main) });

  test("the addon is taken once, and used", async () => {
    expect(await build(given())).toEqual({
      status: 0,
      stdout: "",
      stderr: `${trusted("the folder of FILEWRIGHT_PREBUILT", addonPackage, tarballs.addon)}engine: the published native addon of version ${manifest.version}, since cargo is missing\n`,
    });
    expect(existsSync(addon)).toBe(true);
    expect(await build(given())).toEqual({ status: 0, stdout: "", stderr: "" });
    const { status, stdout, stderr } = await demo();
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain("Engine: native");
  });

  test("WebAssembly is taken where the addon was built from other sources, also instead of an older addon", async () => {
    await build(given());
    changeSource("crates/fs/src/lib.rs");
    const { status, stderr } = await build(given());
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: `${trusted("the folder of FILEWRIGHT_PREBUILT", "filewright", tarballs.main)}engine: the published WebAssembly module of version ${manifest.version}, since cargo is missing and ${addonPackage}@${manifest.version} was built from other sources\n`,
    });
    expect(existsSync(addon)).toBe(false);
    const { status: ended, stdout } = await demo();
    expect(ended).toBe(0);
    expect(stdout).toContain("Engine: wasm");
  });

  test("neither is taken where the core was changed", async () => {
    changeSource("crates/core/src/lib.rs");
    const { status, stderr } = await build(given());
    expect(status).toBe(1);
    expect(stderr).toMatch(/^error: cargo is missing; install Rust .*; no published engine fits .*\n$/u);
    expect(stderr).toContain(`${addonPackage}@${manifest.version} was built from other sources`);
    expect(stderr).toContain(`filewright@${manifest.version} was built from other sources`);
  });

  test.skipIf(process.getuid === undefined).each(["the folder", "the tarball"] as const)(
    "nothing is taken while other users can write to %s",
    async (what) => {
      const path = what === "the folder" ? dirname(tarballs.addon) : tarballs.addon;
      const mode = what === "the folder" ? 0o700 : 0o644;
      chmodSync(path, mode | 0o022);
      try {
        // The main package is not taken either, so that WebAssembly does not take the addon's place unseen.
        if (what === "the tarball") chmodSync(tarballs.main, 0o666);
        const { status, stderr } = await build(given());
        expect(status).toBe(1);
        expect(stderr).toContain(`other users can write to ${path}, which FILEWRIGHT_PREBUILT names`);
        expect(existsSync(addon)).toBe(false);
      } finally {
        chmodSync(path, mode);
        chmodSync(tarballs.main, 0o644);
      }
    },
  );

  test("a folder without tarballs is an error", async () => {
    const { status, stderr } = await build({ FILEWRIGHT_PREBUILT: checkout });
    expect(status).toBe(1);
    expect(stderr).toContain("the folder of FILEWRIGHT_PREBUILT has no filewright-");
  });
});

describe("with a registry", () => {
  let registry: Server;
  let packages: Readonly<Record<string, string>> = {};
  let asked: string[] = [];
  let hashes: (bytes: Uint8Array) => { readonly integrity?: string };
  const env = () => ({
    npm_config_registry: `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`,
  });

  beforeAll(async () => {
    registry = createServer((request, response) => {
      const name = decodeURIComponent((request.url ?? "").slice(1));
      asked.push(name);
      const file = Object.values(packages).find((path) => name.endsWith(`/-/${basename(path)}`));
      if (file !== undefined) return void response.end(readFileSync(file));
      const tarball = packages[name];
      if (tarball === undefined) return void response.writeHead(404).end("{}");
      const { version } = manifest;
      const bytes = readFileSync(tarball);
      const shasum = createHash("sha1").update(bytes).digest("hex");
      const url = `${env().npm_config_registry}${name}/-/${basename(tarball)}`;
      const dist = { tarball: url, shasum, ...hashes(bytes) };
      const versions = { [version]: { name, version, dist } };
      response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions }));
    });
    await new Promise<void>((done) => void registry.listen(0, "127.0.0.1", done));
    return () => registry.close();
  });

  beforeEach(() => {
    packages = { [addonPackage]: tarballs.addon, filewright: tarballs.main };
    asked = [];
    hashes = (bytes) => ({ integrity: sha512(bytes) });
    // Otherwise npm takes what the test before has fetched.
    rmSync(environment["npm_config_cache"] as string, { recursive: true, force: true });
  });

  test("npm fetches the addon in the checkout's version", async () => {
    const from = `the registry ${new URL(env().npm_config_registry).origin}`;
    expect((await build(env())).stderr).toBe(
      `${trusted(from, addonPackage, tarballs.addon)}engine: the published native addon of version ${manifest.version}, since cargo is missing\n`,
    );
    expect([...new Set(asked)]).toEqual([addonPackage, `${addonPackage}/-/${basename(tarballs.addon)}`]);
    expect((await demo()).stdout).toContain("Engine: native");
  });

  test.each([
    ["no sha512", {}, `the registry states no sha512 of ${addonPackage}@${manifest.version}`],
    [
      "the sha512 of other bytes",
      { integrity: sha512(Buffer.from("other")) },
      `npm cannot get ${addonPackage}@${manifest.version}`,
    ],
  ] as const)("a package of which the registry states %s is not taken", async (_, stated, why) => {
    hashes = () => stated;
    const { status, stderr } = await build(env());
    expect(status).toBe(1);
    expect(stderr).toContain(why);
    expect(existsSync(addon)).toBe(false);
  });

  test("a package that has another sha512 than the registry first stated is not taken", async () => {
    let asks = 0;
    hashes = (bytes) => ({ integrity: sha512(asks++ === 0 ? Buffer.from("other") : bytes) });
    const why = `${addonPackage}@${manifest.version} has not the sha512 that the registry states`;
    expect((await build(env())).stderr).toContain(why);
    expect(existsSync(addon)).toBe(false);
  });

  test("a version that is not published is an error that says what to install", async () => {
    packages = {};
    const { status, stderr } = await build(env());
    expect(status).toBe(1);
    expect(stderr).toContain("cargo is missing; install Rust");
    expect(stderr).toContain(`npm cannot get ${addonPackage}@${manifest.version}`);
  });
});
