/** The benchmark's command line, and that the README's table names rows which exist. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

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
  for (const option of ["--only", "--row", "--full", "--dev", "--list"]) expect(out).toContain(option);
  expect(out).not.toMatch(/building|installing/u);
});

test.each([
  [["--helf"], /Unknown option '--helf'/u],
  [["--only", "diff,grpe"], /no group 'grpe'/u],
  [["--row", "fast"], /no row 'fast'/u],
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
