// Finds a Rust that can compile for wasm32-unknown-unknown, without changing any.
//
// A toolchain with that target's standard library is taken as it is. Failing
// that, one that comes with the library's source builds it (Debian's
// `rust-web-src`, rustup's `rust-src`). No script of ours ever runs
// `rustup target add`: it would download and change the user's toolchain.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { BuildError, has, main, run } from "./run.mjs";

const target = "wasm32-unknown-unknown";

/** No toolchain here can compile for WebAssembly: a matter of the machine, not of the code. */
export class NoWasmToolchain extends BuildError {
  /** Of no other failure of the build. */
  static STATUS = 3;
  status = NoWasmToolchain.STATUS;

  constructor(problem) {
    super(
      `${problem}\n  with rustup:         rustup target add ${target}\n` +
        "  on Debian as root:   apt-get install rustc-web cargo-web rust-web-src lld",
    );
  }
}

/**
 * The command and environment that compile for WebAssembly.
 * @returns {{ cargo: string, env: Record<string, string>, how: string }}
 */
export function wasmToolchain() {
  const found = [
    { cargo: "cargo", rustc: "rustc" },
    // Debian's compiler, hidden from PATH by rustup's shims where both are installed.
    { cargo: "/usr/bin/cargo", rustc: "/usr/bin/rustc" },
  ].flatMap(describe);
  const ready = found.find(({ library }) => existsSync(library));
  if (ready) return { cargo: ready.cargo, env: env(ready), how: "installed standard library" };

  const source = found.find(({ sources }) => existsSync(sources));
  if (!source)
    throw new NoWasmToolchain(`no Rust here has a standard library for ${target}; either of these helps:`);
  const linker = [...found.map(({ linker }) => linker), ...onPath("rust-lld"), ...onPath("wasm-ld")].find(
    existsSync,
  );
  if (!linker) throw new NoWasmToolchain("no linker for WebAssembly was found; either of these helps:");
  const build = {
    // The option that builds the standard library is unstable in name only.
    RUSTC_BOOTSTRAP: "1",
    CARGO_UNSTABLE_BUILD_STD: "std,panic_abort",
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: linker,
  };
  return { cargo: source.cargo, env: { ...env(source), ...build }, how: "standard library from source" };
}

function describe({ cargo, rustc }) {
  if (!has(cargo) || !has(rustc)) return [];
  const ask = (...args) => run(rustc, args, { capture: true, check: false }).stdout.trim();
  const sysroot = ask("--print", "sysroot");
  const host = /^host: (.*)$/m.exec(ask("-vV"))?.[1] ?? "";
  return {
    cargo,
    rustc,
    // Printed even where the target is not installed: whether it exists is the answer.
    library: ask("--print", "target-libdir", "--target", target),
    sources: join(sysroot, "lib/rustlib/src/rust/library/std/Cargo.toml"),
    linker: join(sysroot, "lib/rustlib", host, "bin/rust-lld"),
  };
}

const env = ({ rustc }) => (rustc === "rustc" ? {} : { RUSTC: rustc });

const onPath = (name) => (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name));

// As a program: says by its status whether this machine can build the module.
if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(() => console.log(`WebAssembly: ${wasmToolchain().how}`));
}
