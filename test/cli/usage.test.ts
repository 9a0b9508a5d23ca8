/** Command lines that are refused or answered in a line: by the built command, as a person types them. */
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CliFixture, place } from "./running.ts";

let at: CliFixture;
beforeAll(async () => {
  at = await place({
    "a.txt": "one\ntwo\n",
    "d/b.txt": "one\n",
    "dash.txt": "t = -77\na->b\n-x\n--end\n(a|b)\n",
    "-e": "-77\n",
  });
  await symlink("a.txt", join(at.root, "link"));
});
afterAll(() => at.remove());

test.each<[string, readonly string[], RegExp]>([
  ["a value of a switch", ["grep", "x", "--json=1"], /^filewright: --json takes no value$/mu],
  ["an option without its value", ["grep", "x", "--root"], /^filewright: --root needs a value$/mu],
  ["a demo in a directory that is not there", ["demo", "nope"], /^filewright: 'nope' does not exist$/mu],
  ["two contents for a file", ["write", "f", "-", "--content", "x"], /give one of -, --content and --from/u],
  ["a patch that cannot be read", ["patch", "no.patch"], /cannot read 'no\.patch': ENOENT/u],
])("%s is refused", async (_, args, says) => {
  const { status, out, err } = await at.run(args);
  expect([status, out]).toEqual([2, ""]);
  expect(err).toMatch(says);
  expect(err).not.toContain("    at ");
});

const DASHED = /; put -- before a pattern that begins with a dash$/mu;
test.each<[string, readonly string[], RegExp]>([
  ["a negative number", ["grep", "-77"], DASHED],
  ["an arrow", ["grep", "->", "a.txt"], DASHED],
  ["a text of two dashes", ["grep", "--nope"], DASHED],
  ["a switch before other letters", ["grep", "-nZ"], /unknown option -nZ; put -- before a pattern/u],
  ["the letter of a switch", ["grep", "-i"], DASHED],
  ["a glob", ["glob", "-x*"], DASHED],
  ["a path", ["read", "-x"], /; put -- before an argument that begins with a dash$/mu],
  ["-e without a pattern", ["grep", "-e"], /^filewright: --regexp needs a value$/mu],
])("%s that begins with a dash is refused with the way to give it", async (_, args, says) => {
  const { status, out, err } = await at.run(args);
  expect([status, out]).toEqual([2, ""]);
  expect(err).toMatch(says);
});

test.each<[string, readonly string[], readonly string[]]>([
  ["-e with a negative number", ["-e", "-77", "dash.txt"], ["t = -77"]],
  ["-e with an arrow", ["dash.txt", "-e", "->"], ["a->b"]],
  ["-e and its pattern in one argument", ["-e-77", "dash.txt"], ["t = -77"]],
  ["-e after a switch", ["-ie", "-X", "dash.txt"], ["-x"]],
  ["--regexp", ["--regexp", "--end", "dash.txt"], ["--end"]],
  ["--regexp=", ["--regexp=->", "dash.txt"], ["a->b"]],
  ["-e with two dashes alone", ["-e", "--", "dash.txt"], ["--end"]],
  ["two patterns", ["-e", "-7|none", "-e", "a-", "dash.txt"], ["t = -77", "a->b"]],
  ["two texts", ["-F", "-e", "a|b", "-e", "(", "dash.txt"], ["(a|b)"]],
  ["a pattern behind --", ["--", "-77", "dash.txt"], ["t = -77"]],
  ["-e behind --, a path", ["-e", "-77", "--", "-e"], ["-77"]],
])("grep takes %s", async (_, args, lines) => {
  const { out, err } = await at.run(["grep", "--no-heading", ...args]);
  expect(err).toBe("");
  const found = out.trimEnd().split("\n");
  expect(found.map((line) => line.replace(/^[^:]*:\d+:/u, ""))).toEqual(lines);
});

test.each<[string, readonly string[], RegExp]>([
  ["help COMMAND explains the command", ["help", "grep"], /^Usage: filewright grep /mu],
  ["bench prints a table", ["bench", "--rounds", "1"], /^call +middle +worst$/mu],
  ["ls -l tells where a link leads", ["ls", "-l"], /link -> a\.txt$/mu],
])("%s", async (_, args, says) => {
  const { status, out } = await at.run(args);
  expect(out).toMatch(says);
  expect(status).toBe(0);
});
