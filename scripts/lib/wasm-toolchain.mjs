// Finds a Rust toolchain that can compile for wasm32-unknown-unknown, without installing anything.
//
// A toolchain with the standard library for that target is preferred. Otherwise one with the source
// of the standard library (Debian's `rust-web-src`, rustup's `rust-src`) compiles it first. No
// script runs `rustup target add`, because that would change the user's toolchain.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { BuildError, runScript } from "./run.mjs";
import { buildStdEnvironment, installedToolchains, rustcEnvironment } from "./rust-toolchain.mjs";

const WASM_TARGET = "wasm32-unknown-unknown";

/** The error if no toolchain on this machine can compile for WebAssembly. */
export class NoWasmToolchain extends BuildError {
  /** An exit status by which other scripts recognise this error. */
  static STATUS = 3;
  status = NoWasmToolchain.STATUS;

  constructor(problem) {
    super(
      `${problem}\n  with rustup:         rustup target add ${WASM_TARGET}\n` +
        "  on Debian as root:   apt-get install rustc-web cargo-web rust-web-src lld",
    );
  }
}

/**
 * Returns the command and the environment variables that compile for WebAssembly.
 * @returns {{ cargo: string, env: Record<string, string>, how: string }}
 */
export function wasmToolchain() {
  const found = installedToolchains(WASM_TARGET);
  const ready = found.find(({ library }) => existsSync(library));
  if (ready) return { cargo: ready.cargo, env: rustcEnvironment(ready), how: "installed standard library" };

  const source = found.find(({ sources }) => existsSync(sources));
  if (!source)
    throw new NoWasmToolchain(
      `no Rust here has a standard library for ${WASM_TARGET}; either of these helps:`,
    );
  const linker = [
    ...found.map(({ linker }) => linker),
    ...possiblePathsOf("rust-lld"),
    ...possiblePathsOf("wasm-ld"),
  ].find(existsSync);
  if (!linker) throw new NoWasmToolchain("no linker for WebAssembly was found; either of these helps:");
  return {
    cargo: source.cargo,
    env: {
      ...buildStdEnvironment(source, "std,panic_abort"),
      // In place of its defaults: what reads backtraces takes a tenth of the time, and the module has none.
      CARGO_UNSTABLE_BUILD_STD_FEATURES: "compiler-builtins-mem",
      CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: linker,
    },
    how: "standard library from source; the first build takes 6 minutes of processor time",
  };
}

const possiblePathsOf = (name) =>
  (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name));

// Run as a program, the exit status says whether this machine can build the module.
if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(() => console.log(`WebAssembly: ${wasmToolchain().how}`));
}
