/** Stages of a test run begin as early as they may, and those that measure have the machine to themselves. */
import { expect, it } from "vitest";
import { runLogged, runStages, type Stage } from "../../scripts/lib/stages.mjs";

/** Runs stages whose bodies end when all that may run beside them runs. @returns what ran at the same time */
async function together(
  stages: readonly Omit<Stage, "body">[],
  processors: number,
): Promise<readonly string[]> {
  const running = new Set<string>();
  const seen: string[] = [];
  const body = async () => ({ passed: 1, failed: 0, skipped: 0 });
  await runStages(
    stages.map((stage) => ({ ...stage, body })),
    processors,
    async ({ name }) => {
      running.add(name);
      await new Promise((resolve) => setImmediate(resolve));
      seen.push([...running].join("+"));
      running.delete(name);
    },
  );
  return seen;
}

const cases: Record<string, readonly [readonly Omit<Stage, "body">[], number, readonly string[]]> = {
  "as many run at once as there are processors": [
    [{ name: "a" }, { name: "b" }, { name: "c" }],
    2,
    ["a+b", "b+c", "c"],
  ],
  "a stage waits for those it needs, and others overtake it": [
    [{ name: "a" }, { name: "b", needs: ["a"] }, { name: "c" }],
    2,
    ["a+c", "c+b", "b"],
  ],
  "a stage that is left out is not waited for": [[{ name: "b", needs: ["a"] }], 2, ["b"]],
  "a stage of two places waits until both are free, and the next begins where one is left": [
    [{ name: "a" }, { name: "b", places: 2 }, { name: "c", places: 2 }, { name: "d" }],
    3,
    ["a+b", "b", "c+d", "d"],
  ],
  "a stage of more places than there are runs when none is taken": [
    [{ name: "a" }, { name: "b", places: 3 }, { name: "c" }],
    2,
    ["a", "b", "c"],
  ],
  "a stage that needs the machine runs by itself, after those before it and before those after it": [
    [{ name: "a" }, { name: "b" }, { name: "c", alone: true }, { name: "d" }, { name: "e" }],
    4,
    ["a+b", "b", "c", "d+e", "e"],
  ],
};

it.each(Object.entries(cases))("%s", async (_, [stages, processors, expected]) => {
  expect(await together(stages, processors)).toEqual(expected);
});

it("stages that wait for each other are an error, not a wait for ever", async () => {
  const circle = [
    { name: "a", needs: ["b"] },
    { name: "b", needs: ["a"] },
  ];
  await expect(together(circle, 2)).rejects.toThrow("stages wait for each other: a, b");
});

it("what a program prints is in its file, and its status is told", async () => {
  const script = "console.log('out'); console.error('err'); process.exitCode = 3";
  const log = ".cache/test/stages-of-a-test.log";
  expect(await runLogged(process.execPath, ["-e", script], { log })).toEqual({
    status: 3,
    output: "out\nerr\n",
  });
  await expect(runLogged("no-such-program", [], { log })).rejects.toThrow("no-such-program is missing");
});
