// Running tools: one way to start them, and one way to say that one is missing.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The checkout's root, whatever the current directory is. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

// Debian's plain rustc is older than ours has to be; its rustc-web is not.
const rust =
  "install Rust 1.89 or later: https://rustup.rs, or on Debian: apt-get install rustc-web cargo-web";

/** How to get each tool that a build cannot do without. */
const remedies = {
  cargo: rust,
  rustc: rust,
  "wasm-opt": "run: npm install",
  tsc: "run: npm install",
  napi: "run: npm install",
  biome: "run: npm install",
  knip: "run: npm install",
  vitest: "run: npm install",
  typedoc: "run: npm install",
};

/** A build that cannot go on; its message is meant to be the last thing printed. */
export class BuildError extends Error {
  /** The exit status of a script that ends with it. */
  status = 1;
}

/** @param {string} command a name on PATH or a path */
export function missingTool(command) {
  const name = command.split("/").at(-1);
  return new BuildError(`${name} is missing; ${remedies[name] ?? `install ${name}`}`);
}

/** The path of a program that an npm package brings. */
export const bin = (name) => `${root}node_modules/.bin/${name}`;

/**
 * Runs a program in the checkout and waits for it.
 *
 * @param {string} command a name on PATH or a path
 * @param {readonly string[]} args
 * @param {{ env?: Record<string, string | undefined>, capture?: boolean | "stdout", check?: boolean }} options
 *   `capture` returns the output instead of showing it, `"stdout"` only that half of it; `check: false` returns a failure instead of throwing
 */
export function run(command, args, { env, capture = false, check = true } = {}) {
  const done = spawnSync(command, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: capture ? ["ignore", "pipe", capture === "stdout" ? "inherit" : "pipe"] : "inherit",
    encoding: "utf8",
    maxBuffer: 256 << 20,
    shell: process.platform === "win32",
  });
  if (done.error?.code === "ENOENT") throw missingTool(command);
  if (done.error) throw done.error;
  if (check && done.status !== 0) {
    if (capture) process.stderr.write(done.stdout + done.stderr);
    throw new BuildError(`${command.split("/").at(-1)} failed with status ${done.status ?? done.signal}`);
  }
  return { status: done.status ?? 1, stdout: done.stdout ?? "", stderr: done.stderr ?? "" };
}

/** Whether a program can be started at all. */
export const has = (command) => spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0;

/** Runs the body of a script; a BuildError ends it with its message alone. */
export async function main(body) {
  try {
    await body();
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(`error: ${error.message}`);
    process.exitCode = error.status;
  }
}
