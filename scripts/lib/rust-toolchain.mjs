// Finds the Rust toolchains of this machine and what each has for a target.
import { join } from "node:path";
import { isInstalled, runAndWait } from "./run.mjs";

/**
 * A toolchain, with the paths at which it has a compiled standard library for a target, the source
 * of the standard library, and a linker. What is not installed does not exist there.
 * @typedef {{ cargo: string, rustc: string, library: string, sources: string, linker: string }} Toolchain
 */

/**
 * Returns the installed toolchains: the one on PATH first, then Debian's, which rustup's shims hide.
 *
 * @param {string} target the compiler's name of a target
 * @returns {Toolchain[]}
 */
export function installedToolchains(target) {
  return [
    { cargo: "cargo", rustc: "rustc" },
    { cargo: "/usr/bin/cargo", rustc: "/usr/bin/rustc" },
  ]
    .filter(({ cargo, rustc }) => isInstalled(cargo) && isInstalled(rustc))
    .map(({ cargo, rustc }) => {
      const ask = (...args) => runAndWait(rustc, args, { capture: true, check: false }).stdout.trim();
      const sysroot = ask("--print", "sysroot");
      const host = /^host: (.*)$/m.exec(ask("-vV"))?.[1] ?? "";
      return {
        cargo,
        rustc,
        // rustc prints this folder also if the target is not installed; then it does not exist.
        library: ask("--print", "target-libdir", "--target", target),
        sources: join(sysroot, "lib/rustlib/src/rust/library/std/Cargo.toml"),
        linker: join(sysroot, "lib/rustlib", host, "bin/rust-lld"),
      };
    });
}

/**
 * Returns the environment variables with which a toolchain's cargo compiles the standard library
 * from its source.
 *
 * @param {Toolchain} toolchain
 * @param {string} crates the crates of the standard library, separated by commas
 */
export const buildStdEnvironment = (toolchain, crates) => ({
  ...rustcEnvironment(toolchain),
  // Allows unstable options in the stable compiler, for the one that builds the standard library.
  RUSTC_BOOTSTRAP: "1",
  CARGO_UNSTABLE_BUILD_STD: crates,
});

/** Returns the environment variables by which cargo finds the compiler of its own toolchain. */
export const rustcEnvironment = ({ rustc }) => (rustc === "rustc" ? {} : { RUSTC: rustc });
