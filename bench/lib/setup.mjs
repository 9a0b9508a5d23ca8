// Prepares a run: builds the addon as it is published and the TypeScript, and installs the tools
// that are compared into bench/node_modules, so that they need not be installed for other work.
import { join } from "node:path";
import { buildNative, buildTypeScript } from "../../scripts/build.mjs";
import { platformName } from "../../scripts/lib/platform.mjs";
import { npmProgram, root, runAndWait } from "../../scripts/lib/run.mjs";
import { buildWhenStale } from "../../scripts/lib/stale.mjs";

/**
 * Builds and installs what is missing or stale, and makes the library load the addon that is to be
 * measured.
 */
export async function prepareBenchmarks({ dev }) {
  if (dev) await buildNative();
  else process.env.FILEWRIGHT_ENGINE = await buildReleaseAddon();
  await buildTypeScript();
  const peers = {
    stamp: ".cache/bench/peers.stamp",
    outputs: ["bench/node_modules"],
    inputs: ["bench/package.json"],
  };
  await buildWhenStale(peers, () => {
    console.error("installing the peers into bench/node_modules");
    npmInstall("bench");
  });
}

async function buildReleaseAddon() {
  const folder = ".cache/release";
  const addon = `${folder}/filewright.${platformName()}.node`;
  const inputs = ["Cargo.toml", "Cargo.lock", "crates"];
  await buildWhenStale({ stamp: `${folder}/.stamp`, outputs: [addon], inputs }, () => {
    console.error("building the addon as it is published; this takes minutes once");
    const napi = ["build", "--platform", "--release", "--manifest-path", "crates/node/Cargo.toml", "--no-js"];
    runAndWait(npmProgram("napi"), [...napi, "--package-json-path", "package.json", "--output-dir", folder]);
  });
  return join(root, addon);
}

/** Installs the dependencies in a folder's package.json without running install scripts. */
export function npmInstall(folder) {
  const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock", "--loglevel=error"];
  // Conflicts between peer dependencies do not matter, because the packages are only searched.
  const peers = "--legacy-peer-deps";
  runAndWait("npm", ["install", "--prefix", folder, peers, ...quiet]);
}
