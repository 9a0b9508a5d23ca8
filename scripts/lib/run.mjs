// Runs programs for scripts, and reports a missing one with the command that installs it.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The path of the checkout's root, with a final slash. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

// Debian's package rustc is too old, but its rustc-web is not.
const RUST_INSTALL_HINT =
  "install Rust 1.89 or later: https://rustup.rs, or on Debian: apt-get install rustc-web cargo-web";

const RELEASE_INSTALL_HINT = "run as root: node scripts/release/tools.mjs";

/** For each program that a build needs, how to install it. */
const INSTALL_HINT_BY_PROGRAM = {
  cargo: RUST_INSTALL_HINT,
  rustc: RUST_INSTALL_HINT,
  rustfmt: "run: rustup component add rustfmt",
  "wasm-opt": "run: npm install",
  napi: "run: npm install",
  biome: "run: npm install",
  knip: "run: npm install",
  vitest: "run: npm install",
  typedoc: "run: npm install",
  readelf: RELEASE_INSTALL_HINT,
  "qemu-aarch64-static": RELEASE_INSTALL_HINT,
};

/** An error that ends a script. Only its message is printed, without a stack trace. */
export class BuildError extends Error {
  /** The exit status of the script. */
  status = 1;
}

/** @param {string} command a name on PATH or a path */
export function missingToolError(command) {
  const name = command.split("/").at(-1);
  return new BuildError(`${name} is missing; ${INSTALL_HINT_BY_PROGRAM[name] ?? `install ${name}`}`);
}

/** Returns the path of a program that an npm package has installed. */
export const npmProgram = (name) => `${root}node_modules/.bin/${name}`;

/**
 * The compiler of TypeScript 7, a script of Node. It takes a quarter of the time of TypeScript 6, which stays for
 * what needs its API (typedoc, scripts/lib/ratchet) and has a program of the same name.
 */
export const compilerScript = `${root}node_modules/typescript-7/bin/tsc`;

/**
 * Runs a program in the checkout and waits for it.
 *
 * @param {string} command a name on PATH or a path
 * @param {readonly string[]} args
 * @param {{ env?: Record<string, string | undefined>, input?: string, capture?: boolean | "stdout", check?: boolean }} options
 *   `input` is its standard input; `capture` returns the output instead of showing it, `"stdout"` only that half of it; `check: false` returns a failure instead of throwing
 */
export function runAndWait(command, args, { env, input, capture = false, check = true } = {}) {
  const done = spawnSync(command, args, {
    cwd: root,
    env: { ...process.env, ...env },
    input,
    stdio: capture
      ? [input === undefined ? "ignore" : "pipe", "pipe", capture === "stdout" ? "inherit" : "pipe"]
      : "inherit",
    encoding: "utf8",
    maxBuffer: 256 << 20,
    shell: process.platform === "win32",
  });
  if (done.error?.code === "ENOENT") throw missingToolError(command);
  if (done.error) throw done.error;
  if (check && done.status !== 0) {
    if (capture) process.stderr.write(done.stdout + done.stderr);
    throw new BuildError(`${command.split("/").at(-1)} failed with status ${done.status ?? done.signal}`);
  }
  return { status: done.status ?? 1, stdout: done.stdout ?? "", stderr: done.stderr ?? "" };
}

/** Returns true if the program is installed, that is, if it succeeds with the flag that asks for its version. */
export const isInstalled = (command, flag = "--version") =>
  spawnSync(command, [flag], { stdio: "ignore" }).status === 0;

/**
 * Runs the body of a script. A BuildError ends the script: its message is printed and its status is
 * the exit status.
 */
export async function runScript(body) {
  try {
    await body();
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(`error: ${error.message}`);
    process.exitCode = error.status;
  }
}
