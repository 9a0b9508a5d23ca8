// Builds the native addon and the TypeScript of both packages, each if it is missing or stale. `npm start` and `npm
// test` run it first; if nothing changed, it ends in well under a second. Without Rust it takes a
// published engine instead of building the addon (scripts/prebuilt.mjs).
//
//   --native-only, --ts-only   only one of the two
//   --release                  the addon as it is published (fat LTO)
//   --force                    builds them although they are fresh
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { dailyProfile } from "./lib/cargo-profile.mjs";
import { platformName } from "./lib/platform.mjs";
import { compilerScript, isInstalled, npmProgram, runScript, root, runAndWait } from "./lib/run.mjs";
import { sqlModule } from "./lib/sql-module.mjs";
import { inputsFingerprint, buildWhenStale } from "./lib/stale.mjs";

const ADDON_SOURCES = [
  "Cargo.toml",
  "Cargo.lock",
  ...["core", "fs", "index", "matcher", "sandbox", "node"].map((crate) => `crates/${crate}`),
];

/** The path of the TypeScript declarations of the addon. */
const DECLARATIONS_FILE = join(root, "js/engine/generated/binding.ts");

/** Returns what {@link buildWhenStale} needs to know about the addon. */
const addonBuild = (profile) => ({
  stamp: "dist/native/.stamp",
  outputs: [`dist/native/filewright.${platformName()}.node`],
  inputs: ADDON_SOURCES,
  settings: [profile],
});

/**
 * Builds the native addon into dist/native, and writes its declarations into js, if it is stale.
 */
export function buildNative({ release = false, force = false } = {}) {
  const profile = release ? "release" : dailyProfile;
  const what = addonBuild(profile);
  return buildWhenStale({ ...what, force }, async () => {
    if (!isInstalled("cargo")) {
      const { takePrebuiltEngine } = await import("./prebuilt.mjs");
      takePrebuiltEngine(join(root, what.outputs[0]));
      return;
    }
    console.error(`building the native addon (${profile})`);
    const napi = ["build", "--platform", "--profile", profile, "--manifest-path", "crates/node/Cargo.toml"];
    const into = ["--package-json-path", "package.json", "--output-dir", "dist/native", "--no-js"];
    runAndWait(npmProgram("napi"), [...napi, ...into, "--dts", "binding.d.ts"]);
    const text = declarationsOfAddon();
    if (readFileSync(DECLARATIONS_FILE, "utf8") !== text) writeFileSync(DECLARATIONS_FILE, text);
  });
}

/**
 * Returns the text of the declarations that napi has written, with the types that our TypeScript
 * uses.
 */
function declarationsOfAddon() {
  const printed = readFileSync(join(root, "dist/native/binding.d.ts"), "utf8");
  const body = printed.slice(printed.indexOf("/**", printed.indexOf("eslint-disable")));
  return `// What the native addon exports, as napi declares it; written by \`npm run build\`, not to be edited.

${body
  .replaceAll(/\bBuffer\b/gu, "Uint8Array")
  .replaceAll(/\bText\b/gu, "string")
  .replaceAll(/ \| undefined \| null(?=>)/gu, " | null")}`;
}

/**
 * @returns {boolean} false if the addon was built from the present sources and its declarations are
 * not those in js
 */
export function declarationsAreFresh() {
  const { stamp, inputs, settings } = addonBuild(dailyProfile);
  const path = join(root, stamp);
  const isBuilt = existsSync(path) && readFileSync(path, "utf8") === inputsFingerprint(inputs, ...settings);
  // A published addon that was taken instead has no declarations.
  const isPrinted = existsSync(join(root, "dist/native/binding.d.ts"));
  return !isBuilt || !isPrinted || readFileSync(DECLARATIONS_FILE, "utf8") === declarationsOfAddon();
}

/** The folder of `@filewright/storage`. */
const STORAGE_PACKAGE = "packages/storage";

/** Compiles and bundles the TypeScript into dist and packages/storage/dist, if that is stale. */
export function buildTypeScript({ force = false } = {}) {
  const what = {
    stamp: "dist/.stamp",
    outputs: [
      "dist/filewright.node.js",
      "dist/bin/filewright.js",
      "dist/cli/library.js",
      "dist/review/page/review.js",
      `${STORAGE_PACKAGE}/dist/postgres/index.js`,
    ],
    inputs: [
      "tsconfig.json",
      "scripts/bundle.mjs",
      "scripts/lib/element-style.mjs",
      "scripts/review-page.mjs",
      "package-lock.json",
      "js",
      `${STORAGE_PACKAGE}/tsconfig.json`,
      `${STORAGE_PACKAGE}/src`,
    ],
    force,
  };
  return buildWhenStale(what, async () => {
    console.error("building the TypeScript");
    removeOrphans("js", "dist");
    runAndWait(process.execPath, [compilerScript, "-p", "."]);
    removeOrphans(`${STORAGE_PACKAGE}/src`, `${STORAGE_PACKAGE}/dist`);
    linkPackages();
    writeSqlModule();
    runAndWait(process.execPath, [compilerScript, "-p", STORAGE_PACKAGE]);
    const { bundleDependencies, removeComments } = await import("./bundle.mjs");
    const { buildReviewPage } = await import("./review-page.mjs");
    const inputs = await buildReviewPage();
    await bundleDependencies(inputs);
    await removeComments();
  });
}

/** Links the packages of this checkout in node_modules, as `npm install` does, where its last run was before they were. */
function linkPackages() {
  for (const [name, target] of [
    ["filewright", ".."],
    ["@filewright/storage", `../../${STORAGE_PACKAGE}`],
  ]) {
    const link = join(root, "node_modules", name);
    if (existsSync(link)) continue;
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(target, link, "junction");
  }
}

/** Writes the texts of the SQL files into a module, unless they are there. */
function writeSqlModule() {
  const [file, text] = sqlModule();
  const path = join(root, file);
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeFileSync(path, text);
}

/** Removes the files of an earlier build whose sources no longer exist. */
function removeOrphans(source, output) {
  const made = join(root, output);
  if (!existsSync(made)) return;
  for (const entry of readdirSync(made, { withFileTypes: true })) {
    const from = join(source, entry.name);
    const to = join(output, entry.name);
    if (output === "dist" && ["native", "wasm", "bin"].includes(entry.name)) continue;
    if (entry.isDirectory()) removeOrphans(from, to);
    else if (/\.(js|d\.ts)$/.test(entry.name)) {
      const stem = entry.name.replace(/\.(js|d\.ts)$/, "");
      if (!existsSync(join(root, source, `${stem}.ts`))) rmSync(join(root, to));
    }
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const flag = (name) => process.argv.includes(name);
  await runScript(async () => {
    if (!flag("--ts-only")) await buildNative({ release: flag("--release"), force: flag("--force") });
    if (!flag("--native-only")) await buildTypeScript({ force: flag("--force") });
  });
}
