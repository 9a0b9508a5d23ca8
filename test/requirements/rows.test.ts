/**
 * The map from requirements to tests, `rows.jsonl`: every id of the five systems is there once; what it names exists;
 * and docs/requirements.md lists what is not shown by a test. That a mutation makes a test fail is run by
 * `npm run deep -- mutations`.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { COUNT, draw, SEED } from "./draw.mjs";

const ROOT = resolve(import.meta.dirname, "../..");
const DOCUMENT = readFileSync(join(ROOT, "docs/requirements.md"), "utf8");
/** How far a test's title and the assertion may be apart. */
const MAX_LINES_APART = 45;

interface Row {
  readonly id: string;
  /** The test that shows it. */
  readonly test?: string;
  readonly title?: string;
  /** The assertion in the test, or the row of its table. */
  readonly assertion?: string;
  /** A change of the code that makes the test fail. */
  readonly mutation?: { readonly file: string; readonly from: string; readonly to: string };
  /** The missing behaviour. */
  readonly open?: string;
  /** The measurement that shows it. */
  readonly measured?: string;
  /** Why it is no behaviour of the product. */
  readonly none?: string;
}

const rows: readonly Row[] = readFileSync(join(import.meta.dirname, "rows.jsonl"), "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Row);
const shown = rows.filter(({ test }) => test !== undefined);

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

/** The ids of a section's table, `| 000-4, 000-7..9 | what is missing | … |`. */
function listedUnder(heading: string): readonly string[] {
  const [, section = ""] =
    new RegExp(`^## ${heading}\\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, "mu").exec(DOCUMENT) ?? [];
  return [...section.matchAll(/^\| (00\d-[^|]+)\|/gmu)].flatMap(([, ids = ""]) => idsIn(ids));
}

/** Text whose white space does not count: a formatter may break its lines. */
const squeeze = (text: string): string => text.replaceAll(/\s+/gu, "");

/** The numbers of the lines on which a text begins, whatever its white space. */
function linesOf(text: string, wanted: string): readonly number[] {
  const pattern = [...squeeze(wanted)]
    .map((letter) => letter.replace(/[\\^$.*+?()[\]{}|/]/u, "\\$&"))
    .join("\\s*");
  return [...text.matchAll(new RegExp(pattern, "gu"))].map(
    ({ index }) => text.slice(0, index).split("\n").length,
  );
}

const texts = new Map<string, string>();
function textOf(file: string): string {
  const text = texts.get(file) ?? readFileSync(join(ROOT, file), "utf8");
  texts.set(file, text);
  return text;
}

test("the counts are those of the five systems", () => {
  expect(all).toHaveLength(332);
  expect(rows.map(({ id }) => id)).toEqual(all);
});

describe("each row", () => {
  test("is shown by a test, measured, open, or no behaviour, and one of these", () => {
    const unclear = rows.filter(
      ({ test: file, open, measured, none }) =>
        [file, open, measured, none].filter((one) => one !== undefined && one !== "").length !== 1,
    );
    expect(unclear).toEqual([]);
  });

  test("names a test by its file and title", () => {
    for (const { id, test: file = "", title = "" } of shown) {
      expect(existsSync(join(ROOT, file)) && file.endsWith(".test.ts"), `${id}: ${file}`).toBe(true);
      expect(title, id).not.toBe("");
      expect(textOf(file).includes(`"${title}"`), `${id}: ${title}`).toBe(true);
    }
  });

  test("says how it is shown: by an assertion near that title, or by a mutation", () => {
    for (const { id, test: file = "", title = "", assertion, mutation } of shown) {
      expect(assertion !== undefined || mutation !== undefined, id).toBe(true);
      if (assertion === undefined) continue;
      const titles = linesOf(textOf(file), title);
      const places = linesOf(textOf(file), assertion);
      const near = places.some((at) => titles.some((from) => Math.abs(from - at) <= MAX_LINES_APART));
      expect(near, `${id}: ${assertion} near ${title}`).toBe(true);
    }
  });

  test("names a mutation that can be made: what it replaces is in the file once", () => {
    for (const { id, mutation } of shown) {
      if (mutation === undefined) continue;
      const { file, from, to } = mutation;
      expect(file, id).toMatch(/^(?:(?:js|dist|scripts)\/|package\.json$)/u);
      expect(to, id).not.toBe(from);
      if (file.startsWith("dist/") && !existsSync(join(ROOT, file))) continue;
      expect(textOf(file).split(from).length - 1, `${id}: ${from} in ${file}`).toBe(1);
    }
  });
});

test(`the ${COUNT} rows drawn by seed ${SEED} name a mutation, and the document has their result`, () => {
  const without = draw(rows).filter(({ mutation }) => mutation === undefined);
  expect(without.map(({ id }) => id)).toEqual([]);
  expect(DOCUMENT).toContain(`npm run deep -- mutations --seed ${SEED} --count ${COUNT}`);
});

test.each([
  ["Measured, not tested", "measured"],
  ["Not yet", "open"],
  ["Not a behaviour of the product", "none"],
] as const)("the document lists under '%s' the rows that are '%s'", (heading, state) => {
  const ids = rows.filter((row) => row[state] !== undefined).map(({ id }) => id);
  expect([...listedUnder(heading)].sort()).toEqual(ids.sort());
});

test("titles of tests name no ids: the map has them", () => {
  const files = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" });
  for (const file of files.filter((name) => name.endsWith(".test.ts"))) {
    const named = [
      ...textOf(`test/${file}`).matchAll(/^\s*(?:test|it|describe)\b.*["`](?:00\d-\d+|\d{1,3}) .*/gmu),
    ];
    expect(
      named.map(([line]) => line),
      file,
    ).toEqual([]);
  }
});
