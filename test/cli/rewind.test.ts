/** `mark` and `rewind`: a person goes back to a place in the history, sees the diff, and what was left. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasTerminal, type CliFixture, place } from "./running.ts";

let at: CliFixture;
beforeAll(async () => {
  at = await place({ "a.txt": "one\n", "b.txt": "x\n", "c.txt": "c\n" });
});
afterAll(() => at.remove());

const content = (name: string): Promise<string> => readFile(join(at.root, name), "utf8");

test("a rewind to a mark is shown, made and undone", async () => {
  expect(await at.run(["mark", "before tests"])).toMatchObject({ status: 0, out: "Marked: before tests\n" });
  for (const step of [
    ["edit", "a.txt", "one", "two"],
    ["write", "new.txt", "--content", "n\n"],
    ["edit", "b.txt", "x", "y", "--agent", "ann"],
  ])
    expect((await at.run(step)).status, step.join(" ")).toBe(0);
  await writeFile(join(at.root, "b.txt"), "mine\n");

  const shown = await at.run(["rewind", "before tests", "--dry-run"]);
  expect(shown.status).toBe(0);
  expect(shown.out).toMatch(/^Rewind to “before tests”: 2 calls, 2 paths\n/u);
  expect(shown.out).toContain("-two\n+one\n");
  expect(shown.out).toContain("! b.txt stays: a person or another program has changed it since");
  expect(await content("a.txt")).toBe("two\n");

  const made = JSON.parse((await at.run(["rewind", "before tests", "--json"])).out) as {
    readonly callId: string;
  };
  expect([await content("a.txt"), await content("b.txt")]).toEqual(["one\n", "mine\n"]);
  await expect(content("new.txt")).rejects.toThrow("ENOENT");

  expect((await at.run(["undo", made.callId])).status).toBe(0);
  expect([await content("a.txt"), await content("new.txt")]).toEqual(["two\n", "n\n"]);
  expect(await at.run(["rewind", "before tests", "b.txt"])).toMatchObject({ status: 0 });
  expect(await content("b.txt")).toBe("x\n");
  expect((await at.run(["mark"])).out).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}before tests\n$/u);
});

describe.skipIf(!hasTerminal)("at a terminal", () => {
  const rewind = (key: string, wait: string) =>
    at.draw(["rewind", "before asking"], {
      env: { NO_COLOR: "1" },
      steps: [
        { wait: "-asked\n+c\n".replaceAll("\n", "\r\n") },
        { wait: "Rewind 1 path? [y/n]", send: key },
        { wait },
      ],
    });

  test("a person sees what would change, and decides", async () => {
    await at.run(["mark", "before asking"]);
    expect((await at.run(["edit", "c.txt", "c", "asked"])).status).toBe(0);
    expect(await rewind("n", "Nothing was changed.")).toMatchObject({ status: 1, left: 0 });
    expect(await content("c.txt")).toBe("asked\n");
    const { status, left, output } = await rewind("y", "Rewound 1 path to “before asking”.");
    expect([status, left], output).toEqual([0, 0]);
    expect(output).toMatch(/^Rewind to “before asking”: 1 call, 1 path$/mu);
    expect(await content("c.txt")).toBe("c\n");
    const [, id = ""] = /filewright undo (\S+) takes it back/u.exec(output) ?? [];
    expect((await at.run(["undo", id])).status).toBe(0);
    expect(await content("c.txt")).toBe("asked\n");
    const done = await at.draw(["rewind", "before asking", "--yes"], { env: { NO_COLOR: "1" } });
    expect(done.output).not.toContain("[y/n]");
    expect(await content("c.txt")).toBe("c\n");
  });
});

test("a rewind takes the beginning of an id and an age, and refuses what it does not know", async () => {
  expect((await at.run(["edit", "c.txt", "c", "d"])).status).toBe(0);
  const [last] = JSON.parse((await at.run(["history", "--json"])).out) as readonly {
    readonly callId: string;
  }[];
  expect((await at.run(["rewind", last?.callId.slice(0, 16) ?? ""])).status).toBe(0);
  expect(await content("c.txt")).toBe("c\n");
  expect((await at.run(["rewind", "1h", "c.txt"])).status).toBe(1);
  const unknown = await at.run(["rewind", "before test"]);
  expect(unknown.status).toBe(2);
  expect(unknown.err).toContain("did you mean 'before tests'?");
  expect((await at.run(["mark", "before tests"])).status).toBe(2);
  expect((await at.run(["rewind", "before tests", "--dryrun"])).status).toBe(2);
});
