/** `--ask` at a real pseudo-terminal: the answers that a command offers, and Ctrl-C. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasTerminal, type CliFixture, place } from "./running.ts";

let at: CliFixture;
beforeAll(async () => {
  at = await place({
    "a.txt": "one\ntwo\n",
    "b.txt": "one\n",
    "steps.json": JSON.stringify(
      ["a.txt", "b.txt"].map((path) => ({
        tool: "edit_file",
        args: { path, old_text: "one", new_text: "1" },
      })),
    ),
  });
});
afterAll(() => at.remove());

const env = { NO_COLOR: "1" };
const text = (name: string): Promise<string> => readFile(join(at.root, name), "utf8");

describe.skipIf(!hasTerminal)("at a terminal", () => {
  test("a command that makes one call offers no answer for later calls", async () => {
    const steps = [{ wait: "Write this? [y/e/n/r] ", send: "n" }];
    const { output, status } = await at.draw(["edit", "a.txt", "one", "1", "--ask"], { env, steps });
    expect(output).not.toContain("until");
    expect(output).toContain("The reviewer refused the call");
    expect([status, await text("a.txt")]).toEqual([2, "one\ntwo\n"]);
  });

  test("Ctrl-C at a question ends with status 130 and changes nothing", async () => {
    const steps = [{ wait: "Write this? [y/e/n/r] ", send: "\u0003" }];
    const edited = await at.draw(["edit", "a.txt", "one", "1", "--ask"], { env, steps });
    expect([edited.status, await text("a.txt")]).toEqual([130, "one\ntwo\n"]);
    expect((await at.run(["edit", "a.txt", "two", "2"])).status).toBe(0);
    const undo = [{ wait: "Allow this? [y/n/r] ", send: "\u0003" }];
    const undone = await at.draw(["undo", "--ask"], { env, steps: undo });
    expect(undone.output).toContain("Interrupted. Nothing was written.");
    expect([undone.status, await text("a.txt")]).toEqual([130, "one\n2\n"]);
  });

  test("a batch asks once about all of its files", async () => {
    const steps = [{ wait: "Write this? [y/p/e/n/r] ", send: "n" }];
    const { output, status } = await at.draw(["batch", "steps.json", "--ask"], { env, steps });
    expect(output).toContain("2 operations: Edit a.txt; Edit b.txt");
    expect(output).not.toContain("until");
    expect([status, await text("a.txt"), await text("b.txt")]).toEqual([2, "one\n2\n", "one\n"]);
  });

  test("a batch of calls of their own offers answers that hold until the command ends", async () => {
    const steps = [{ wait: "Write this? [y/a/t/s/e/n/r] ", send: "t" }];
    const command = ["batch", "steps.json", "--not-atomic", "--ask"];
    const { output, status } = await at.draw(command, { env, steps });
    expect(output).toContain("edit_file on every path of this workspace, until this command ends");
    expect(output.match(/Write this\?/gu)).toHaveLength(1);
    expect([status, await text("a.txt"), await text("b.txt")]).toEqual([0, "1\n2\n", "1\n"]);
  });
});

test("--preset and --ask are offered by the commands that take them, and refused by the others", async () => {
  for (const [command, takes] of [
    ["call", true],
    ["tools", true],
    ["undo", false],
    ["delete", false],
  ] as const) {
    const { out } = await at.run([command, "--help"]);
    expect(out.includes("--preset NAME"), command).toBe(takes);
    const { out: bash } = await at.run(["completion", "bash"]);
    const flags = new RegExp(`^    ${command}\\) flags="(.*)"`, "mu").exec(bash)?.[1];
    expect(flags?.split(" ").includes("--preset"), command).toBe(takes);
  }
  const { out: help } = await at.run(["approve", "--help"]);
  expect(help).not.toMatch(/--ask|--grants-file|--preset/u);
  const asked = await at.run(["history", "--ask"]);
  expect(asked.err).toContain("--ask does nothing here: history asks nobody");
  expect(asked.status).toBe(2);
  const { status, err } = await at.run(["undo", "--preset", "mcp"]);
  expect(err).toContain("--preset goes with call and tools");
  expect(status).toBe(2);
});
