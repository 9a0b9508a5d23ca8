// The sources that a released binary was built from, as a hash of their contents. The packages record it, so
// that a checkout can tell whether a released binary is the one that it would build itself.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/run.mjs";

/** Files of a crate that are not compiled into a binary are left out: tests, examples, fuzz targets. */
const sourcesOfCrates = (...crates) =>
  crates.flatMap((crate) => ["Cargo.toml", "build.rs", "src"].map((name) => `crates/${crate}/${name}`));

/** What each kind of binary is built from. */
const SOURCES = {
  native: [
    "Cargo.toml",
    "Cargo.lock",
    ...sourcesOfCrates("core", "fs", "index", "matcher", "sandbox", "node"),
  ],
  wasm: [
    "Cargo.toml",
    "Cargo.lock",
    ...sourcesOfCrates("core", "matcher", "wasm"),
    "scripts/build-wasm.mjs",
    "scripts/wasm-bindgen/Cargo.toml",
    "scripts/wasm-bindgen/Cargo.lock",
    "scripts/wasm-bindgen/src",
  ],
};

function* filesBelow(folder, path) {
  const stat = statSync(join(folder, path), { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isDirectory()) return void (yield path);
  for (const name of readdirSync(join(folder, path)).sort()) yield* filesBelow(folder, `${path}/${name}`);
}

/**
 * Returns the hash of the sources of a binary, in hexadecimal. Line ends do not count, because git can
 * convert them.
 *
 * @param {"native" | "wasm"} kind
 * @param {string} folder a checkout
 */
export function sourcesHash(kind, folder = root) {
  const hash = createHash("sha256");
  for (const path of SOURCES[kind].flatMap((source) => [...filesBelow(folder, source)])) {
    const text = readFileSync(join(folder, path), "latin1").replaceAll("\r\n", "\n");
    hash.update(`${path}\0${text.length}\0`).update(text, "latin1");
  }
  return hash.digest("hex");
}
