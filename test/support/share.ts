/** The share of its cases that a test runs by day. Tests of the project `nightly` (vitest.config.ts) do not use it. */
import { env } from "node:process";

/** True in the scheduled workflow, where `scripts/test.mjs --nightly` sets the variable. */
export const isNight: boolean = env["FILEWRIGHT_NIGHT"] === "1";

/**
 * Returns all cases by night. By day it returns every `oneOf`-th case, always the same ones: those of which the index
 * modulo `oneOf` is `part`. If `oneOf` tests take the parts 0 to `oneOf - 1`, one of them runs each case by day.
 */
export function share<T>(cases: readonly T[], oneOf: number, part = 0): readonly T[] {
  return isNight ? cases : cases.filter((_, index) => index % oneOf === part % oneOf);
}

/** Returns a `test` for a contract suite, which by day registers every `oneOf`-th of the cases. */
export function shareOfTests(
  test: (name: string, run: () => Promise<void>) => unknown,
  oneOf: number,
): (name: string, run: () => Promise<void>) => unknown {
  let index = 0;
  return (name, run) => (isNight || index++ % oneOf === 0 ? test(name, run) : undefined);
}
