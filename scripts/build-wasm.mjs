// Builds the WebAssembly modules into dist/wasm if they are missing or stale: compiles them with
// cargo, generates their JavaScript with wasm-bindgen (scripts/wasm-bindgen), makes them smaller
// with wasm-opt, and checks that Node compiles the result. docs/decisions gives the reasons for not
// using wasm-pack and for having two modules.
//
//   --force   builds them although they are fresh
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { npmProgram, BuildError, runScript, root, runAndWait } from "./lib/run.mjs";
import { buildWhenStale } from "./lib/stale.mjs";
import { wasmToolchain } from "./lib/wasm-toolchain.mjs";

const OUTPUT_FOLDER = "dist/wasm";
/** The modules: one with the whole engine, and one that only compares and changes texts. */
const WASM_MODULES = [
  { name: "filewright", features: [] },
  { name: "filewright_edit", features: ["--no-default-features"] },
];
/** The sources of the program that generates the JavaScript. */
const GLUE_GENERATOR_SOURCES = ["Cargo.toml", "Cargo.lock", "src"].map(
  (file) => `scripts/wasm-bindgen/${file}`,
);

/**
 * Builds both modules.
 * @throws NoWasmToolchain if this machine has no Rust toolchain for WebAssembly
 */
export function buildWasm({ force = false } = {}) {
  const what = {
    stamp: `${OUTPUT_FOLDER}/.stamp`,
    outputs: WASM_MODULES.flatMap(({ name }) =>
      ["_bg.wasm", ".js", ".cjs"].map((ending) => `${OUTPUT_FOLDER}/${name}${ending}`),
    ),
    inputs: [
      "Cargo.toml",
      "Cargo.lock",
      "crates/core",
      "crates/matcher",
      "crates/wasm",
      "scripts/build-wasm.mjs",
      ...GLUE_GENERATOR_SOURCES,
    ],
    force,
  };
  return buildWhenStale(what, async () => {
    const { cargo, env, how } = wasmToolchain();
    console.error(`building the WebAssembly modules (${how})`);
    const tool = await buildBindgen();
    for (const { name, features } of WASM_MODULES) {
      const target = ["--target", "wasm32-unknown-unknown", "--target-dir", ".cache/wasm"];
      runAndWait(cargo, ["build", "--profile", "wasm", "-p", "filewright-wasm", ...features, ...target], {
        // SIMD makes searches up to 3.6 times faster and the module no larger.
        env: { ...env, RUSTFLAGS: "-Ctarget-feature=+simd128" },
      });
      runAndWait(tool, [".cache/wasm/wasm32-unknown-unknown/wasm/filewright_wasm.wasm", OUTPUT_FOLDER, name]);
      // Fails if an export has the name of another function in the generated script.
      runAndWait(process.execPath, ["--check", `${OUTPUT_FOLDER}/${name}.js`]);
      const module = `${OUTPUT_FOLDER}/${name}_bg.wasm`;
      // wasm-opt gets no feature flags: it reads from the module which it needs, and with all of
      // them it makes one that Node 20 cannot compile. -Os takes twice the time, and its module is 1 % larger when
      // it is compressed.
      runAndWait(npmProgram("wasm-opt"), ["-O1", "--strip-debug", "--strip-producers", module, "-o", module]);
      checkAndReportModule(module);
    }
  });
}

/**
 * Returns the path of the program that generates the JavaScript, which is compiled into .cache if
 * it is stale.
 */
async function buildBindgen() {
  const tool = ".cache/wasm-bindgen/debug/filewright-wasm-bindgen";
  await buildWhenStale(
    { stamp: ".cache/wasm-bindgen/.stamp", outputs: [tool], inputs: GLUE_GENERATOR_SOURCES },
    () => {
      console.error("building wasm-bindgen (once)");
      const manifest = ["--manifest-path", "scripts/wasm-bindgen/Cargo.toml"];
      runAndWait("cargo", ["build", "--locked", ...manifest, "--target-dir", ".cache/wasm-bindgen"]);
    },
  );
  return join(root, tool);
}

/** Checks that Node compiles a module, and prints its size. */
function checkAndReportModule(module) {
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
  await runScript(() => buildWasm({ force: process.argv.includes("--force") }));
}
