/** Every attack of docs/security-cases.md is made by the rows or tests that it names, and in the ways it says. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const DOCUMENT = readFileSync(join(ROOT, "docs/security-cases.md"), "utf8");
const HERE = "test/attack";

/** `| 12 | the attack | `file`: test title<br>`file` | all |` */
const CASES = [...DOCUMENT.matchAll(/^\| (\d+) \| (.+) \| (.+) \| (.+) \|$/gmu)].map(
  ([, n, title, where = "", ways = ""]) => ({
    n: Number(n),
    title: `case ${n}: ${title}`,
    where: where.split("<br>").map((one) => /^`([^`]+)`(?:: (.+))?$/u.exec(one) ?? [one]),
    ways: (/^\w+/u.exec(ways) ?? [""])[0],
  }),
);

type Coverage = "all" | "disk";

/** The ways of the rows with this number in the table of a file. */
function waysOfRows(file: string, n: number): readonly Coverage[] {
  const rows = readFileSync(join(ROOT, file), "utf8").split(/^ {2}\{\s*(?=n: \d+,)/mu);
  return rows
    .slice(1)
    .filter((row) => row.startsWith(`n: ${n},`))
    .map((row) => (/^(?: {4}disk: true,|.*\bdisk: true\b.*\}\)?,$)/mu.test(row) ? "disk" : "all"));
}

/** The ways of the test with a title: those of its own table, or of the suite around it. */
function wayOfTitle(text: string, title: string): Coverage {
  const before = text.slice(0, text.indexOf(`"${title}`));
  const own = /test\.each\((ARMS|disks)\b[^;]*$/u.exec(before.slice(before.lastIndexOf("\ntest")))?.[1];
  const around = [...before.matchAll(/^describe.*\.each\(\s*(ARMS\.filter|ARMS|disks)\b/gmu)].at(-1)?.[1];
  return (own ?? around) === "ARMS" ? "all" : "disk";
}

test("the list has no gap", () => {
  expect(CASES.map(({ n }) => n)).toEqual(Array.from({ length: 118 }, (_, at) => at + 1));
});

test.each(CASES.map((one) => [one.title, one] as const))("%s", (_, { n, where, ways }) => {
  expect(where.length).toBeGreaterThan(0);
  const seen = new Set<Coverage>();
  for (const [, file = "", title] of where) {
    if (title === undefined) {
      const found = waysOfRows(file, n);
      expect(found, `${file} has no such row`).not.toEqual([]);
      for (const way of found) seen.add(way);
    } else {
      const text = readFileSync(join(ROOT, file), "utf8");
      expect(text).toContain(title);
      if (file.startsWith(`${HERE}/`) && text.includes(`"${title}`)) seen.add(wayOfTitle(text, title));
    }
  }
  if (ways === "all") expect([...seen]).toContain("all");
  if (ways === "disk") expect([...seen]).toContain("disk");
});

test("no file of attacks is left out", () => {
  const named = new Set(CASES.flatMap(({ where }) => where.map(([, file]) => file)));
  const tests = readdirSync(join(ROOT, HERE)).filter((name) => name.endsWith(".test.ts"));
  const others = [
    "advisories.test.ts",
    "cases.test.ts",
    "crowd.slow.test.ts",
    "races-node.slow.test.ts",
    "races-served.slow.test.ts",
    "spellings.test.ts",
    "steps-node.test.ts",
  ];
  expect(tests.filter((name) => !named.has(`${HERE}/${name}`)).sort()).toEqual(others);
});
