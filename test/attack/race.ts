/**
 * The parts of a race: an arena whose directory another process exchanges with
 * a link that leads out, a naive control, and calls until enough has happened.
 *
 * Two things are counted, and they are not the same. A **round** is one exchange
 * of the names by the attacker: at least FILEWRIGHT_ATTACK_ROUNDS (default 20,000)
 * for each tool. A **call** is one whole call of a tool that met them: at least
 * FILEWRIGHT_ATTACK_CALLS, and each kind of call goes through once or more, since
 * a call that is always refused attacks nothing. Where a test takes several ways to be held
 * to the roots, they divide the rounds and the calls by day, and by night each has all.
 * The race has no time limit: it ends when it has enough of all three. What the engine does for each tool meets
 * 20,000 calls of its own in `crates/fs/tests/race_tools.rs`.
 */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { expect } from "vitest";
import { exchanging } from "./attacker.ts";
import { type Arm, type World, world } from "./world.ts";

const ROUNDS = Number(process.env.FILEWRIGHT_ATTACK_ROUNDS ?? 20_000);
const CALLS = Number(process.env.FILEWRIGHT_ATTACK_CALLS ?? 100);
/** Calls under way at once: enough to keep the pool's threads busy. */
const AT_ONCE = 16;
/** The longest time without a successful call; a longer one fails the race as proving nothing. */
const FOR_EVER_MS = 100_000;
/** The time limit of a test of many races: it only ends a hanging test. */
export const RACE_MS: number = 300_000 + ROUNDS;

/** In memory where possible: the latency of a disk is no part of a race. */
export const BASE: string = fs.existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** A call of one tool, in its n-th turn. */
export type Call = readonly [tool: string, args: (turn: number) => Record<string, unknown>];

/** Makes one call; returns its success and all text of its answer. */
export type Caller = (
  tool: string,
  args: Record<string, unknown>,
) => Promise<{ readonly ok: boolean; readonly told: string }>;

/** Calls of a workspace. */
export const direct =
  ({ ws }: World): Caller =>
  async (tool, args) => {
    const result = await ws.call(tool, args);
    return { ok: result.ok, told: JSON.stringify(result) };
  };

/** A directory `d` with what the outside has, to be exchanged with `evil`, a link to the outside. */
export function arena(arm: Arm, more: Parameters<typeof world>[2] = {}): Promise<World> {
  return world(
    arm,
    { "../out/SECRET-name": "", "d/s": "fine", "d/dir/x": "fine", evil: { link: "../out" }, "tree/g": "g" },
    { history: false, ...more },
    BASE,
  );
}

/** The names as they were: what calls have taken away is put back between the tools. */
export function restore(at: World, after: string): void {
  const links = ["d", "evil"].filter((name) => fs.lstatSync(at.at(name)).isSymbolicLink());
  expect(links, `${after} has replaced the link or the directory:\n${at.tree(".")}`).toHaveLength(1);
  for (const name of ["d", "evil"]) {
    if (!fs.lstatSync(at.at(name)).isDirectory()) continue;
    fs.rmSync(at.at(name), { recursive: true, force: true });
    at.put(`${name}/s`, "fine");
    at.put(`${name}/dir/x`, "fine");
  }
}

const naiveRead = (root: string, path: string): string | undefined => {
  try {
    return fs.realpathSync(path).startsWith(`${root}/`) ? fs.readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
};
const naiveWrite = (root: string, path: string): void => {
  try {
    if (fs.realpathSync(join(path, "..")).startsWith(`${root}/`)) fs.writeFileSync(path, "PWN");
  } catch {}
};

/** A naive tool leaves the root by reading and by writing while the names are exchanged; else nothing is proved. */
export async function controlEscapes(at: World): Promise<void> {
  const planted = join(at.outside, "control");
  const before = at.tree("../out");
  const [escaped] = await exchanging(at.at("d"), at.at("evil"), Number.MAX_SAFE_INTEGER, async () => {
    const until = performance.now() + FOR_EVER_MS;
    let [read, wrote] = [false, false];
    while (performance.now() < until && !(read && wrote)) {
      for (let n = 0; n < 200; n += 1) {
        read ||= naiveRead(at.root, at.at("d/s"))?.includes("SECRET") === true;
        if (!wrote) naiveWrite(at.root, at.at("d/control"));
      }
      wrote ||= fs.existsSync(planted);
    }
    return read && wrote;
  });
  fs.rmSync(planted, { force: true });
  expect(escaped, "the control never escaped: nothing is proved").toBe(true);
  expect(at.tree("../out")).toBe(before);
  restore(at, "the control");
}

/** The counts of one race. */
export interface Met {
  readonly rounds: number;
  readonly calls: number;
  readonly through: number;
}

/** Makes calls while two names are exchanged; nothing they are told and nothing outside may show an escape. */
export async function race(
  at: World,
  [a, b]: readonly [string, string],
  caller: Caller,
  calls: readonly Call[],
  title: string,
): Promise<Met> {
  const before = at.tree("../out");
  const [minRounds, minCalls] = [Math.ceil(ROUNDS / at.arm.ways), Math.ceil(CALLS / at.arm.ways)];
  const through = calls.map(() => 0);
  let made = 0;
  const [, swaps] = await exchanging(at.at(a), at.at(b), minRounds, async (attack) => {
    const until = performance.now() + FOR_EVER_MS + ROUNDS;
    const goesOn = (): boolean =>
      performance.now() < until &&
      !(attack.enough() && made >= minCalls && through.every((count) => count > 0));
    const agent = async (): Promise<void> => {
      while (goesOn()) {
        const turn = made++;
        const which = turn % calls.length;
        const [tool, args] = calls[which] as Call;
        const answer = await caller(tool, args(turn));
        if (answer.ok) through[which] = (through[which] ?? 0) + 1;
        expect(answer.told, tool).not.toContain("SECRET");
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, agent));
  });
  expect(at.tree("../out"), title).toBe(before);
  expect(
    calls.filter((_, which) => through[which] === 0).map(([tool]) => tool),
    `${title}: nothing ever went through of these`,
  ).toEqual([]);
  expect(swaps.done, title).toBeGreaterThanOrEqual(minRounds);
  return { rounds: swaps.done, calls: made, through: through.reduce((sum, count) => sum + count, 0) };
}

/** Describes a race in one line. */
export function told(title: string, { rounds, calls, through }: Met): string {
  return `${title}: ${rounds} rounds, ${calls} calls, ${through} through`;
}
