/** That every attack of docs/security-cases.md is made where it says, and by the ways it says. */
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
    title: `${n} ${title}`,
    where: where.split("<br>").map((one) => /^`([^`]+)`(?:: (.+))?$/u.exec(one) ?? [one]),
    ways: (/^\w+/u.exec(ways) ?? [""])[0],
  }),
);

/** The ways by which a file of this folder makes an attack: those of its rows, and of the titles that begin with it. */
function waysIn(file: string, n: number): ReadonlySet<string> {
  const text = readFileSync(join(ROOT, file), "utf8");
  const rows = text.split(/^ {2}\{\s*(?=n: \d+,)/mu).slice(1);
  const ways = rows
    .filter((row) => row.startsWith(`n: ${n},`))
    .map((row) => (/^(?: {4}disk: true,|.*\bdisk: true\b.*\}\)?,$)/mu.test(row) ? "disk" : "all"));
  for (const { index } of text.matchAll(new RegExp(`"(?:\\d+ )*${n} `, "gu"))) {
    const before = text.slice(0, index);
    const own = /test\.each\((ARMS|disks)\b[^;]*$/u.exec(before.slice(before.lastIndexOf("\ntest")))?.[1];
    const around = [...before.matchAll(/^describe.*\.each\(\s*(ARMS\.filter|ARMS|disks)\b/gmu)].at(-1)?.[1];
    ways.push((own ?? around) === "ARMS" ? "all" : "disk");
  }
  return new Set(ways);
}

test("the list has no gap", () => {
  expect(CASES.map(({ n }) => n)).toEqual(Array.from({ length: 106 }, (_, at) => at + 1));
});

test.each(CASES.map((one) => [one.title, one] as const))("%s", (_, { n, where, ways }) => {
  expect(where.length).toBeGreaterThan(0);
  const seen = new Set<string>();
  for (const [, file = "", says] of where) {
    if (says === undefined) {
      const found = waysIn(file, n);
      expect([...found], `${file} makes no such attack`).not.toEqual([]);
      for (const way of found) seen.add(way);
    } else expect(readFileSync(join(ROOT, file), "utf8")).toContain(says);
  }
  if (ways === "all") expect([...seen]).toContain("all");
  if (ways === "disk") expect([...seen]).toContain("disk");
});

test("no file of attacks is left out", () => {
  const named = new Set(CASES.flatMap(({ where }) => where.map(([, file]) => file)));
  const tests = readdirSync(join(ROOT, HERE)).filter((name) => name.endsWith(".test.ts"));
  const others = ["cases.test.ts", "crowd.slow.test.ts", "races-served.slow.test.ts"];
  expect(tests.filter((name) => !named.has(`${HERE}/${name}`)).sort()).toEqual(others);
});
