/** Many workspaces at once in a process with few descriptors: all can be used, and none keeps more than its root open. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { env, execPath, platform } from "node:process";
import { describe, expect, test } from "vitest";
import { share } from "../support/share.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const PROGRAM = join(import.meta.dirname, "open-many.mjs");
const PATCH_PROGRAM = join(import.meta.dirname, "patch-many.mjs");
const UNTIL_PROGRAM = join(import.meta.dirname, "open-until.mjs");
const EXIT_PROGRAM = join(import.meta.dirname, "exit-at-once.mjs");

interface Facts {
  readonly start: number;
  readonly most: number;
  readonly opened: number;
  readonly read: number;
  readonly written: number;
  readonly used: number;
  readonly closed: number;
  readonly failed: readonly string[];
}

/** Runs a program with 128 descriptors; returns what it printed. */
function run(engine: string, args: readonly string[]): unknown {
  const { status, stdout, stderr } = spawnSync(
    "sh",
    ["-c", `ulimit -n 128; exec "$0" "$@"`, execPath, ...args],
    { encoding: "utf8", env: { ...env, FILEWRIGHT_ENGINE: engine } },
  );
  expect([status, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

test.skipIf(platform !== "linux")(
  "a patch of more files than there are descriptors is refused with a remedy that works",
  () => {
    const outcomes = run("native", [PATCH_PROGRAM, temporaryDirectory(), "107"]) as readonly {
      readonly count: number;
      readonly there: number;
      readonly failure?: string;
    }[];
    for (const { count, there, failure } of outcomes) {
      expect([count, there]).toEqual([count, failure === undefined ? count : 0]);
      if (failure !== undefined)
        expect(failure).toMatch(
          /^Error: (?:No more files can be opened|'f\d+': too many open files).+[.;] [Ww]ork on fewer paths in one call, or raise the limit of open files \(ulimit -n\)\.$/u,
        );
    }
    expect(outcomes.at(0)?.failure).toBeDefined();
    expect(outcomes.at(-1)?.failure).toBe(undefined);
  },
);

test.skipIf(platform !== "linux")(
  "one workspace more than there are descriptors is refused with a remedy that works, and leaves nothing open",
  () => {
    const outcome = run("native", [UNTIL_PROGRAM, temporaryDirectory()]) as Readonly<Record<string, unknown>>;
    expect(outcome).toEqual({
      code: "IO_ERROR",
      message: expect.stringMatching(/close workspaces .+ or raise the limit of open files \(ulimit -n\)/u),
      isNextOpened: true,
      left: expect.toSatisfy((left: number) => left <= 0),
    });
  },
);

test("a process that ends right after a call leaves nothing in the directory of locks", () => {
  for (const history of [true, false]) {
    const [root, state] = [temporaryDirectory(), temporaryDirectory()];
    const { status, stderr } = spawnSync(execPath, [EXIT_PROGRAM, root, state, String(history)], {
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([0, ""]);
    expect(readFileSync(join(root, "a"), "utf8")).toBe("content");
    expect(readdirSync(join(state, "locks"))).toEqual([]);
  }
});

const CASES: readonly (readonly [count: number, states: "own" | "same", order: string])[] = [
  [70, "own", "one-by-one"],
  [70, "same", "one-by-one"],
  [24, "same", "at-once"],
  [24, "own", "at-once"],
];

// By day each case runs on one of the engines.
describe.skipIf(platform !== "linux").each([
  ["native", 1, share(CASES, 2, 0)],
  ["wasm", 0, share(CASES, 2, 1)],
] as const)("with the engine %s and 128 descriptors", (engine, each, cases) => {
  test.each(cases)("%i workspaces with %s state directories work when used %s", (count, states, order) => {
    const args = [PROGRAM, temporaryDirectory(), `${each}`, `${count}`, states, order];
    const { start, most, failed, closed, ...held } = run(engine, args) as Facts;
    expect(failed).toEqual([]);
    for (const [moment, descriptors] of Object.entries(held))
      expect([moment, Math.max(descriptors, most)]).toEqual([moment, most]);
    expect(closed).toBeLessThanOrEqual(start);
  });
});
