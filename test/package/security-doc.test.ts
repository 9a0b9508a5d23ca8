/** SECURITY.md names a test for each promise; every file and deep check that it names exists. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "SECURITY.md"), "utf8");
const promises = page.slice(page.indexOf("## Promises"), page.indexOf("## What is not defended"));

describe("SECURITY.md", () => {
  const files = [
    ...new Set(
      [...page.matchAll(/`((?:test|js|crates|docs)\/[\w./-]+\.\w+)`/gu)].map(([, file]) => file as string),
    ),
  ];
  it.each(files)("names %s, which exists", (file) => {
    expect(existsSync(join(root, file))).toBe(true);
  });

  const kinds = [
    ...new Set([...page.matchAll(/npm run deep -- ([a-z]+)/gu)].map(([, kind]) => kind as string)),
  ];
  it.each(kinds)("names the deep check %s, which exists", (kind) => {
    expect(existsSync(join(root, `test/deep/${kind}.mjs`))).toBe(true);
  });

  it("shows a test in each row of promises", () => {
    const tables = promises.slice(0, promises.indexOf("### Commands"));
    const rows = tables.split("\n").filter((line) => /^\| (?!promise)/u.test(line));
    expect(rows.length).toBeGreaterThan(30);
    expect(
      rows.filter((row) => !/`(?:test|crates)\/|npm run deep/u.test(row.split(" | ").at(-1) ?? "")),
    ).toEqual([]);
  });
});
