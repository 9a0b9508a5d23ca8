/** `history unreviewed` and `history keep`. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CliFixture, place } from "./running.ts";

let at: CliFixture;
beforeAll(async () => {
  at = await place({ "a.txt": "one\n" });
  const rules = join(at.root, "..", "rules.json");
  await writeFile(rules, JSON.stringify([{ path: "plain.txt", decision: "allow" }, { decision: "review" }]));
  for (const [path, agent] of [
    ["a.txt", "ann"],
    ["b.txt", "ben"],
    ["c.txt", "ben"],
    ["plain.txt", "ben"],
  ] as const) {
    const args = ["write", path, "--content", "new\n", "--agent", agent, "--rules", rules];
    const { status, err } = await at.run(args);
    expect(status, err).toBe(0);
  }
});
afterAll(() => at.remove());

/** Returns the paths and ids of the unreviewed changes, the newest first. */
async function unreviewed(): Promise<readonly (readonly [path: string, callId: string])[]> {
  const { out } = await at.run(["history", "unreviewed", "--json"]);
  const { calls } = JSON.parse(out) as {
    readonly calls: readonly { readonly callId: string; readonly paths: readonly string[] }[];
  };
  return calls.map(({ callId, paths }) => [paths.join(), callId]);
}

test("the history says what allowed a change", async () => {
  const { out } = await at.run(["history", "--json"]);
  const calls = JSON.parse(out) as readonly { readonly callId: string; readonly paths: readonly string[] }[];
  const shown = async (path: string): Promise<string> => {
    const { callId = "" } = calls.find(({ paths }) => paths.join() === path) ?? {};
    return (await at.run(["history", "show", callId])).out;
  };
  expect(await shown("plain.txt")).toMatch(/plain\.txt\nAllowed by a rule\n/u);
  expect(await shown("a.txt")).toMatch(/a\.txt\nAllowed by nobody; to be reviewed afterwards\n/u);
});

test("a person lists the unreviewed changes, and keeps one, several or all", async () => {
  const found = await unreviewed();
  expect(found.map(([path]) => path)).toEqual(["c.txt", "b.txt", "a.txt"]);
  const listed = await at.run(["history", "unreviewed"]);
  expect(listed.out).toMatch(/write_file by ann +a\.txt\n$/u);
  const kept = await at.run(["history", "keep", found[1]?.[1] ?? "", "--by", "eve", "--json"]);
  expect(JSON.parse(kept.out)).toEqual({ kept: [found[1]?.[1]], by: "eve" });
  expect((await unreviewed()).map(([path]) => path)).toEqual(["c.txt", "a.txt"]);
  for (const [args, message] of [
    [["keep"], "needs the ids of changes, or --all"],
    [["keep", "--all", "x"], "needs the ids of changes, or --all"],
    [["keep", "nope"], "There is no unreviewed change 'nope'"],
    [["keep", "0"], "several ids begin with '0'"],
    [["--all"], "belong to history keep"],
  ] as const) {
    const refused = await at.run(["history", ...args]);
    expect(refused.status).toBe(2);
    expect(refused.err).toContain(message);
  }
  expect((await at.run(["history", "keep", "--all"])).out).toBe("Kept 2 changes.\n");
  expect((await at.run(["history", "keep", "--all"])).out).toBe("Kept 0 changes.\n");
  expect((await at.run(["history", "unreviewed"])).out).toBe("Nothing is unreviewed.\n");
});
