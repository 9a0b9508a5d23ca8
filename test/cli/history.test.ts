/** `history`: counts, agents, filters, and the diff of one change. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseSinceTime } from "../../js/cli/commands/history.ts";
import { type CliFixture, place } from "./running.ts";

let at: CliFixture;
beforeAll(async () => {
  at = await place({ "a.txt": "one\ntwo\n", "b.txt": "x\n", "d/c.txt": "c\n" });
  const steps: readonly (readonly string[])[] = [
    ["edit", "a.txt", "one", "1\nmore", "--agent", "ann"],
    ["edit", "a.txt", "two", "2"],
    ["write", "d/new.txt", "--content", "n\nm\n", "--agent", "ben"],
    ["delete", "b.txt"],
    ["move", "d/c.txt", "d/e.txt"],
  ];
  for (const step of steps) expect((await at.run(step)).status, step.join(" ")).toBe(0);
});
afterAll(() => at.remove());

interface Row {
  readonly callId: string;
  readonly tool: string;
  readonly added?: number;
  readonly removed?: number;
}

const rows = async (...args: readonly string[]): Promise<readonly Row[]> =>
  JSON.parse((await at.run(["history", "--json", ...args])).out);

test("each change has its lines, those of earlier changes of the same file, too", async () => {
  const listed = (await rows()).map(({ tool, added, removed }) => [tool, added, removed]);
  expect(listed).toEqual([
    ["move", undefined, undefined],
    ["delete", 0, 1],
    ["write_file", 2, 0],
    ["edit_file", 1, 1],
    ["edit_file", 2, 1],
  ]);
  const { out } = await at.run(["history"]);
  expect(out).toMatch(/ {2}edit_file by ann +\+2 -1 {2}a\.txt\n/u);
  expect(out).toMatch(/ {2}write_file by ben +\+2 -0 {2}d\/new\.txt\n/u);
});

describe("history is filtered", () => {
  test.each<[readonly string[], readonly string[]]>([
    [["--agent", "ann"], ["edit_file"]],
    [["--agent", "nobody"], []],
    [
      ["--path", "d"],
      ["move", "write_file"],
    ],
    [
      ["--path", "./a.txt"],
      ["edit_file", "edit_file"],
    ],
    [["--since", "1h", "--limit", "1"], ["move"]],
    [["--since", "2999-01-01"], []],
  ])("by %j", async (args, tools) => {
    expect((await rows(...args)).map(({ tool }) => tool)).toEqual(tools);
  });

  test("by a time that is none", async () => {
    expect(await at.run(["history", "--since", "soon"])).toMatchObject({
      status: 2,
      err: expect.stringContaining("--since takes 30m, 2h, 3d, 13:00 or a date"),
    });
  });

  test("by times as people write them", () => {
    const now = new Date(2026, 0, 31, 15, 30, 0).getTime();
    expect(now - parseSinceTime("30m", now)).toBe(30 * 60_000);
    expect(now - parseSinceTime("2d", now)).toBe(2 * 86_400_000);
    expect(parseSinceTime("13:00", now)).toBe(new Date(2026, 0, 31, 13).getTime());
    expect(parseSinceTime("2026-01-01T00:00:00Z", now)).toBe(Date.UTC(2026, 0, 1));
  });
});

describe("history show", () => {
  test("prints the diff of a change that others followed; the beginning of the id will do", async () => {
    const first = (await rows("--agent", "ann"))[0] as Row;
    const { out, status } = await at.run(["history", "show", first.callId.slice(0, -2)]);
    expect(status).toBe(0);
    expect(out).toMatch(
      /^\S+ {2}.* {2}edit_file by ann {2}\+2 -1 {2}a\.txt\n--- a\/a\.txt\n\+\+\+ b\/a\.txt\n@@.*\n-one\n\+1\n\+more\n two\n$/u,
    );
  });

  test("as data it has the facts, the diff and the counts of each path", async () => {
    const changeOf = async (tool: string) => {
      const { callId } = (await rows()).find((row) => row.tool === tool) as Row;
      return JSON.parse((await at.run(["history", "show", callId, "--json"])).out);
    };
    expect(await changeOf("delete")).toMatchObject({
      ...{ tool: "delete", added: 0, removed: 1 },
      files: [
        { display: "b.txt", kind: "delete", type: "file", diff: expect.stringContaining("-x\n"), removed: 1 },
      ],
    });
    const { callId, files } = await changeOf("move");
    expect(files).toMatchObject([{ display: "d/e.txt", kind: "move", from: join(at.root, "d/c.txt") }]);
    expect((await at.run(["history", "show", callId])).out).toContain("d/e.txt: moved from ");
  });

  test("says so where another program wrote the file since", async () => {
    const made = (await rows("--agent", "ben"))[0] as Row;
    await writeFile(join(at.root, "d/new.txt"), "other\n");
    expect((await at.run(["history", "show", made.callId])).out).toContain(
      "d/new.txt: made; the content after the change is not known any more\n",
    );
    expect((await rows("--agent", "ben"))[0]).not.toHaveProperty("added");
  });

  test.each<[readonly string[], RegExp]>([
    [["show", "nope"], /There is no call 'nope' in the history; filewright history lists them/u],
    [["show"], /show needs the id of a change/u],
    [["list"], /history can show one change, not 'list'/u],
    [["show", "0"], /several ids begin with '0'; give more of it/u],
  ])("%j is refused", async (args, err) => {
    expect(await at.run(["history", ...args])).toEqual({
      status: 2,
      out: "",
      err: expect.stringMatching(err),
    });
  });
});
