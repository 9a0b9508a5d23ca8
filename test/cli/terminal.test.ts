/** At a real pseudo-terminal: the form for people without any option, and the pager. */
import { link, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasTerminal, type CliFixture, place } from "./running.ts";

let at: CliFixture;
beforeAll(async () => {
  at = await place({
    "a.txt": "one\ntwo one\n",
    "long.txt": Array.from({ length: 60 }, (_, n) => `line ${n + 1}\n`).join(""),
  });
  // A pager whose output differs from plain output: it prints its name and a count.
  await writeFile(join(at.root, "pager.sh"), 'echo "PAGED $(wc -l)"\n');
});
afterAll(() => at.remove());

describe.skipIf(!hasTerminal)("at a terminal", () => {
  test("grep and ls are laid out for a person", async () => {
    const grep = await at.draw(["grep", "one", "a.txt"]);
    expect(grep.output).toContain("\u001b[35ma.txt\u001b[39m\n\u001b[32m1\u001b[39m:\u001b[1m\u001b[31mone");
    expect((await at.draw(["grep", "one", "a.txt"], { env: { NO_COLOR: "1" } })).output).toBe(
      "a.txt\n1:one\n2:two one\n",
    );
    expect((await at.draw(["ls"], { env: { NO_COLOR: "1" } })).output).toMatch(
      /^file {6}12 {2}[-\d]+ [:\d]+ {2}a\.txt$/mu,
    );
  });

  const PAGER = "sh pager.sh";
  test.each<[string, readonly string[], string]>([
    ["read", ["read", "long.txt"], "PAGED 60\n"],
    ["grep", ["grep", "line", "long.txt"], "PAGED 61\n"],
    ["diff", ["diff", "a.txt", "long.txt"], "PAGED 65\n"],
  ])("%s is paged where it is longer than the screen", async (_, args, drawn) => {
    expect((await at.draw(args, { env: { PAGER } })).output).toBe(drawn);
  });

  test.each<[string, readonly string[], Record<string, string>, number]>([
    ["with --no-pager", ["--no-pager"], { PAGER }, 40],
    ["on a large screen", [], { PAGER }, 100],
    ["with an empty PAGER", [], { PAGER: "" }, 40],
    ["where there is no such pager", [], { PAGER: "no-such-pager-here" }, 40],
  ])("nothing is paged %s", async (_, more, env, rows) => {
    const { output, status } = await at.draw(["read", "long.txt", ...more], { env, rows });
    expect(output).toContain("line 60");
    expect(output).not.toContain("PAGED");
    expect(status).toBe(0);
  });

  test("a long search shows what it counted so far, and nothing of it stays", async () => {
    const line = `${"lorem ipsum dolor ".repeat(5)}\n`;
    await writeFile(join(at.root, "large-0.log"), `needle\n${line.repeat(220_000)}`);
    for (let n = 1; n < 200; n++) await link(join(at.root, "large-0.log"), join(at.root, `large-${n}.log`));
    // Each name is a file of its own to the search: 4 GB in all, which takes seconds because no literal of the
    // pattern excludes a line. It is interrupted once it has counted.
    const args = ["grep", "-c", "needle|[lo].{3,30}[rt].{3,30}z", "-g", "large-*"];
    const { output } = await at.draw(args, { steps: [{ wait: " matches", send: "\u0003" }] });
    const drawn = output.split("\r\u001b[K").map((one) => one.replaceAll("^C", ""));
    expect(drawn.filter((one) => /^grep · \d+ files · \d+ matches/u.test(one))).not.toEqual([]);
    expect(drawn.at(-1)).toMatch(/^(?!grep)/u);
  });
});
