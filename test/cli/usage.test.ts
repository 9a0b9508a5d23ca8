/** Command lines that are refused or answered in a line: by the built command, as a person types them. */
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CliFixture, place } from "./running.ts";

let at: CliFixture;
beforeAll(async () => {
  at = await place({ "a.txt": "one\ntwo\n", "d/b.txt": "one\n" });
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

test.each<[string, readonly string[], RegExp]>([
  ["help COMMAND explains the command", ["help", "grep"], /^Usage: filewright grep /mu],
  ["bench prints a table", ["bench", "--rounds", "1"], /^call +middle +worst$/mu],
  ["ls -l tells where a link leads", ["ls", "-l"], /link -> a\.txt$/mu],
])("%s", async (_, args, says) => {
  const { status, out } = await at.run(args);
  expect(out).toMatch(says);
  expect(status).toBe(0);
});
