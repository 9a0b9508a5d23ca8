// Builds the WebAssembly module into dist/wasm when it is missing or stale:
// cargo, the JavaScript around it (scripts/wasm-bindgen), wasm-opt, and a last
// look at whether the result compiles. docs/decisions tells why not wasm-pack.
//
//   --force   build even what is fresh
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { bin, BuildError, main, root, run } from "./lib/run.mjs";
import { whenStale } from "./lib/stale.mjs";
import { wasmToolchain } from "./lib/wasm-toolchain.mjs";

const out = "dist/wasm";
const module = `${out}/filewright_bg.wasm`;
const glue = ["Cargo.toml", "Cargo.lock", "src"].map((file) => `scripts/wasm-bindgen/${file}`);

/** Builds what is missing or stale. @throws NoWasmToolchain where this machine has nothing to build it with */
export function buildWasm({ force = false } = {}) {
  const what = {
    stamp: `${out}/.stamp`,
    outputs: [module, `${out}/filewright.js`, `${out}/filewright.cjs`],
    inputs: ["Cargo.toml", "Cargo.lock", "crates/core", "crates/wasm", "scripts/build-wasm.mjs", ...glue],
    force,
  };
  return whenStale(what, async () => {
    const { cargo, env, how } = wasmToolchain();
    console.error(`building the WebAssembly module (${how})`);
    const target = ["--target", "wasm32-unknown-unknown", "--target-dir", ".cache/wasm"];
    run(cargo, ["build", "--profile", "wasm", "-p", "filewright-wasm", ...target], {
      // SIMD makes searches up to 3.6 times faster and the module no larger.
      env: { ...env, RUSTFLAGS: "-Ctarget-feature=+simd128" },
    });
    const tool = await bindgen();
    run(tool, [".cache/wasm/wasm32-unknown-unknown/wasm/filewright_wasm.wasm", out]);
    // An export may bear the name of a function that the generated script has.
    run(process.execPath, ["--check", `${out}/filewright.js`]);
    // No feature flags: wasm-opt reads them from the module, and allowing all
    // of them makes one that Node 20 refuses.
    run(bin("wasm-opt"), ["-Os", "--strip-debug", "--strip-producers", module, "-o", module]);
    report();
  });
}

/** The program that writes the JavaScript, compiled once into .cache. */
async function bindgen() {
  const tool = ".cache/wasm-bindgen/debug/filewright-wasm-bindgen";
  await whenStale({ stamp: ".cache/wasm-bindgen/.stamp", outputs: [tool], inputs: glue }, () => {
    console.error("building wasm-bindgen (once)");
    const manifest = ["--manifest-path", "scripts/wasm-bindgen/Cargo.toml"];
    run("cargo", ["build", "--locked", ...manifest, "--target-dir", ".cache/wasm-bindgen"]);
  });
  return join(root, tool);
}

function report() {
  const file = join(root, module);
  const bytes = readFileSync(file);
  try {
    new WebAssembly.Module(bytes);
  } catch (cause) {
    throw new BuildError(`this Node refuses the module that was built: ${cause.message}`);
  }
  const kb = (size) => `${(size / 1000).toFixed(0)} kB`;
  console.error(
    `${module}: ${kb(bytes.length)}, gzip ${kb(gzipSync(bytes, { level: 9 }).length)}, brotli ${kb(brotliCompressSync(bytes).length)}`,
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(() => buildWasm({ force: process.argv.includes("--force") }));
}
