/** What the tarballs of a release contain, and what their manifests say. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { problemsOfContents } from "../../scripts/release/contents.mjs";
import { addonManifest, packRelease, publishedManifest } from "../../scripts/release/pack.mjs";
import { sourcesHash } from "../../scripts/release/sources.mjs";
import { parseTarget, releaseTargets } from "../../scripts/release/targets.mjs";

const root = resolve(import.meta.dirname, "../..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const home = mkdtempSync(join(tmpdir(), "filewright-release-pack-"));
afterAll(() => rmSync(home, { recursive: true }));

describe("the main package", () => {
  const minimal = { bin: { a: "./dist/bin/a.js" }, exports: { ".": { node: "./dist/a.node.js" } } };
  const whole = [
    ...["package.json", "README.md", "LICENSE", "dist/THIRD-PARTY.txt"],
    ...[
      "dist/bin/server-filesystem.js",
      "dist/bin/a.js",
      "dist/a.node.js",
      "dist/engine/workers/worker.node.js",
      "dist/readers/structured/value.js",
      "dist/tools/edit/value-line.js",
      "dist/tools/lib/omission.js",
    ],
    ...["dist/wasm/filewright.cjs", "dist/wasm/filewright_bg.wasm", "dist/wasm/filewright_edit_bg.wasm"],
    ...["index.html", "icon.svg", "review.css"].map((name) => `dist/review/page/${name}`),
    ...["review", "shared", "library", "screens", "editor"].map((name) => `dist/review/page/${name}.js`),
  ];

  it("is right with all of these", () => {
    expect(problemsOfContents(whole, minimal)).toEqual([]);
  });

  it.each(whole)("cannot be packed without %s", (path) => {
    const left = whole.filter((one) => one !== path);
    expect(problemsOfContents(left, minimal)).toEqual([`${path} is missing`]);
  });

  it.each([
    "dist/native/filewright.linux-x64-gnu.node",
    "dist/native/binding.d.ts",
    "dist/wasm/.stamp",
    "dist/cli/main.node.js",
    "dist/a.js.map",
    "scripts/build.mjs",
    ".env",
  ])("cannot be packed with %s", (path) => {
    expect(problemsOfContents([...whole, path], minimal)).toEqual([`${path} does not belong to the package`]);
  });

  it("names every addon in exactly its own version, which package.json does not", () => {
    const { version, optionalDependencies, scripts, devDependencies, workspaces } = publishedManifest(
      manifest,
      releaseTargets(),
    ) as Record<string, unknown>;
    expect(optionalDependencies).toEqual({
      "@filewright/native-linux-x64-gnu": version,
      "@filewright/native-linux-arm64-gnu": version,
      "@filewright/native-linux-x64-musl": version,
      "@filewright/native-linux-arm64-musl": version,
      "@filewright/native-darwin-x64": version,
      "@filewright/native-darwin-arm64": version,
    });
    expect([scripts, devDependencies, workspaces]).toEqual([undefined, undefined, undefined]);
    expect(manifest).not.toHaveProperty("optionalDependencies");
  });
});

describe("the package of an addon", () => {
  it.each([
    ["x86_64-unknown-linux-gnu", { os: ["linux"], cpu: ["x64"], libc: ["glibc"] }],
    ["aarch64-unknown-linux-musl", { os: ["linux"], cpu: ["arm64"], libc: ["musl"] }],
    ["aarch64-apple-darwin", { os: ["darwin"], cpu: ["arm64"] }],
  ])("%s is installed only where it fits", (triple, where) => {
    const target = parseTarget(triple);
    const { os, cpu, libc, ...rest } = addonManifest(manifest, target) as Record<string, unknown>;
    expect({ os, cpu, ...(libc === undefined ? {} : { libc }) }).toEqual(where);
    const { version, license, repository, publishConfig } = manifest;
    expect(rest).toMatchObject({
      name: `@filewright/native-${target.platform}`,
      main: `filewright.${target.platform}.node`,
      files: [`filewright.${target.platform}.node`, "THIRD-PARTY.txt"],
      ...{ version, license, repository, publishConfig },
    });
  });
});

it("without any addon there is nothing to pack", async () => {
  await expect(packRelease({ addons: home, output: home })).rejects.toThrow(
    "has no filewright.linux-x64-gnu.node",
  );
});

it("with --all each platform needs its addon", async () => {
  const addons = join(home, "one");
  mkdirSync(addons);
  writeFileSync(join(addons, "filewright.linux-x64-gnu.node"), "");
  await expect(packRelease({ addons, output: home, all: true })).rejects.toThrow(
    /has no filewright\.linux-arm64-gnu\.node, .*filewright\.darwin-arm64\.node/u,
  );
});

describe("the hash of the sources", () => {
  const folder = join(home, "checkout");
  const hash = () => sourcesHash("native", folder);

  it("changes with a source, and not with a test, a time or line ends", () => {
    mkdirSync(join(folder, "crates/core/src"), { recursive: true });
    mkdirSync(join(folder, "crates/core/tests"));
    const source = join(folder, "crates/core/src/lib.rs");
    for (const name of ["Cargo.toml", "Cargo.lock"]) cpSync(join(root, name), join(folder, name));
    writeFileSync(source, "fn a() {}\nfn b() {}\n");
    const before = hash();
    writeFileSync(join(folder, "crates/core/tests/a.rs"), "");
    writeFileSync(source, "fn a() {}\r\nfn b() {}\r\n");
    expect(hash()).toBe(before);
    writeFileSync(source, "fn a() {}\nfn c() {}\n");
    expect(hash()).not.toBe(before);
    writeFileSync(source, "fn a() {}\nfn b() {}\n");
    writeFileSync(join(folder, "Cargo.lock"), "");
    expect(hash()).not.toBe(before);
  });

  it("is another one for WebAssembly", () => {
    expect(sourcesHash("wasm")).not.toBe(sourcesHash("native"));
  });
});
