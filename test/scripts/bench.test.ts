/** The benchmark's command line, and that the README's table names rows which exist. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { findSlowRows, recordedFigures } from "../../bench/lib/recorded.mjs";

const ROOT = resolve(import.meta.dirname, "../..");

/** Runs it where no compiler is found: what would build fails. */
function bench(...args: readonly string[]): { readonly status: number | null; readonly out: string } {
  const done = spawnSync(process.execPath, ["bench/run.mjs", ...args], {
    cwd: ROOT,
    env: { PATH: "" },
    encoding: "utf8",
  });
  return { status: done.status, out: done.stdout + done.stderr };
}

test("--help lists the options and compiles nothing", () => {
  const { status, out } = bench("--help");
  expect(status).toBe(0);
  for (const option of ["--only", "--row", "--full", "--dev", "--compare", "--list"])
    expect(out).toContain(option);
  expect(out).not.toMatch(/building|installing/u);
});

test.each([
  [["--helf"], /Unknown option '--helf'/u],
  [["--only", "diff,grpe"], /no group 'grpe'/u],
  [["--row", "fast"], /no row 'fast'/u],
  [["--only", "diff", "--compare"], /--compare goes with --only readme/u],
])("%j is refused before anything is built", (args, words) => {
  const { status, out } = bench(...args);
  expect(status).toBe(1);
  expect(out).toMatch(words);
  expect(out).not.toMatch(/building|installing/u);
});

test("the README's table has at most twelve rows, each with a command that exists", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const [, section = ""] = /^## Measured\n([\s\S]*?)^## /mu.exec(readme) ?? [];
  const rows = section.split("\n").filter((line) => /^\| [^|]/u.test(line) && !line.startsWith("| claim"));
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.length).toBeLessThanOrEqual(12);
  const known = /^readme: (.*)$/mu.exec(bench("--list").out)?.[1]?.split(", ") ?? [];
  const named = rows.map((row) => /`npm run bench -- --row ([\w-]+)` \|$/u.exec(row)?.[1]);
  expect(named).toEqual(known);
  for (const row of rows) {
    const [, , figure = ""] = row.split("|");
    expect(figure.match(/\d+(?:\.\d+)?/gu), row).toHaveLength(1);
  }
});

describe("the comparison with the README", () => {
  const figures = recordedFigures(readFileSync(join(ROOT, "README.md"), "utf8"));
  const row = (name: string, more: object) => ({ group: "readme", name, ...more });
  const [[key = "", recorded = 0] = []] = figures;

  test("reads the figure of every row of the table", () => {
    const keys = /^readme: (.*)$/mu.exec(bench("--list").out)?.[1]?.split(", ");
    expect([...figures.keys()]).toEqual(keys);
    for (const figure of figures.values()) expect(figure).toBeGreaterThan(0);
  });

  test.each([
    ["as fast as recorded", [row(`${key}: words`, { faster: recorded })], []],
    ["half as fast", [row(`${key}: words`, { faster: recorded / 2 })], []],
    ["a quarter as fast", [row(`${key}: words`, { faster: recorded / 4 })], [/are recorded$/u]],
    ["skipped", [row(key, { skipped: "no ripgrep" })], [/not measured: no ripgrep/u]],
    ["failed", [row("readme", { failed: "lines differ" })], [/not measured: lines differ/u]],
    ["not recorded", [row("other: words", { faster: 9 })], [/other: the README has no figure/u]],
    ["of another group", [{ group: "diff", name: key, faster: 0.1 }], []],
  ])("a row that is %s", (_, results, complaints) => {
    const found = findSlowRows(results, figures);
    expect(found).toEqual(complaints.map((words) => expect.stringMatching(words)));
  });
});
