// The parts that all attack scripts share: random numbers, temporary folders, and a way to record checks.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "../../../scripts/lib/deep-kind.mjs";
import { root as checkout } from "../../../scripts/lib/run.mjs";

/** The command as it is published. */
export const COMMAND = join(checkout, "dist/bin/filewright.js");

/** @returns the main entry of the built package, with the engine that FILEWRIGHT_ENGINE names */
export const loadPackage = () => import("../../../dist/cli/library.js");

/**
 * An attack script is the default export of a file of this folder: a function of an `Attack`.
 *
 * `check` records whether a promise was broken; `note` prints a line for the reader; `temporary` returns the path of a
 * new folder, which is removed at the end; `atEnd` registers what else has to be ended.
 * @typedef {{
 *   random: ReturnType<typeof seededRandom>,
 *   seed: number,
 *   seconds: number,
 *   check: (what: string, isBroken: boolean) => void,
 *   note: (text: string) => void,
 *   temporary: (name?: string) => string,
 *   atEnd: (cleanup: () => unknown) => void,
 * }} Attack
 */

/**
 * Makes what a script is given.
 * @returns {{ attack: Attack, end: () => Promise<void> }} `end` removes what the script made, last first
 */
export function makeAttack(seed, seconds) {
  const cleanups = [];
  const attack = {
    random: seededRandom(seed),
    seed,
    seconds,
    check(what, isBroken) {
      console.log(JSON.stringify({ check: what, isBroken }));
    },
    note: (text) => console.log(`  ${text}`),
    temporary(name = "root") {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), `filewright-attack-${name}-`)));
      cleanups.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
      return folder;
    },
    atEnd: (cleanup) => void cleanups.push(cleanup),
  };
  const end = async () => {
    for (const cleanup of cleanups.reverse()) {
      try {
        await cleanup();
      } catch (error) {
        attack.note(`not cleaned up: ${error.message}`);
      }
    }
  };
  return { attack, end };
}

/** Makes a home with a state folder. @returns the environment in which a program uses it */
export function homeIn(attack) {
  const home = attack.temporary("home");
  const state = join(home, "state");
  mkdirSync(state, { mode: 0o700 });
  return { PATH: process.env.PATH, HOME: home, XDG_STATE_HOME: state, LANG: "C.UTF-8" };
}

/**
 * Waits until `look` returns something.
 * @template T
 * @param {() => Promise<T | undefined> | T | undefined} look
 * @param {string} what for the message of the error
 */
export async function waitFor(look, what, milliseconds = 15_000) {
  const end = Date.now() + milliseconds;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false && found !== null) return found;
    if (Date.now() > end) throw new Error(`no ${what} within ${milliseconds} ms`);
    await sleep(25);
  }
}
