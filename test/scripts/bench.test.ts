/** The benchmark's command line, the rows that the README's table names, and the counts of the group `calls`. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { countEntered, parseStraceSummary, systemCallsPerCall } from "../../bench/lib/call-counts.mjs";
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
  for (const option of ["--only", "--row", "--full", "--dev", "--repositories", "--compare", "--list"])
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

describe("the summary of strace", () => {
  const summary = (...rows: readonly string[]) =>
    [
      "% time     seconds  usecs/call     calls    errors syscall",
      "------ ----------- ----------- --------- --------- ----------------",
      ...rows,
      "------ ----------- ----------- --------- --------- ----------------",
      "100.00    0.024700          35       689        25 total",
      "",
    ].join("\n");

  test.each([
    ["no errors", " 11.64    0.962150         486      1979           epoll_pwait", "epoll_pwait", 1979],
    ["errors", " 84.46    6.984197         880      7932       467 futex", "futex", 7932],
    ["a name with a digit", "  0.08    0.006454          10       602           pread64", "pread64", 602],
    [
      "a time of nothing",
      "  0.00    0.000000           0         1           set_tid_address",
      "set_tid_address",
      1,
    ],
  ])("is read in a row with %s", (_, row, name, calls) => {
    expect([...parseStraceSummary(summary(row))]).toEqual([[name, calls]]);
  });

  test("is refused when it has no rows", () => {
    expect(() => parseStraceSummary("strace: attach failed")).toThrow(
      /no summary of strace: strace: attach/u,
    );
  });
});

describe("the system calls per call", () => {
  const fewer = new Map(Object.entries({ statx: 500, futex: 300, openat: 250, uname: 1 }));
  const more = new Map(Object.entries({ statx: 3300, futex: 2300, openat: 950, uname: 1, fsync: 100 }));
  const counted = systemCallsPerCall(fewer, more, 100);

  test("are the difference of both processes, the most frequent first", () => {
    expect(counted.byName).toEqual([
      ["statx", 28],
      ["openat", 7],
      ["fsync", 1],
      ["uname", 0],
    ]);
  });

  test("are summed without waits and memory", () => {
    expect(counted.count).toBe(36);
  });
});

describe("what a call enters", () => {
  const entered = (functionName: string, startOffset: number, count: number) => ({
    functionName,
    ranges: [{ startOffset, count }],
  });

  test.each([
    ["a function that ran", [entered("run", 40, 2)], { functions: 1, files: 1 }],
    ["an arrow function without a name", [entered("", 40, 1)], { functions: 1, files: 1 }],
    ["a function that did not run", [entered("run", 40, 0)], { functions: 0, files: 0 }],
    ["the code of a module", [entered("", 0, 1)], { functions: 0, files: 0 }],
  ])("counts %s", (_, functions, counts) => {
    expect(countEntered([{ url: "file:///dist/a.js", functions }], "file:///dist/")).toEqual(counts);
  });

  test("counts each file once, and none of another folder", () => {
    const functions = [entered("read", 9, 1), entered("write", 90, 7)];
    const urls = ["file:///dist/a.js", "file:///dist/b/c.js", "node:fs", "file:///bench/a.js"];
    const coverage = urls.map((url) => ({ url, functions }));
    expect(countEntered(coverage, "file:///dist/")).toEqual({ functions: 4, files: 2 });
  });
});
