/** Exit statuses, as scripts use them: 0 it worked, 1 nothing was found, 2 an error. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CliFixture, place } from "./running.ts";

let at: CliFixture;
beforeAll(async () => {
  at = await place({ "a.txt": "one\ntwo\n", "b.txt": "two\n" });
});
afterAll(() => at.remove());

describe("nothing found is status 1, said on standard error alone", () => {
  test.each<[readonly string[], RegExp]>([
    [["grep", "zzzz"], /^No matches for 'zzzz' in 2 files\n$/u],
    [["grep", "zzzz", "-l"], /^No matches/u],
    [["grep", "zzzz", "-c"], /^No matches/u],
    [["glob", "*.zzz"], /^No files match \*\.zzz\n$/u],
    [["find", "zzzzqqqq"], /^No files match zzzzqqqq\n$/u],
    [["undo"], /^There is no change to undo\.\n$/u],
  ])("%j", async (args, err) => {
    expect(await at.run(args)).toEqual({ status: 1, out: "", err: expect.stringMatching(err) });
  });

  test("as JSON the result is on standard output", async () => {
    const { status, out, err } = await at.run(["grep", "zzzz", "--json"]);
    expect([status, err, JSON.parse(out).data.total_matches]).toEqual([1, "", 0]);
    expect(await at.run(["undo", "--json"])).toMatchObject({ status: 1, err: "" });
  });
});

describe("an error is status 2", () => {
  test.each<[readonly string[], RegExp]>([
    [["grep", "("], /Invalid regex/u],
    [["grep", "one", "nope"], /does not exist/u],
    [["glob", "*", "--path", "nope"], /does not exist/u],
    [["read", "nope"], /does not exist/u],
    [["read", "/etc/passwd"], /outside/u],
    [["undo", "nope"], /nope/u],
    [["edit", "a.txt", "--old", "zzz", "--new", "x"], /not found/iu],
    [["ls", "--root", "/no/such/place"], /does not exist/u],
    [["grep"], /too few arguments/u],
    [["grep", "one", "--nope"], /unknown option --nope/u],
  ])("%j", async (args, err) => {
    expect(await at.run(args)).toEqual({ status: 2, out: "", err: expect.stringMatching(err) });
  });

  test("also of a result as JSON", async () => {
    const { status, out } = await at.run(["read", "nope", "--json"]);
    expect([status, JSON.parse(out).error.code]).toEqual([2, "NOT_FOUND"]);
  });

  test("a search that time ended before anything was found", async () => {
    const late = await at.run(["grep", "zzzz", "--json"]);
    const data = { ...JSON.parse(late.out).data, complete: false, incomplete_reason: "timeout" };
    const { COMMANDS } = await import("../../js/cli/commands.ts");
    const outcome = COMMANDS.find(({ name }) => name === "grep")?.outcome;
    expect([outcome?.(data), outcome?.({ ...data, complete: true })]).toEqual(["unknown", "nothing"]);
  });
});

describe("--quiet says by its status alone whether there is something", () => {
  test.each<[readonly string[], number]>([
    [["grep", "two", "-q"], 0],
    [["grep", "two", "--quiet", "--json"], 0],
    [["grep", "zzzz", "-q"], 1],
    [["glob", "*.txt", "-q"], 0],
    [["glob", "*.zzz", "--quiet"], 1],
  ])("%j", async (args, status) => {
    expect(await at.run(args)).toEqual({ status, out: "", err: "" });
  });

  test("errors are told", async () => {
    const { status, err } = await at.run(["grep", "(", "-q"]);
    expect([status, err]).toEqual([2, expect.stringContaining("Invalid regex")]);
  });
});

test.each<[readonly string[], string]>([
  [["grep", "two", "-m", "1"], "a.txt:2:two\n"],
  [["glob", "*.txt", "--limit", "1"], "a.txt\n"],
  [["ls", "--limit", "1"], "[FILE] a.txt\n"],
  [["history", "--limit", "1"], "Nothing to undo.\n"],
])("--limit of %j is how much it shows", async (args, out) => {
  expect(await at.run(args)).toMatchObject({ status: 0, out: expect.stringContaining(out), err: "" });
});

test("help and the manual name the statuses", async () => {
  for (const args of [["--help"], ["grep", "--help"]])
    expect((await at.run(args)).out).toMatch(/Exit status:? .*1 .*nothing was found.*2 /su);
});
