/**
 * The share of generated or enumerated cases that a test runs. A test that has a file for the night alone
 * (`nightly` in vitest.config.ts) needs none.
 */
import { env } from "node:process";

/** Returns true in the scheduled workflow: `scripts/test.mjs --nightly` sets the variable. */
export const isNight: boolean = env["FILEWRIGHT_NIGHT"] === "1";

/**
 * Returns each case of the list by night. By day it returns one of `oneOf` neighbouring cases, always the same: those
 * whose index, divided by `oneOf`, leaves the remainder of `part`. The parts 0 to `oneOf - 1` together are the whole
 * list, so tests that take different parts of it see each case once.
 */
export function share<T>(cases: readonly T[], oneOf: number, part = 0): readonly T[] {
  return isNight ? cases : cases.filter((_, index) => index % oneOf === part % oneOf);
}
