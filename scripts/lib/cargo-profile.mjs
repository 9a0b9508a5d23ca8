// Tells with which profile cargo compiles the addon, the tests and what clippy checks. All of them
// use the same one in CI, so that no dependency is compiled twice.
import { join } from "node:path";
import { root, runAndWait } from "./run.mjs";

/**
 * The profile that FILEWRIGHT_CARGO_PROFILE names, as .ci/run does; undefined otherwise, and then
 * each command has its own.
 */
const sharedProfile = process.env.FILEWRIGHT_CARGO_PROFILE;

/** The profile of an addon that is not published. */
export const dailyProfile = sharedProfile ?? "dev-native";

/**
 * The environment in which cargo compiles tests: with a shared profile they are not optimised themselves. Cargo compiles
 * nothing again because of it.
 */
export const testEnvironment =
  sharedProfile === undefined ? {} : { RUSTC_WRAPPER: join(root, "scripts/lib/plain-tests.sh") };

/** Returns the compiler's name of this platform. */
function hostTarget() {
  const about = runAndWait("rustc", ["-vV"], { capture: true }).stdout;
  return /^host: (.+)$/mu.exec(about)?.[1] ?? "";
}

/**
 * Returns the arguments by which a command of cargo shares what it compiles with the addon; none
 * without a shared profile. The addon is built for a target that is named, which cargo keeps apart.
 */
export function sharedProfileArguments() {
  return sharedProfile === undefined ? [] : ["--profile", sharedProfile, "--target", hostTarget()];
}

/** Returns the folder, relative to the checkout, of what cargo builds with these arguments. */
export function sharedProfileFolder() {
  return sharedProfile === undefined ? "target/debug" : `target/${hostTarget()}/${sharedProfile}`;
}
