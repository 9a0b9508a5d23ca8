/** Many workspaces at once in a process with few descriptors: all can be used, and none keeps more than its root open. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { env, execPath, platform } from "node:process";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const PROGRAM = join(import.meta.dirname, "open-many.mjs");

interface Facts {
  readonly start: number;
  readonly opened: number;
  readonly read: number;
  readonly written: number;
  readonly used: number;
  readonly closed: number;
  readonly failed: readonly string[];
}

function openMany(engine: string, count: number, states: string, order: string): Facts {
  const args = [PROGRAM, temporaryDirectory(), `${count}`, states, order];
  const { status, stdout, stderr } = spawnSync(
    "sh",
    ["-c", `ulimit -n 256; exec "$0" "$@"`, execPath, ...args],
    { encoding: "utf8", env: { ...env, FILEWRIGHT_ENGINE: engine } },
  );
  expect([status, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as Facts;
}

const CASES: readonly (readonly [count: number, states: "own" | "same", order: string])[] = [
  [200, "own", "one-by-one"],
  [200, "same", "one-by-one"],
  [75, "own", "at-once"],
  [75, "same", "at-once"],
];

describe.skipIf(platform !== "linux").each([
  ["native", 1],
  ["wasm", 0],
] as const)("with the engine %s and 256 descriptors", (engine, each) => {
  test.each(CASES)("%i workspaces with %s state directories work when used %s", (count, states, order) => {
    const { start, failed, closed, ...held } = openMany(engine, count, states, order);
    expect(failed).toEqual([]);
    // One more for all together: the root of the file system.
    const most = start + count * each + each;
    for (const [moment, descriptors] of Object.entries(held))
      expect([moment, Math.max(descriptors, most)]).toEqual([moment, most]);
    expect(closed).toBeLessThanOrEqual(start);
  });
});
