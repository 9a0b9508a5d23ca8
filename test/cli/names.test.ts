/** Option names that people and models know from elsewhere, the manual, and `config`. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aliasesOf, callOf, optionsOf } from "../../js/cli/command.ts";
import { COMMANDS, findCommand } from "../../js/cli/commands.ts";
import { parseCommandLine, shownOptionLines } from "../../js/schema/command-line.node.ts";
import { progressLine } from "../../js/cli/progress.ts";
import { type CliFixture, place } from "./running.ts";
import { SHELL } from "../support/in-process.ts";

let at: CliFixture;
beforeAll(async () => {
  at = await place({ "a.txt": "one\ntwo\n", "d/e/f.txt": "one\n" });
});
afterAll(() => at.remove());

/** The arguments of the call that a command line makes. */
async function called([name = "", ...argv]: readonly string[]): Promise<unknown> {
  const command = findCommand(name);
  const parsed = parseCommandLine(argv, optionsOf(command), aliasesOf(command));
  return (await callOf(command, parsed, SHELL))?.args;
}

test.each<[readonly string[], readonly string[]]>([
  [
    ["read", "f", "--start-line", "2", "--max-lines=3"],
    ["read", "f", "--start", "2", "--lines", "3"],
  ],
  [
    ["read", "f", "--line-numbers", "none"],
    ["read", "f", "--numbers", "none"],
  ],
  [
    ["grep", "-n", "x"],
    ["grep", "x"],
  ],
  [
    ["grep", "-rn", "x", "."],
    ["grep", "x", "."],
  ],
  [
    ["grep", "-rnE", "x", "--max-results", "5"],
    ["grep", "x", "-m", "5"],
  ],
  [
    ["grep", "x", "--file-types", "ts", "--files-with-matches"],
    ["grep", "x", "-t", "ts", "-l"],
  ],
  [
    ["grep", "x", "--fixed-strings", "--word-regexp"],
    ["grep", "x", "-F", "-w"],
  ],
  [
    ["glob", "x", "--max-results", "5"],
    ["glob", "x", "--limit", "5"],
  ],
  [["ls", "-la"], ["ls"]],
  [
    ["ls", "-R"],
    ["ls", "--depth", "32"],
  ],
  [
    ["ls", "-R", "-d", "2"],
    ["ls", "-d", "2"],
  ],
  [
    ["edit", "f", "old", "new"],
    ["edit", "f", "--old", "old", "--new", "new"],
  ],
  [
    ["edit", "f", "--old-text", "a", "--new-text", "b", "--replace-all"],
    ["edit", "f", "--old", "a", "--new", "b", "--all"],
  ],
  [
    ["delete", "f", "--missing-ok"],
    ["delete", "f", "-f"],
  ],
])("%j means %j", async (line, same) => {
  expect(await called(line)).toEqual(await called(same));
});

test("an edit whose new text is missing is refused: an empty one deletes", async () => {
  await expect(called(["edit", "f", "old"])).rejects.toThrow("the new text is missing; --new ''");
  await expect(called(["edit", "f", "--old", "a"])).rejects.toThrow("the new text is missing");
  await expect(called(["edit", "f", "a", "b", "--old", "c"])).rejects.toThrow("not both");
  expect(await called(["edit", "f", "--old", "a", "--new", ""])).toMatchObject({ new_text: "" });
});

test("no alias is an option of its command, and each means one that is there", () => {
  for (const command of COMMANDS) {
    const [options, { name }] = [optionsOf(command), command];
    for (const [alias, option] of Object.entries(aliasesOf(command))) {
      expect(options[alias], `${name} --${alias}`).toBeUndefined();
      expect(options[option], `${name} --${option}`).toBeDefined();
    }
  }
});

test("ls -l has sizes and times in a pipe, too", async () => {
  expect((await at.run(["ls", "-l"])).out).toMatch(/^file {7}8 {2}[-\d]+ [:\d]+ {2}a\.txt$/mu);
});

test("the line about work under way names the command, and files where they are counted", () => {
  expect(progressLine("grep", {}, 2100)).toBe("grep · 2 s");
  expect(progressLine("cat", { done: 16, total: 40 }, 400)).toBe("cat · 16 of 40 files");
  expect(progressLine("cat", { done: 16 }, 3000)).toBe("cat · 16 files · 3 s");
  expect(progressLine("grep", { done: 16, message: "2 matches" }, 1000)).toBe(
    "grep · 16 files · 2 matches · 1 s",
  );
});

test("version is --version", async () => {
  expect(await at.run(["version"])).toEqual(await at.run(["--version"]));
});

describe("the manual", () => {
  test("has every command with its options, and roff has nothing to complain about", async () => {
    const { out, status } = await at.run(["man"]);
    expect(status).toBe(0);
    expect(out).toMatch(/^\.TH "FILEWRIGHT" 1 /u);
    const { stdout, stderr, error } = spawnSync("man", ["--warnings=all", "-l", "-"], {
      input: out,
      encoding: "utf8",
      env: { ...process.env, MANWIDTH: "200", LC_ALL: "C.UTF-8" },
    });
    // A machine without man, or with one that prints a notice that it was left out.
    const read = error === undefined && stdout.includes("EXIT STATUS") ? stdout : undefined;
    if (read !== undefined) expect(stderr).toBe("");
    for (const { name, help } of COMMANDS) {
      expect(out).toContain(`.B ${name}\n`);
      for (const [flags] of shownOptionLines(help))
        expect(read ?? out.replaceAll("\\-", "-")).toContain(flags);
    }
  });

  test("has a page of each command", async () => {
    expect((await at.run(["man", "grep"])).out).toMatch(/^\.TH "FILEWRIGHT\\-GREP" 1 .*\\-\\-smart\\-case/su);
    expect(await at.run(["man", "gerp"])).toMatchObject({
      status: 2,
      err: expect.stringContaining("'grep'"),
    });
  });
});

test("config tells each option and where it came from", async () => {
  mkdirSync(join(at.root, "conf"));
  const file = join(at.root, "conf/c.json");
  writeFileSync(
    file,
    JSON.stringify({
      root: "..",
      agent: "file",
      guard: "warn",
      limits: { outputBytes: 1000 },
      access: { readOnly: true },
    }),
  );
  const { out, status } = await at.run(["config", "--config", file, "--agent", "me", "--json"], "", {
    NO_COLOR: "1",
  });
  expect(status).toBe(0);
  const rows = JSON.parse(out) as { option: string; value: unknown; from: string }[];
  const row = (option: string) => rows.find((one) => one.option === option);
  expect(row("root")).toMatchObject({ value: { path: at.root, access: "write" }, from: `config ${file}` });
  expect(row("agent")).toMatchObject({ value: "me", from: "--agent" });
  expect(row("guard")).toMatchObject({ value: "warn", from: `config ${file}` });
  expect(row("access.readOnly")).toMatchObject({ value: true, from: `config ${file}` });
  expect(row("limits.outputBytes")).toMatchObject({ value: 1000, from: `config ${file}` });
  expect(row("limits.pageBytes")).toMatchObject({ value: 65_536, from: "default" });
  expect(row("history")).toMatchObject({ value: true, from: "default" });
  expect(row("stateDir")).toMatchObject({ from: "XDG_STATE_HOME" });
  expect(row("color")).toMatchObject({ value: false, from: "NO_COLOR" });
  const plain = await at.run(["config", "--root", "d"]);
  expect(plain.out).toMatch(/^root +".*\/ws\/d" +--root$/mu);
  expect((await at.run(["config", "--config", join(at.root, "none.json")])).status).toBe(2);
});
