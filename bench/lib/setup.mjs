// What a benchmark needs before it starts: the addon as it is published, the
// TypeScript, and the peers, which live in bench/node_modules so that nobody
// who only works on Filewright installs them.
import { join } from "node:path";
import { buildNative, buildTypeScript } from "../../scripts/build.mjs";
import { platform } from "../../scripts/lib/platform.mjs";
import { bin, root, run } from "../../scripts/lib/run.mjs";
import { whenStale } from "../../scripts/lib/stale.mjs";

/** Builds and installs what is missing or stale, and points the loader at the build to measure. */
export async function prepare({ dev }) {
  if (dev) await buildNative();
  else process.env.FILEWRIGHT_ENGINE = await buildRelease();
  await buildTypeScript();
  const peers = {
    stamp: ".cache/bench/peers.stamp",
    outputs: ["bench/node_modules"],
    inputs: ["bench/package.json"],
  };
  await whenStale(peers, () => {
    console.error("installing the peers into bench/node_modules");
    npmInstall("bench");
  });
}

async function buildRelease() {
  const folder = ".cache/release";
  const addon = `${folder}/filewright.${platform()}.node`;
  const inputs = ["Cargo.toml", "Cargo.lock", "crates/core", "crates/fs", "crates/node"];
  await whenStale({ stamp: `${folder}/.stamp`, outputs: [addon], inputs }, () => {
    console.error("building the addon as it is published; this takes minutes once");
    const napi = ["build", "--platform", "--release", "--manifest-path", "crates/node/Cargo.toml", "--no-js"];
    run(bin("napi"), [...napi, "--package-json-path", "package.json", "--output-dir", folder]);
  });
  return join(root, addon);
}

/** Installs what a folder's package.json names; no install script is run. */
export function npmInstall(folder) {
  const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock", "--loglevel=error"];
  // What packages want of each other is nothing to a benchmark.
  const peers = "--legacy-peer-deps";
  run("npm", ["install", "--prefix", folder, peers, ...quiet]);
}
