/** Every requirement is named by the title of a test, or listed in docs/requirements.md with what it waits for. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const DOCUMENT = readFileSync(join(ROOT, "docs/requirements.md"), "utf8");

/** The ids of `001-3` and `001-3..5`. */
function idsIn(text: string): readonly string[] {
  return [...text.matchAll(/\b(00\d)-(\d+)(?:\.\.(\d+))?/gu)].flatMap(([, system, first, last = first]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => `${system}-${Number(first) + at}`),
  );
}

/** `| 000 | a system | 51 |` */
const all = [...DOCUMENT.matchAll(/^\| (00\d) \|.*\| (\d+) \|$/gmu)].flatMap(([, system, count]) =>
  idsIn(`${system}-1..${count}`),
);
/** `| 000-4, 000-7..9 | what is missing | … |` */
const listed = [...DOCUMENT.matchAll(/^\| (00\d-[^|]+)\|/gmu)].flatMap(([, rows = ""]) => idsIn(rows));

/** Ids in strings of the tests: titles, and the columns that titles are made of. Comments do not count. */
function named(): readonly string[] {
  const files = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" });
  return files.flatMap((file) => {
    if (!file.endsWith(".test.ts")) return [];
    const text = readFileSync(join(ROOT, "test", file), "utf8").replace(/^\s*(?:\/\/|\/?\*).*$/gmu, "");
    return [...text.matchAll(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/gu)].flatMap(([string]) =>
      /\b00\d-\d/u.test(string) ? idsIn(string) : [],
    );
  });
}

const inTests = new Set(named().filter((id) => all.includes(id)));

test("the counts are those of the five systems", () => {
  expect(all).toHaveLength(332);
  expect(new Set(all).size).toBe(332);
});

test("every requirement is named by a test or listed", () => {
  expect(
    all.filter((id) => !inTests.has(id) && !listed.includes(id)),
    "name them in a title, or list them",
  ).toEqual([]);
});

test("what a test names is not listed any more, and nothing is listed twice", () => {
  expect(
    listed.filter((id) => inTests.has(id)),
    "take these out of docs/requirements.md",
  ).toEqual([]);
  expect(listed.filter((id, at) => listed.indexOf(id) !== at)).toEqual([]);
  expect(listed.filter((id) => !all.includes(id))).toEqual([]);
});
