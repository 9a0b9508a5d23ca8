// Builds the WebAssembly modules into dist/wasm when they are missing or stale:
// cargo, the JavaScript around them (scripts/wasm-bindgen), wasm-opt, and a last
// look at whether the result compiles. docs/decisions tells why not wasm-pack,
// and why there are two.
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
/** The whole engine, and the part of it that compares and changes texts. */
const modules = [
  { name: "filewright", features: [] },
  { name: "filewright_edit", features: ["--no-default-features"] },
];
const glue = ["Cargo.toml", "Cargo.lock", "src"].map((file) => `scripts/wasm-bindgen/${file}`);

/** Builds both. @throws NoWasmToolchain where this machine has nothing to build it with */
export function buildWasm({ force = false } = {}) {
  const what = {
    stamp: `${out}/.stamp`,
    outputs: modules.flatMap(({ name }) =>
      ["_bg.wasm", ".js", ".cjs"].map((ending) => `${out}/${name}${ending}`),
    ),
    inputs: ["Cargo.toml", "Cargo.lock", "crates/core", "crates/wasm", "scripts/build-wasm.mjs", ...glue],
    force,
  };
  return whenStale(what, async () => {
    const { cargo, env, how } = wasmToolchain();
    console.error(`building the WebAssembly modules (${how})`);
    const tool = await bindgen();
    for (const { name, features } of modules) {
      const target = ["--target", "wasm32-unknown-unknown", "--target-dir", ".cache/wasm"];
      run(cargo, ["build", "--profile", "wasm", "-p", "filewright-wasm", ...features, ...target], {
        // SIMD makes searches up to 3.6 times faster and the module no larger.
        env: { ...env, RUSTFLAGS: "-Ctarget-feature=+simd128" },
      });
      run(tool, [".cache/wasm/wasm32-unknown-unknown/wasm/filewright_wasm.wasm", out, name]);
      // An export may bear the name of a function that the generated script has.
      run(process.execPath, ["--check", `${out}/${name}.js`]);
      const module = `${out}/${name}_bg.wasm`;
      // No feature flags: wasm-opt reads them from the module, and allowing all
      // of them makes one that Node 20 refuses.
      run(bin("wasm-opt"), ["-Os", "--strip-debug", "--strip-producers", module, "-o", module]);
      report(module);
    }
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

function report(module) {
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
